//! Similarity of names: whether a name may be a misspelling of another.

/// Longer names are not compared by edit distance, which takes quadratic time.
const MAX_COMPARED: usize = 64;

/// Whether one name contains the other, or they differ in at most a third of the letters of the shorter one.
pub(crate) fn is_near(name: &str, wanted: &str) -> bool {
    let (name, wanted) = (name.to_lowercase(), wanted.to_lowercase());
    let shorter = name.len().min(wanted.len());
    if shorter >= 3 && (name.contains(&wanted) || wanted.contains(&name)) {
        return true;
    }
    if name.len().max(wanted.len()) > MAX_COMPARED || name.len().abs_diff(wanted.len()) > shorter / 3 {
        return false;
    }
    strsim::levenshtein(&name, &wanted) <= shorter / 3
}

/// The names with the smallest edit distance to `wanted`, nearest first, without those that have little in common with it.
pub(crate) fn nearest<'n>(wanted: &str, names: impl Iterator<Item = &'n str>, most: usize) -> Vec<Box<str>> {
    let lower = wanted.to_lowercase();
    let mut found: Vec<(usize, &str)> = names
        .filter(|name| *name != wanted && name.len().max(wanted.len()) <= MAX_COMPARED)
        .map(|name| (strsim::levenshtein(&name.to_lowercase(), &lower), name))
        .filter(|(far, name)| *far <= name.len().max(wanted.len()) / 2 || is_near(name, wanted))
        .collect();
    found.sort_unstable();
    found.into_iter().take(most).map(|(_, name)| name.into()).collect()
}

#[cfg(test)]
mod tests {
    use super::{is_near, nearest};

    #[test]
    fn nearest_names_come_first() {
        let names = ["total", "totals", "subtotal", "sum", "Total"];
        let near: Vec<Box<str>> = nearest("totl", names.into_iter(), 3);
        assert_eq!(near.iter().map(|name| &**name).collect::<Vec<_>>(), ["Total", "total", "totals"]);
    }

    #[test]
    fn names_are_near_by_edit_distance_or_a_shared_word() {
        for (name, wanted, expected) in [
            ("price", "prize", true),
            ("priceRenamed", "price", true),
            ("length", "lenght", true),
            ("a", "b", false),
            ("name", "price", false),
            ("getAll", "all", true),
            ("id", "identity", false),
        ] {
            assert_eq!(is_near(name, wanted), expected, "{name} {wanted}");
        }
    }
}
