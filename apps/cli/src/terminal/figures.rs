//! Numbers for people: grouped digits and aligned columns. Never used in JSON.

use super::text::Text;

/// `1234567` as `1,234,567`.
pub(crate) fn grouped(number: u64) -> Text {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    Text::vouched(out)
}

/// `1 file`, `2 files`, `3 entries`.
pub(crate) fn counted(number: u64, noun: &'static str) -> Text {
    let count = grouped(number).into_string();
    Text::vouched(match noun.strip_suffix('y') {
        _ if number == 1 => format!("{count} {noun}"),
        Some(stem) => format!("{count} {stem}ies"),
        None => format!("{count} {noun}s"),
    })
}

/// Aligns the columns of rows: the first to the left, the others to the right. No trailing spaces.
pub(crate) fn columns<const N: usize>(rows: &[[Text; N]]) -> Vec<Text> {
    let mut widths = [0; N];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.as_str().chars().count());
        }
    }
    rows.iter()
        .map(|row| {
            let cells = row.iter().map(Text::as_str).zip(widths).enumerate().map(|(index, (cell, width))| {
                if index == 0 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
            });
            Text::vouched(cells.collect::<Vec<_>>().join("  ").trim_end().to_owned())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::text;

    #[test]
    fn numbers_are_grouped_by_thousands() {
        let cases = [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")];
        for (number, expected) in cases {
            assert_eq!(grouped(number).as_str(), expected);
        }
        assert_eq!((counted(1, "file").as_str(), counted(2000, "file").as_str()), ("1 file", "2,000 files"));
        assert_eq!(counted(0, "entry").as_str(), "0 entries");
    }

    #[test]
    fn columns_are_aligned_with_numbers_to_the_right() {
        let row = |a: &'static str, b: u64| [text!("{}", a), grouped(b)];
        let lines = columns(&[row("a", 10), row("long", 7)]);
        assert_eq!(lines.iter().map(Text::as_str).collect::<Vec<_>>(), ["a     10", "long   7"]);
    }
}
