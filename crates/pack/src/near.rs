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
    strsim::levenshtein(&name, &wanted) <= shorter / 3
}

#[cfg(test)]
mod tests {
    use super::is_near;

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
