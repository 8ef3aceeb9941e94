//! Whether a name may be meant by another: one contains the other, or few letters differ.

/// Longer names are compared by containment alone.
const LONGEST: usize = 64;

/// Whether `name` may be what was meant by `wanted`.
pub(crate) fn is_near(name: &str, wanted: &str) -> bool {
    let (name, wanted) = (name.to_lowercase(), wanted.to_lowercase());
    let shorter = name.len().min(wanted.len());
    if shorter >= 3 && (name.contains(&wanted) || wanted.contains(&name)) {
        return true;
    }
    if name.len().max(wanted.len()) > LONGEST || name.len().abs_diff(wanted.len()) > shorter / 3 {
        return false;
    }
    distance(&name, &wanted) <= shorter / 3
}

/// The names that are spelled most like the wanted one, the nearest first. None that has little in common with it.
pub(crate) fn nearest<'n>(wanted: &str, names: impl Iterator<Item = &'n str>, most: usize) -> Vec<Box<str>> {
    let lower = wanted.to_lowercase();
    let mut found: Vec<(usize, &str)> = names
        .filter(|name| *name != wanted && name.len().max(wanted.len()) <= LONGEST)
        .map(|name| (distance(&name.to_lowercase(), &lower), name))
        .filter(|(far, name)| *far <= name.len().max(wanted.len()) / 2 || is_near(name, wanted))
        .collect();
    found.sort_unstable();
    found.into_iter().take(most).map(|(_, name)| name.into()).collect()
}

/// How many insertions, deletions and replacements turn one word into the other.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (index, from) in one.chars().enumerate() {
        let mut diagonal = index;
        let mut left = index + 1;
        for (to, above) in other.iter().zip(row.iter_mut().skip(1)) {
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
    use super::{is_near, nearest};

    #[test]
    fn nearest_names_come_first() {
        let names = ["total", "totals", "subtotal", "sum", "Total"];
        let near: Vec<Box<str>> = nearest("totl", names.into_iter(), 3);
        assert_eq!(near.iter().map(|name| &**name).collect::<Vec<_>>(), ["Total", "total", "totals"]);
    }

    #[test]
    fn near_names() {
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
