//! Version ranges of `typesVersions` and `types@…` conditions: whether a range includes TypeScript's own version. Not a general
//! semver library; prereleases count as their release.

/// The version whose resolution rules are implemented here.
const TYPESCRIPT: [u64; 3] = [5, 9, 3];

/// Whether the range includes [`TYPESCRIPT`]; `None` if the text is not a range.
pub(crate) fn admits_typescript(range: &str) -> Option<bool> {
    let mut admitted = false;
    for alternative in range.trim().split("||") {
        admitted |= admits_alternative(alternative.trim())?;
    }
    Some(admitted)
}

fn admits_alternative(alternative: &str) -> Option<bool> {
    if let Some((low, high)) = alternative.split_once(" - ") {
        return Some(compare(">=", low.trim())? && compare("<=", high.trim())?);
    }
    // A space may separate operator and version: `>= 4.2`.
    let mut admitted = true;
    let mut words = alternative.split_whitespace();
    while let Some(word) = words.next() {
        let split = word.find(|c: char| !matches!(c, '<' | '>' | '=' | '~' | '^')).unwrap_or(word.len());
        let (operator, version) = word.split_at(split);
        let version = if version.is_empty() { words.next()? } else { version };
        admitted &= compare(operator, version)?;
    }
    Some(admitted)
}

/// The components of a version; fewer than three if it has wildcards.
fn parse(version: &str) -> Option<Vec<u64>> {
    let version = version.strip_prefix(['v', 'V']).unwrap_or(version);
    let core = version.split(['-', '+']).next().unwrap_or(version);
    let mut given = Vec::with_capacity(3);
    for (index, part) in core.split('.').enumerate() {
        if index == 3 {
            return None;
        }
        if matches!(part, "*" | "x" | "X") {
            return Some(given);
        }
        given.push(part.parse().ok()?);
    }
    Some(given)
}

fn compare(operator: &str, version: &str) -> Option<bool> {
    let given = parse(version)?;
    let mut low = [0; 3];
    low[..given.len()].copy_from_slice(&given);
    // The first version after all those with the given components.
    let above = |components: usize| match components {
        0 => [u64::MAX; 3],
        n => {
            let mut next = [0; 3];
            next[..n].copy_from_slice(&low[..n]);
            next[n - 1] = next[n - 1].saturating_add(1);
            next
        }
    };
    let end = above(given.len());
    Some(match operator {
        "" | "=" => TYPESCRIPT >= low && TYPESCRIPT < end,
        ">=" => TYPESCRIPT >= low,
        ">" => !given.is_empty() && TYPESCRIPT >= end,
        "<" => !given.is_empty() && TYPESCRIPT < low,
        "<=" => TYPESCRIPT < end,
        "~" => TYPESCRIPT >= low && TYPESCRIPT < above(given.len().min(2)),
        "^" => {
            let significant = given.iter().position(|&n| n > 0).map_or(given.len(), |at| at + 1);
            TYPESCRIPT >= low && TYPESCRIPT < above(significant)
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::admits_typescript;

    #[test]
    fn version_ranges_hold_as_in_typescript() {
        let cases = [
            ("*", Some(true)),
            (">=4.2", Some(true)),
            (">= 4.2", Some(true)),
            ("<4.2", Some(false)),
            ("<=5.9", Some(true)),
            ("<=5.8", Some(false)),
            (">5.9", Some(false)),
            (">5.8 <6", Some(true)),
            ("4.0 - 5.9", Some(true)),
            ("^5.0", Some(true)),
            ("^4", Some(false)),
            ("~5.9", Some(true)),
            ("~5.8", Some(false)),
            ("5.x", Some(true)),
            ("4 || 5", Some(true)),
            (">=5.9.4", Some(false)),
            ("=5.9.3", Some(true)),
            ("", Some(true)),
            ("next", None),
        ];
        for (range, expected) in cases {
            assert_eq!(admits_typescript(range), expected, "{range:?}");
        }
    }
}
