//! Suggests the known name that a mistyped one most likely means.

/// The most similar name, unless it is too different to be helpful. On a tie, the first one wins.
pub fn nearest<'n>(given: &str, names: &[&'n str]) -> Option<&'n str> {
    // Longer than any known key: no name is similar, and computing the distance would take time.
    if given.len() > 64 {
        return None;
    }
    let lower = given.to_lowercase();
    let far = given.chars().count().max(3) / 2 + 1;
    let distances = names.iter().map(|name| (strsim::levenshtein(&lower, &name.to_lowercase()), *name));
    distances.filter(|(distance, _)| *distance < far).min_by_key(|(distance, _)| *distance).map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelled_key_finds_the_nearest_one() {
        const KEYS: [&str; 3] = ["includes", "excludes", "stanPath"];
        for (given, expected) in [
            ("include", Some("includes")),
            ("exclude", Some("excludes")),
            ("stan-path", Some("stanPath")),
            ("stanpath", Some("stanPath")),
            ("zzz", None),
            ("", None),
        ] {
            assert_eq!(nearest(given, &KEYS), expected, "{given}");
        }
    }
}
