//! The known name that a mistyped one most likely means.

/// The nearest of the names, unless it is so far away that it would only confuse. The first one wins a tie.
pub(crate) fn nearest<'n>(given: &str, names: &[&'n str]) -> Option<&'n str> {
    // Longer than any known key: nothing is near, and the distance would cost time.
    if given.len() > 64 {
        return None;
    }
    let lower = given.to_lowercase();
    let far = given.chars().count().max(3) / 2 + 1;
    let distances = names.iter().map(|name| (distance(&lower, &name.to_lowercase()), *name));
    distances.filter(|(distance, _)| *distance < far).min_by_key(|(distance, _)| *distance).map(|(_, name)| name)
}

/// How many insertions, deletions and replacements turn one word into the other.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (index, from) in a.chars().enumerate() {
        let mut diagonal = index;
        let mut left = index + 1;
        for (to, above) in b.iter().zip(row.iter_mut().skip(1)) {
            let replaced = diagonal + usize::from(from != *to);
            diagonal = *above;
            left = replaced.min(left + 1).min(*above + 1);
            *above = left;
        }
        if let Some(first) = row.first_mut() {
            *first = index + 1;
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        for (a, b, expected) in
            [("", "", 0), ("", "ab", 2), ("ab", "", 2), ("kitten", "sitting", 3), ("abc", "abc", 0), ("ab", "ba", 2)]
        {
            assert_eq!(distance(a, b), expected, "{a} {b}");
        }
    }

    #[test]
    fn nearest_names() {
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
