//! Names near to one that does not exist.

use crate::config::nearest;

/// How many are named.
const SHOWN: usize = 3;

/// Files of the same name elsewhere, then files whose name contains it or is spelled nearly so.
pub(crate) fn near_files<'f>(files: &'f [Box<str>], id: &str) -> Vec<&'f str> {
    let base = |path: &'f str| path.rsplit('/').next().unwrap_or(path);
    let wanted = id.rsplit('/').next().unwrap_or(id);
    let all = || files.iter().map(|file| &**file);
    let mut found: Vec<&str> = all().filter(|file| base(file) == wanted).take(SHOWN).collect();
    if found.is_empty() {
        found.extend(all().filter(|file| base(file).contains(wanted)).take(SHOWN));
    }
    if found.is_empty() {
        let names: Vec<&str> = all().map(base).collect();
        let nearest = nearest(wanted, &names);
        found.extend(all().filter(|file| Some(base(file)) == nearest).take(SHOWN));
    }
    found
}

/// The names that are spelled nearly as the wanted one, nearest first.
pub(crate) fn near_names(wanted: &str, names: &[&str]) -> Vec<String> {
    let mut left: Vec<&str> = names.to_vec();
    left.sort_unstable();
    left.dedup();
    let mut found = Vec::new();
    while found.len() < SHOWN {
        let Some(name) = nearest(wanted, &left) else { break };
        found.push(name.to_owned());
        left.retain(|known| *known != name);
    }
    found
}
