//! Suggests similar names for one that does not exist.

use crate::config::nearest;

/// How many are suggested.
const MAX_SUGGESTED: usize = 3;

/// Files of the same name elsewhere, then files whose name contains it or is spelled similarly.
pub(crate) fn near_files<'f>(files: &'f [Box<str>], id: &str) -> Vec<&'f str> {
    let base = |path: &'f str| path.rsplit('/').next().unwrap_or(path);
    let wanted = id.rsplit('/').next().unwrap_or(id);
    let all = || files.iter().map(|file| &**file);
    let mut found: Vec<&str> = all().filter(|file| base(file) == wanted).collect();
    if found.is_empty() {
        found.extend(all().filter(|file| base(file).contains(wanted)));
    }
    if found.is_empty() {
        let names: Vec<&str> = all().map(base).collect();
        let nearest = nearest(wanted, &names);
        found.extend(all().filter(|file| Some(base(file)) == nearest));
    }
    // The longest common path prefix first.
    let common = |file: &str| file.split('/').zip(id.split('/')).take_while(|(one, other)| one == other).count();
    found.sort_by_key(|file| std::cmp::Reverse(common(file)));
    found.truncate(MAX_SUGGESTED);
    found
}

/// Files that an import of `path`, which has no extension, may have meant: files of the same name elsewhere, or of a similar name
/// in the same folder.
pub(crate) fn near_modules<'f>(files: &'f [Box<str>], path: &str) -> Vec<&'f str> {
    let stem = |path: &'f str| {
        let name = path.rsplit('/').next().unwrap_or(path);
        name.split_once('.').map_or(name, |(stem, _)| stem)
    };
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let wanted = name.split_once('.').map_or(name, |(stem, _)| stem);
    let all = || files.iter().map(|file| &**file);
    let in_folder = |file: &&str| file.rsplit_once('/').map_or("", |(folder, _)| folder) == folder;
    let names: Vec<&str> = all().filter(in_folder).map(stem).collect();
    let near = near_names(wanted, &names);
    let mut found: Vec<&str> = all().filter(|file| stem(file) == wanted).take(MAX_SUGGESTED).collect();
    for name in near {
        found.extend(all().filter(in_folder).filter(|file| stem(file) == name));
    }
    found.truncate(MAX_SUGGESTED);
    found
}

/// The names with the smallest edit distance to the wanted one.
pub(crate) fn near_names(wanted: &str, names: &[&str]) -> Vec<String> {
    let mut left: Vec<&str> = names.to_vec();
    left.sort_unstable();
    left.dedup();
    let mut found = Vec::new();
    while found.len() < MAX_SUGGESTED {
        let Some(name) = nearest(wanted, &left) else { break };
        found.push(name.to_owned());
        left.retain(|known| *known != name);
    }
    found
}
