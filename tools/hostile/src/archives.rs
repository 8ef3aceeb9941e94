//! Checks an archive for names and types that could trick an extractor: each entry must be a plain file at a plain path.
//!
//! GNU tar extracts it as well, into its own folder; this reader finds what tar silently corrects.

use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::process::{Command, Stdio};

use super::walk;
use crate::Result;

/// Everything in the archive that ours must not contain. Skips contents, however large they are.
pub(super) fn faults(archive: &mut (impl Read + Seek)) -> std::io::Result<Vec<String>> {
    let mut faults = Vec::new();
    let mut long_name = None;
    let length = archive.seek(SeekFrom::End(0))?;
    let mut at = archive.seek(SeekFrom::Start(0))?;
    let mut header = [0; 512];
    while at + 512 <= length {
        archive.read_exact(&mut header)?;
        if header.iter().all(|byte| *byte == 0) {
            return Ok(faults);
        }
        let Some(size) = octal(&header[124..136]) else {
            faults.push("a size that is not a number".to_owned());
            return Ok(faults);
        };
        if at + 512 + size > length {
            faults.push("an entry that is cut off".to_owned());
            return Ok(faults);
        }
        let name = match (long_name.take(), header[156]) {
            (_, b'x') => {
                let mut contents = Vec::new();
                archive.take(size).read_to_end(&mut contents)?;
                long_name = pax_path(&contents);
                None
            }
            (Some(name), _) => Some(name),
            (None, _) => Some(plain_name(&header)),
        };
        if let Some(name) = name {
            faults.extend(fault_of(&name, header[156]));
        }
        at = archive.seek(SeekFrom::Start(at + 512 + size.div_ceil(512) * 512))?;
    }
    faults.push("no end".to_owned());
    Ok(faults)
}

/// Extracts the archive with GNU tar into `scratch`, which must be new, and returns what went wrong.
pub(super) fn extract(archive: &Path, scratch: &Path) -> Result<Vec<String>> {
    std::fs::create_dir_all(scratch.join("inner"))?;
    std::fs::write(scratch.join("guard"), "")?;
    let before = walk::list(scratch, &walk::Listing::new())?;
    let output = Command::new("tar")
        .arg("-xf")
        .arg(archive)
        .args(["-P", "-C"])
        .arg(scratch.join("inner"))
        .stdin(Stdio::null())
        .env("LC_ALL", "C")
        .output()?;
    let mut faults = Vec::new();
    if !output.status.success() {
        faults.push(format!("GNU tar: {}", String::from_utf8_lossy(&output.stderr).lines().next().unwrap_or_default()));
    }
    let after = walk::list(scratch, &before)?;
    for (path, what) in walk::changes(&before, &after) {
        let odd = after.get(&path).is_some_and(|entry| !matches!(entry.kind, 'f' | 'd'));
        if odd || !(path == b"inner" || path.starts_with(b"inner/")) {
            faults.push(format!("GNU tar made {} ({what})", String::from_utf8_lossy(&path)));
        }
    }
    Command::new("rm").arg("-rf").arg("--").arg(scratch).status()?;
    Ok(faults)
}

fn fault_of(name: &[u8], kind: u8) -> Option<String> {
    let shown = String::from_utf8_lossy(name);
    if !matches!(kind, b'0' | 0) {
        return Some(format!("`{shown}` is of type {kind}, not a file"));
    }
    let is_plain = !name.is_empty()
        && !name.contains(&0)
        && name.split(|byte| *byte == b'/').all(|part| !matches!(part, b"" | b"." | b".."));
    (!is_plain).then(|| format!("`{shown}` is not a plain relative name"))
}

fn octal(field: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(field).ok()?.trim_matches(['\0', ' ']);
    u64::from_str_radix(text, 8).ok()
}

fn plain_name(header: &[u8; 512]) -> Vec<u8> {
    let until_zero = |field: &[u8]| field.split(|byte| *byte == 0).next().unwrap_or_default().to_vec();
    let (prefix, name) = (until_zero(&header[345..500]), until_zero(&header[..100]));
    if prefix.is_empty() { name } else { [prefix.as_slice(), b"/", &name].concat() }
}

/// The `path` record of a pax header.
fn pax_path(contents: &[u8]) -> Option<Vec<u8>> {
    let mut rest = contents;
    let mut found = None;
    while let Some(space) = rest.iter().position(|byte| *byte == b' ') {
        let length: usize = std::str::from_utf8(&rest[..space]).ok()?.parse().ok()?;
        let record = rest.get(space + 1..length.checked_sub(1)?)?;
        if let Some(path) = record.strip_prefix(b"path=") {
            found = Some(path.to_vec());
        }
        rest = rest.get(length..)?;
    }
    found
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::faults;

    fn entry(name: &str, kind: u8, contents: &[u8]) -> Vec<u8> {
        let mut header = [0u8; 512];
        header[..name.len()].copy_from_slice(name.as_bytes());
        header[124..135].copy_from_slice(format!("{:011o}", contents.len()).as_bytes());
        header[156] = kind;
        let mut bytes = header.to_vec();
        bytes.extend_from_slice(contents);
        bytes.resize(bytes.len().div_ceil(512) * 512, 0);
        bytes
    }

    #[test]
    fn only_regular_files_below_the_root_pass() {
        let check = |entries: &[Vec<u8>], count: usize| {
            let bytes = [entries.concat(), vec![0; 1024]].concat();
            let faults = faults(&mut Cursor::new(&bytes)).unwrap();
            assert_eq!(faults.len(), count, "{faults:?}");
        };
        check(&[entry("a/b.ts", b'0', b"x"), entry(".stan/x", b'0', b"")], 0);
        check(&[entry("/etc/passwd", b'0', b"")], 1);
        check(&[entry("a/../../b", b'0', b"")], 1);
        check(&[entry("a//b", b'0', b""), entry("./a", b'0', b"")], 2);
        check(&[entry("l", b'2', b""), entry("d", b'3', b""), entry("f", b'5', b"")], 3);
        check(&[entry("pax", b'x', b"14 path=/x/y/\n"), entry("good", b'0', b"")], 1);
        check(&[entry("pax", b'x', b"12 path=x/y\n"), entry("/bad", b'0', b"")], 0);
        assert_eq!(faults(&mut Cursor::new(entry("a", b'0', b""))).unwrap(), ["no end"]);
    }
}
