//! `cargo xtask reproducible`: two release builds from two copies of the source in different folders must have the same bytes and
//! must not reveal where they were built.
//!
//! The compiler writes source paths into panic messages, so both builds remap them (`--remap-path-prefix`). Releases use the same
//! flags: the programs that this task leaves behind are the ones to ship.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest as _, Sha256};

use crate::{Result, cargo};

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Where to build [default: .bench/reproducible].
    #[arg(value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Build once, without comparing: a release build.
    #[arg(long)]
    once: bool,
}

const PROGRAMS: [&str; 2] = ["stan", "x07"];

/// Of different lengths and depths, so that no path can be the same by accident.
const COPIES: [&str; 2] = ["first", "second/in-another-place"];

/// Returns whether the bytes are the same and hold no path of the build.
pub(crate) fn run(root: &Path, options: &Options) -> Result<bool> {
    let folder = std::path::absolute(options.dir.clone().unwrap_or_else(|| root.join(".bench/reproducible")))?;
    let count = if options.once { 1 } else { COPIES.len() };
    let copies: Vec<PathBuf> = COPIES.iter().take(count).map(|copy| folder.join(copy)).collect();
    // Make all copies first: the tree may be edited during the builds.
    copies.iter().try_for_each(|copy| copy_source(root, copy))?;
    let builds = copies.iter().map(|copy| build(copy)).collect::<Result<Vec<_>>>()?;
    let mut holds = true;
    for name in PROGRAMS {
        let mut digests = Vec::new();
        for (build, copy) in builds.iter().zip(COPIES) {
            let bytes = std::fs::read(build.join(name))?;
            let digest: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
            println!("{name} ({copy}): {} bytes, SHA-256 {digest}", bytes.len());
            for path in told_paths(&bytes, &private_paths(&folder)) {
                eprintln!("{name} ({copy}) tells where it was built: {path}");
                holds = false;
            }
            digests.push(digest);
        }
        digests.dedup();
        if digests.len() > 1 {
            eprintln!("{name}: two builds of the same source differ");
            holds = false;
        }
    }
    println!("reproducible: {}", if holds { "the programs are the same bytes and tell no path" } else { "NO" });
    Ok(holds)
}

/// What git tracks, as it is now.
fn copy_source(root: &Path, target: &Path) -> Result<()> {
    let listed = Command::new("git").args(["ls-files", "-z"]).current_dir(root).output()?;
    if !listed.status.success() {
        return Err("git ls-files failed".into());
    }
    // Only copy changed files, so that cargo's incremental build stays valid: a second run would be too slow otherwise.
    for path in String::from_utf8(listed.stdout)?.split_terminator('\0') {
        let (from, to) = (root.join(path), target.join(path));
        if !std::fs::symlink_metadata(&from).is_ok_and(|metadata| metadata.is_file()) {
            continue;
        }
        if let Some(folder) = to.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let bytes = std::fs::read(from)?;
        if std::fs::read(&to).ok().as_ref() != Some(&bytes) {
            std::fs::write(to, bytes)?;
        }
    }
    Ok(())
}

/// Builds the programs of the copy at `source`, and returns their folder.
fn build(source: &Path) -> Result<PathBuf> {
    let target = source.join("target");
    let mut command = cargo::command(source);
    command.args(["build", "--locked", "--release", "--package", "stan-cli"]);
    command.env("CARGO_TARGET_DIR", &target).env("CARGO_INCREMENTAL", "0").env("LC_ALL", "C").env("TZ", "UTC");
    command.env("CARGO_ENCODED_RUSTFLAGS", rust_flags(source)).env("CFLAGS", c_flags(source));
    // The allocator's C code embeds date and time of its build; compilers use this variable instead.
    command.env_remove("RUSTFLAGS").env("SOURCE_DATE_EPOCH", "0");
    if !command.status()?.success() {
        return Err(format!("the copy at {} does not build", source.display()).into());
    }
    Ok(target.join("release"))
}

/// What a path becomes: the source, and the registry of crates below cargo's home.
fn renamings(source: &Path) -> Vec<(PathBuf, &'static str)> {
    // The last matching prefix wins, so the source may be below cargo's home or the other way round.
    vec![(cargo_home(), "/cargo"), (source.to_path_buf(), "/stan")]
}

pub(super) fn cargo_home() -> PathBuf {
    let home = || std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    std::env::var_os("CARGO_HOME").map_or_else(|| home().join(".cargo"), PathBuf::from)
}

/// Separated by the unit separator, as cargo wants it: paths may have spaces.
fn rust_flags(source: &Path) -> OsString {
    let mut flags = OsString::new();
    for (from, to) in renamings(source) {
        if !flags.is_empty() {
            flags.push("\x1f");
        }
        flags.push("--remap-path-prefix=");
        flags.push(from);
        flags.push("=");
        flags.push(to);
    }
    flags
}

/// The allocator is C.
fn c_flags(source: &Path) -> OsString {
    let mut flags = OsString::new();
    for (from, to) in renamings(source) {
        flags.push(" -ffile-prefix-map=");
        flags.push(from);
        flags.push("=");
        flags.push(to);
    }
    flags
}

/// Folders that no program may name: where it was built, who built it, where the crates lay.
fn private_paths(folder: &Path) -> Vec<String> {
    let mut paths = vec![folder.to_path_buf(), cargo_home()];
    paths.extend(std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.components().count() > 1));
    let mut texts: Vec<String> = paths.iter().map(|path| format!("{}/", path.display())).collect();
    texts.sort();
    texts.dedup();
    texts
}

fn told_paths<'a>(program: &[u8], private: &'a [String]) -> Vec<&'a String> {
    let names = |path: &&String| program.windows(path.len()).any(|window| window == path.as_bytes());
    private.iter().filter(names).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{rust_flags, told_paths};

    #[test]
    fn private_paths_in_a_program_are_found() {
        let private = ["/place/of/mine/".to_owned(), "/cargo-home/".to_owned()];
        assert_eq!(told_paths(b"panicked at /place/of/mine/src/lib.rs", &private), [&private[0]]);
        assert!(told_paths(b"panicked at /stan/src/lib.rs", &private).is_empty());
        assert!(told_paths(b"", &private).is_empty());
    }

    #[test]
    fn the_source_is_renamed_last() {
        let flags = rust_flags(Path::new("/a b/source")).into_string().expect("the test's path is text");
        let (home, source) = flags.split_once('\x1f').expect("two flags");
        assert!(home.starts_with("--remap-path-prefix=") && home.ends_with("=/cargo"), "{home}");
        assert_eq!(source, "--remap-path-prefix=/a b/source=/stan");
    }
}
