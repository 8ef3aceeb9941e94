//! Parses the output of `strace` for one run: which files were opened, what was written, which programs were started.
//!
//! Ignores stat and readlink: the promise is that nothing outside is *read*. Paths are taken from the descriptors (`-y`), so that
//! they are the files actually opened, not the names that were used.

use std::collections::BTreeMap;
use std::io::BufRead;
use std::path::Path;

use crate::Result;

/// The traced system calls, for `-e trace=`.
pub(super) const CALLS: &str = "open,openat,openat2,creat,truncate,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,\
    rmdir,link,linkat,symlink,symlinkat,mknod,mknodat,chmod,fchmodat,chown,lchown,fchownat,mount,chroot,\
    execve,execveat,fork,vfork,clone,clone3,socket,connect,bind,sendto,ptrace,kill";

/// The relevant system calls of one run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Traced {
    /// Every file and folder that was opened, by its real path; for a failed call, the requested path.
    pub(super) opened: Vec<Vec<u8>>,
    /// Calls that change the file system, with their first path.
    pub(super) changed: Vec<(String, Vec<u8>)>,
    /// Calls that are always forbidden.
    pub(super) forbidden: Vec<String>,
}

pub(super) fn read(file: &Path) -> Result<Traced> {
    parse(std::io::BufReader::new(std::fs::File::open(file)?))
}

fn parse(mut lines: impl BufRead) -> Result<Traced> {
    let mut traced = Traced::default();
    let mut pending: BTreeMap<Vec<u8>, Vec<u8>> = BTreeMap::new();
    let mut programs = 0;
    let mut line = Vec::new();
    while {
        line.clear();
        lines.read_until(b'\n', &mut line)? > 0
    } {
        let text = line.trim_ascii_end();
        let Some(space) = text.iter().position(|byte| *byte == b' ') else { continue };
        let (process, rest) = (text[..space].to_vec(), text[space..].trim_ascii_start());
        if let Some(started) = rest.strip_suffix(b"<unfinished ...>") {
            pending.insert(process, started.to_vec());
            continue;
        }
        let whole = match rest.starts_with(b"<... ").then(|| find(rest, b"resumed>")).flatten() {
            Some(at) => {
                [pending.remove(&process).unwrap_or_default().as_slice(), &rest[at + b"resumed>".len()..]].concat()
            }
            None => rest.to_vec(),
        };
        if let Some(open) = whole.iter().position(|byte| *byte == b'(') {
            call(&whole[..open], &whole[open + 1..], &mut programs, &mut traced);
        }
    }
    traced.opened.sort_unstable();
    traced.opened.dedup();
    Ok(traced)
}

fn call(name: &[u8], rest: &[u8], programs: &mut usize, traced: &mut Traced) {
    let name = String::from_utf8_lossy(name).into_owned();
    let shown = || String::from_utf8_lossy(&rest[..rest.len().min(200)]).into_owned();
    match name.as_str() {
        // A missing file was not read: resolution tries many names.
        "open" | "openat" | "openat2" | "creat"
            if [b" = -1 ENOENT".as_slice(), b" = -1 ENOTDIR"].iter().any(|none| find(rest, none).is_some()) => {}
        "open" | "openat" | "openat2" | "creat" => traced.opened.push(opened(rest)),
        // The first `execve` starts the program itself.
        "execve" if *programs == 0 => *programs += 1,
        "clone" | "clone3" if find(rest, b"CLONE_THREAD").is_some() => {}
        "execve" | "execveat" | "fork" | "vfork" | "clone" | "clone3" | "socket" | "connect" | "bind" | "sendto"
        | "ptrace" | "kill" | "mount" | "chroot" => traced.forbidden.push(format!("{name}({}", shown())),
        // strace's notation for a call that a thread was about to make when the process ended.
        "???" | "exit" | "exit_group" => {}
        _ => traced.changed.push((name, asked(rest))),
    }
}

/// The path of the returned descriptor, or else the requested path.
fn opened(rest: &[u8]) -> Vec<u8> {
    let result = rfind(rest, b" = ").and_then(|at| rest.get(at + 3..)).unwrap_or_default();
    match result.iter().position(|byte| *byte == b'<').filter(|_| result.ends_with(b">")) {
        Some(at) => {
            let path = unescaped(&result[at + 1..result.len() - 1]);
            path.strip_suffix(b" (deleted)").map(<[u8]>::to_vec).unwrap_or(path)
        }
        None => asked(rest),
    }
}

/// The first path among the arguments, made absolute with the folder it is relative to.
fn asked(rest: &[u8]) -> Vec<u8> {
    let Some(start) = rest.iter().position(|byte| *byte == b'"') else { return Vec::new() };
    let end = (start + 1..rest.len()).find(|&at| {
        let backslashes = rest[..at].iter().rev().take_while(|byte| **byte == b'\\').count();
        rest[at] == b'"' && backslashes % 2 == 0
    });
    let path = unescaped(&rest[start + 1..end.unwrap_or(rest.len())]);
    if path.starts_with(b"/") {
        return path;
    }
    let folder = &rest[..start];
    let inner = folder.iter().position(|byte| *byte == b'<').zip(folder.iter().rposition(|byte| *byte == b'>'));
    match inner {
        Some((open, close)) => [unescaped(&folder[open + 1..close]).as_slice(), b"/", &path].concat(),
        None => path,
    }
}

/// Undoes the escapes of a C string.
fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        let octal = rest.iter().take(3).take_while(|byte| (b'0'..=b'7').contains(*byte)).count();
        if octal > 0 {
            out.push(rest[..octal].iter().fold(0u8, |sum, digit| sum.wrapping_mul(8).wrapping_add(digit - b'0')));
            rest = &rest[octal..];
        } else if let Some((&letter, after)) = rest.split_first() {
            rest = after;
            out.push(match letter {
                b'n' => b'\n',
                b't' => b'\t',
                b'r' => b'\r',
                b'v' => 11,
                b'f' => 12,
                other => other,
            });
        }
    }
    out
}

fn find(text: &[u8], word: &[u8]) -> Option<usize> {
    text.windows(word.len()).position(|window| window == word)
}

fn rfind(text: &[u8], word: &[u8]) -> Option<usize> {
    text.windows(word.len()).rposition(|window| window == word)
}

#[cfg(test)]
mod tests {
    use super::parse;

    const TRACE: &str = r#"7 execve("/bin/stan", ["stan"], 0x7 /* 3 vars */) = 0
7 openat(AT_FDCWD</r>, "/r/a\n\303\244\"b.ts", O_RDONLY) = 3</r/a\n\303\244"b.ts>
7 openat(AT_FDCWD</r>, "link.ts", O_RDONLY) = 4</out/secret.txt>
8 openat(5</r/src>, "locked.ts", O_RDONLY <unfinished ...>
7 clone3({flags=CLONE_VM|CLONE_THREAD, stack=0x7} => {parent_tid=[8]}, 88) = 8
8 <... openat resumed>) = -1 EACCES (Permission denied)
8 openat(AT_FDCWD</r>, "/nowhere", O_RDONLY) = -1 ENOENT (No such file or directory)
7 mkdir("/r/.stan", 0777) = 0
7 renameat(5</r>, "a", 5</r>, "b") = 0
7 execve("/bin/sh", ["sh"], 0x7) = 0
7 vfork() = 9
7 connect(3, {sa_family=AF_UNIX}, 110) = 0
7 exit_group(0) = ?
7 +++ exited with 0 +++
"#;

    #[test]
    fn a_trace_lists_opened_and_changed_files_and_started_programs() {
        let traced = parse(TRACE.as_bytes()).expect("a trace");
        let opened: Vec<String> = traced.opened.iter().map(|path| String::from_utf8_lossy(path).into_owned()).collect();
        assert_eq!(opened, ["/out/secret.txt", "/r/a\nä\"b.ts", "/r/src/locked.ts"]);
        let changed: Vec<String> =
            traced.changed.iter().map(|(call, path)| format!("{call} {}", String::from_utf8_lossy(path))).collect();
        assert_eq!(changed, ["mkdir /r/.stan", "renameat /r/a"]);
        let starts = |call: &str| traced.forbidden.iter().filter(|one| one.starts_with(call)).count();
        assert_eq!((starts("execve"), starts("vfork"), starts("connect"), traced.forbidden.len()), (1, 1, 1, 3));
    }
}
