//! Numbers for people: digits in groups, and columns that line up. Never used in JSON.

/// `1234567` as `1,234,567`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `1 file`, `2 files`, `3 entries`.
pub(crate) fn counted(number: u64, noun: &str) -> String {
    let count = grouped(number);
    match noun.strip_suffix('y') {
        _ if number == 1 => format!("{count} {noun}"),
        Some(stem) => format!("{count} {stem}ies"),
        None => format!("{count} {noun}s"),
    }
}

/// Rows with their columns aligned: the first to the left, the others to the right. No trailing spaces.
pub(crate) fn columns<const N: usize>(rows: &[[String; N]]) -> Vec<String> {
    let mut widths = [0; N];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    rows.iter()
        .map(|row| {
            let cells = row.iter().zip(widths).enumerate().map(|(index, (cell, width))| {
                if index == 0 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
            });
            cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        let cases = [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")];
        for (number, expected) in cases {
            assert_eq!(grouped(number), expected);
        }
        assert_eq!((counted(1, "file"), counted(2000, "file")), ("1 file".into(), "2,000 files".into()));
        assert_eq!(counted(0, "entry"), "0 entries");
    }

    #[test]
    fn aligned() {
        let row = |a: &str, b: &str| [a.to_owned(), b.to_owned()];
        assert_eq!(columns(&[row("a", "10"), row("long", "7")]), ["a     10", "long   7"]);
    }
}
