//! The order of names by their text, with few comparisons of text: the first bytes decide nearly always, and are compared as a number.

/// The first eight bytes of a name as a number that orders names as their text does, as far as it goes.
pub(crate) fn beginning(name: &str) -> u64 {
    match name.as_bytes().first_chunk::<8>() {
        Some(first) => u64::from_be_bytes(*first),
        None => {
            let bytes = name.bytes().fold(0, |all, byte| all << 8 | u64::from(byte));
            bytes << (8 * (8 - name.len()) as u32).min(63)
        }
    }
}

/// Names in the order of their text.
pub(crate) fn in_order<'t>(names: impl Iterator<Item = &'t str>) -> Vec<&'t str> {
    let mut keyed: Vec<(u64, &str)> = names.map(|name| (beginning(name), name)).collect();
    keyed.sort_unstable();
    keyed.into_iter().map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_ordered_as_their_text() {
        let names = ["b", "aaaaaaaab", "", "aaaaaaaa", "é", "aaaaaaaaa", "a", "Z", "aaaaaaa", "ab", "a\0"];
        let mut expected = names;
        expected.sort_unstable();
        assert_eq!(in_order(names.into_iter()), expected);
    }
}
