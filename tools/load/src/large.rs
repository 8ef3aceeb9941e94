//! Extreme sizes: gigabytes of text in a few files, and one file too large for a plain tar header. The files are sparse, so only
//! archives take disk space; they are deleted at the end.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use super::generate::Repository;
use super::layout::Shape;
use super::program::Stan;
use super::report::Report;
use crate::Result;

/// The total size and the number of files.
#[derive(Clone, Copy)]
pub(super) struct Sizes {
    pub(super) parts: u64,
    pub(super) part_bytes: u64,
    /// One more file, larger than the 8 GiB that eleven octal digits can express.
    pub(super) giant_bytes: Option<u64>,
}

/// How much more memory larger files may need than small ones.
const ALLOWED_GROWTH: u64 = 48 << 20;

pub(super) fn run(program: &Path, folder: &Path, sizes: Sizes, report: &mut Report) -> Result<()> {
    let root = folder.join("large");
    let repository = Repository::generate(&root, Shape { files: 100, bytes: 400_000 }, false)?;
    let stan = Stan { program, root: &root, scratch: folder };
    let outcome = measure(stan, &repository, sizes, report);
    std::fs::remove_dir_all(&root)?;
    outcome
}

fn measure(stan: Stan<'_>, repository: &Repository, sizes: Sizes, report: &mut Report) -> Result<()> {
    let mut names: Vec<String> = (0..sizes.parts).map(|part| format!("sparse/part-{part:02}.txt")).collect();
    for name in &names {
        text_with_hole(&repository.root.join(name), None)?;
    }
    repository.select(names.iter().cloned())?;
    let small = pass(stan, "small", report)?;
    for name in &names {
        text_with_hole(&repository.root.join(name), Some(sizes.part_bytes))?;
    }
    let total = sizes.parts * sizes.part_bytes;
    let large = pass(stan, &format!("{:.1} GB", total as f64 / 1e9), report)?;
    flat(small, large, report);
    listed(stan, &names, sizes.part_bytes, report)?;
    if let Some(giant) = sizes.giant_bytes {
        let name = "sparse/giant.txt".to_owned();
        text_with_hole(&repository.root.join(&name), Some(giant))?;
        // Delete the other files and their archives first: other programs need disk space too.
        for part in &names {
            std::fs::remove_file(repository.root.join(part))?;
        }
        repository.forget_runs()?;
        names = vec![name];
        repository.select(names.iter().cloned())?;
        let huge = pass(stan, &format!("one file of {:.1} GB", giant as f64 / 1e9), report)?;
        flat(small, huge, report);
        listed(stan, &names, giant, report)?;
    }
    Ok(())
}

/// A sparse text file of the given size; only its start is on disk. Archives leave out files that do not start like text.
fn text_with_hole(path: &Path, bytes: Option<u64>) -> Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let mut file = if path.exists() { OpenOptions::new().write(true).open(path)? } else { File::create(path)? };
    file.write_all("a line of text before the hole\n".repeat(1024).as_bytes())?;
    if let Some(bytes) = bytes {
        file.set_len(bytes)?;
    }
    Ok(())
}

/// Runs every command that reads all bytes; returns the highest peak memory.
fn pass(stan: Stan<'_>, name: &str, report: &mut Report) -> Result<u64> {
    let mut peak = 0;
    for arguments in [&["graph", "--stats"][..], &["run", "--context", "--json"], &["verify", "--json"]] {
        let ran = stan.succeed(arguments)?;
        peak = peak.max(ran.usage.peak_bytes);
        report.row(format!("{} of {name}", arguments.join(" ").replace(" --json", "")), ran.usage, None);
    }
    Ok(peak)
}

fn flat(small: u64, large: u64, report: &mut Report) {
    let detail = format!("peak {} MB with small files, {} MB with large ones", small / 1_000_000, large / 1_000_000);
    report.law("memory does not depend on the size of files", large <= small + ALLOWED_GROWTH, detail);
}

/// Checks that GNU tar lists the same names and sizes.
fn listed(stan: Stan<'_>, names: &[String], bytes: u64, report: &mut Report) -> Result<()> {
    let archive = stan.root.join(".stan/output/archive.tar");
    let Ok(output) = Command::new("tar").arg("-tvf").arg(&archive).output() else {
        println!("skipped: there is no tar to list the archive with");
        return Ok(());
    };
    let text = String::from_utf8_lossy(&output.stdout);
    let found = names.iter().filter(|name| text.lines().any(|line| lists(line, name, bytes))).count();
    let said = String::from_utf8_lossy(&output.stderr);
    report.law(
        "tar lists what was archived",
        output.status.success() && found == names.len(),
        format!("{found} of {} files with {bytes} bytes each {}", names.len(), said.trim()),
    );
    Ok(())
}

fn lists(line: &str, name: &str, bytes: u64) -> bool {
    let mut words = line.split_whitespace();
    words.any(|word| word.parse() == Ok(bytes)) && words.next_back() == Some(name)
}

#[cfg(test)]
mod tests {
    use super::{lists, text_with_hole};

    #[test]
    fn lines_of_tar_are_read() {
        let line = "-rw-r--r-- 0/0      9126805504 1970-01-01 00:00 sparse/giant.txt";
        assert!(lists(line, "sparse/giant.txt", 9_126_805_504));
        assert!(!lists(line, "sparse/giant.txt", 512));
        assert!(!lists(line, "giant.txt", 9_126_805_504));
    }

    #[test]
    fn a_hole_follows_enough_text_to_count_as_text() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let path = folder.path().join("x/y.txt");
        text_with_hole(&path, None).expect("it is written");
        text_with_hole(&path, Some(1 << 20)).expect("it grows");
        let bytes = std::fs::read(&path).expect("it is there");
        assert_eq!(bytes.len(), 1 << 20);
        assert!(bytes.iter().position(|byte| *byte == 0).is_some_and(|at| at > 8 << 10));
    }
}
