//! Sorts names with few string comparisons: their first bytes, compared as an integer, are nearly always enough.

/// The first eight bytes of a name as an integer with the same order as the text, up to ties.
pub(crate) fn beginning(name: &str) -> u64 {
    number(name.as_bytes())
}

/// The first eight bytes and the next eight. Together with the length, they identify a name of at most 16 bytes.
pub(crate) fn beginnings(name: &str) -> (u64, u64) {
    let rest = name.as_bytes().get(8..).unwrap_or_default();
    (beginning(name), number(rest))
}

/// The first eight bytes as a big-endian integer, padded with zeros.
fn number(bytes: &[u8]) -> u64 {
    if let Some(first) = bytes.first_chunk::<8>() {
        return u64::from_be_bytes(*first);
    }
    let shift = 8 * (8 - bytes.len());
    match (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        // Four to seven bytes: the two halves overlap, and OR of the same bits changes nothing.
        (Some(first), Some(last)) => {
            u64::from(u32::from_be_bytes(*first)) << 32 | u64::from(u32::from_be_bytes(*last)) << shift
        }
        _ if bytes.is_empty() => 0,
        _ => bytes.iter().fold(0, |all, byte| all << 8 | u64::from(*byte)) << shift,
    }
}

/// Names in byte order.
pub(crate) fn in_order<'t>(names: impl Iterator<Item = &'t str>) -> Vec<&'t str> {
    let mut keyed: Vec<(u64, &str)> = names.map(|name| (beginning(name), name)).collect();
    keyed.sort_unstable();
    // Facts stay in memory for long: copy, so that they do not keep the larger allocation that sorting needed.
    let mut names = Vec::with_capacity(keyed.len());
    names.extend(keyed.iter().map(|(_, name)| *name));
    names
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

    #[test]
    fn beginnings_are_the_first_sixteen_bytes_as_numbers() {
        let text = "abcdefghijklmnopqrstuvwxyz";
        for length in 0..=text.len() {
            let mut padded = text.as_bytes()[..length].to_vec();
            padded.resize(26, 0);
            let expected = |from: usize| padded[from..from + 8].iter().fold(0, |all, byte| all << 8 | u64::from(*byte));
            assert_eq!(beginnings(&text[..length]), (expected(0), expected(8)), "{length}");
        }
    }
}
