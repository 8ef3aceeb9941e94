//! Names of temporary files. They are written beside their target and renamed over it, so that only killed processes leave any
//! behind. In `<stanPath>`, where a lock names the running process, `stan_archive` removes them.

use std::ffi::OsString;
use std::path::Path;

use crate::system::{EntryKind, WritableSystem};
use crate::system_ext::SystemExt as _;

/// The name of a temporary file consists of this, the process, a number, and the name of the target.
const PREFIX: &str = ".stan-tmp-";

/// The temporary name for a target, to be used in the same folder.
pub fn temporary_name(process: u32, number: u64, target: impl AsRef<std::ffi::OsStr>) -> OsString {
    let mut name = OsString::from(format!("{PREFIX}{process}-{number}-"));
    name.push(target);
    name
}

/// The name of the target of a temporary file; `None` if the name is not a temporary one.
pub fn target_of_temporary(name: &str) -> Option<&str> {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let (process, rest) = name.strip_prefix(PREFIX)?.split_once('-')?;
    let (number, target) = rest.split_once('-')?;
    (is_number(process) && is_number(number)).then_some(target)
}

/// Removes the temporary files of killed processes for `targets` in `folder`. A process that is still writing holds the lock of
/// its temporary file, which then stays. Failures are ignored, because these files are not outputs.
pub fn remove_leftovers(system: &dyn WritableSystem, folder: &Path, targets: &[&str]) {
    for entry in system.read_dir(folder).unwrap_or_default() {
        let is_leftover = entry.kind == EntryKind::File
            && entry.name.to_str().and_then(target_of_temporary).is_some_and(|target| targets.contains(&target));
        let path = folder.join(&entry.name);
        if is_leftover && let Ok(Some(_held)) = system.try_lock(&path) {
            let _ = system.remove_file(&path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::MemorySystem;
    use crate::system::System;

    #[test]
    fn names_lead_back_to_their_targets() {
        assert_eq!(temporary_name(12, 3, "a-b"), ".stan-tmp-12-3-a-b");
        for (name, target) in [
            (".stan-tmp-12-3-a-b", Some("a-b")),
            (".stan-tmp-1-2-", Some("")),
            (".stan-tmp-x-2-a", None),
            (".stan-tmp--2-a", None),
            (".stan-tmp-1-a", None),
            ("stan-tmp-1-2-a", None),
            ("a", None),
        ] {
            assert_eq!(target_of_temporary(name), target, "{name}");
        }
    }

    #[test]
    fn only_unlocked_leftovers_are_removed() {
        let system = MemorySystem::new();
        let [left, held, other, folder] = [".stan-tmp-1-0-a", ".stan-tmp-2-0-a", ".stan-tmp-1-1-b", ".stan-tmp-3-0-a"]
            .map(|name| format!("/d/{name}"));
        system.set_file(&left, "half").set_file(&held, "at work").set_file(&other, "").set_dir(&folder);
        let lock = system.try_lock(Path::new(&held)).unwrap();
        remove_leftovers(&system, Path::new("/d"), &["a"]);
        let is_there = |path: &String| system.lstat(Path::new(path)).is_ok();
        assert_eq!([&left, &held, &other, &folder].map(is_there), [false, true, true, true]);
        drop(lock);
        remove_leftovers(&system, Path::new("/d"), &["a", "b"]);
        assert_eq!([&left, &held, &other, &folder].map(is_there), [false, false, false, true]);
        remove_leftovers(&system, Path::new("/gone"), &["a"]);
    }
}
