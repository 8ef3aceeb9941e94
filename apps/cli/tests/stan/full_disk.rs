//! Every command that writes, on a file system that is full or nearly full: a failure changes nothing and says why, and with
//! enough space the same command succeeds. Skipped with a message if file systems cannot be mounted.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::project::{everything, succeeds};
use crate::writers::{RUN, WRITERS, Writer, check_whole, left_behind, plain_graph, repository};

/// A small file system that is unmounted on drop.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    /// `None` if file systems cannot be mounted.
    fn new(kilobytes: usize) -> Option<Self> {
        let directory = tempfile::tempdir().ok()?;
        let size = format!("size={kilobytes}k");
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(directory.path()).output();
        mounted.is_ok_and(|output| output.status.success()).then(|| Self(directory))
    }

    fn filler(&self) -> PathBuf {
        self.0.path().join("filler")
    }

    /// Fills the disk, except for this many kilobytes.
    fn fill(&self, left: usize) {
        use std::io::Write as _;
        let mut filler = fs::File::create(self.filler()).unwrap();
        let mut written = 0_u64;
        while filler.write_all(&[0; 4_096]).is_ok() {
            written += 4_096;
        }
        filler.set_len(written.saturating_sub(left as u64 * 1_024)).unwrap();
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0.path()).status();
    }
}

/// The free space in kilobytes: from nothing to enough.
const LEFT: [usize; 9] = [0, 4, 16, 40, 64, 100, 160, 240, 400];

#[test]
fn every_command_leaves_the_old_or_the_new_on_a_full_disk() {
    let Some(disk) = SmallDisk::new(6_144) else {
        println!("no file system can be mounted here: skipped");
        return;
    };
    let made = repository();
    succeeds(&made, RUN.arguments);
    let mut failures = Vec::new();
    for writer in std::iter::once(&RUN).chain(WRITERS) {
        let root = disk.0.path().join("r");
        let _ = fs::remove_dir_all(&root);
        copy(made.root(), &root);
        let failed = fill_and_run(&disk, &root, writer);
        failures.push(format!("{} {failed}", writer.name));
        // The graph is answered without disk space: its cache is optional.
        assert_eq!(failed == 0, writer.is_graph(), "{}: the disk was never full", writer.name);
    }
    println!("refused on a full disk, of {} runs each: {}", LEFT.len(), failures.join(", "));
}

/// Returns how often the command was refused.
fn fill_and_run(disk: &SmallDisk, root: &Path, writer: &Writer) -> usize {
    let mut failed = 0;
    for (version, left) in LEFT.into_iter().enumerate() {
        let what = format!("{} with {left} kB", writer.name);
        (writer.edit)(root, version + 1);
        let old = everything(root);
        disk.fill(left);
        let output = writer.command(root).output().unwrap();
        let torn = everything(root);
        let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
        assert_eq!(left_behind(root), [""; 0], "{what}");
        fs::remove_file(disk.filler()).unwrap();
        if !output.status.success() {
            failed += 1;
            assert!(matches!(output.status.code(), Some(1 | 2)), "{what}: {said}");
            let is_told = ["no space is left; make some and run again", "No space left on device"];
            assert!(is_told.iter().any(|words| said.contains(words)), "{what}: {said}");
            // On a full disk there may not be enough space to restore an old text; then the message names the file.
            let is_named = writer.is_loose || said.contains("could not be taken back");
            assert!(torn == old || is_named, "{what}: a failed run changed something: {said}");
        }
        let printed = writer.succeeds(root);
        check_whole(&what, &old, &torn, &everything(root));
        assert_eq!(left_behind(root), [""; 0], "{what}");
        if writer.is_graph() {
            assert!(printed == plain_graph(root), "{what}: the cache changed the answer");
        }
    }
    failed
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}
