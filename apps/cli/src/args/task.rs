//! Arguments that several commands share: the description of a task, and numbers of tokens.

use clap::Args;

/// The description of a task. All options count together.
#[derive(Args)]
pub(crate) struct TaskArgs {
    /// A file, folder or glob that you work on; `FILE:N` also takes N steps of its dependencies
    #[arg(long, value_name = "FILE[:DEPTH]", num_args = 1..)]
    pub(crate) focus: Vec<String>,

    /// The task in words, or `@FILE` to read them (`@-`: standard input)
    #[arg(long, alias = "task", value_name = "TEXT|@FILE")]
    pub(crate) about: Vec<String>,

    /// Every file that differs from a git revision, or without REV from git's index; untracked files too
    #[arg(long, value_name = "REV", num_args = 0..=1)]
    pub(crate) changed: Option<Option<String>>,

    /// Every file named in the output of a compiler or test runner (`-`: standard input)
    #[arg(long, value_name = "FILE")]
    pub(crate) log: Option<String>,
}

/// A number of tokens: `20000`, `20k`, `1.5k`, `1m`.
pub(crate) fn budget(typed: &str) -> Result<u64, String> {
    let wrong = || format!("`{typed}` is not a number of tokens: write 20000, 20k or 1m");
    let (number, unit) = match typed.char_indices().next_back() {
        Some((at, 'k' | 'K')) => (&typed[..at], 1_000),
        Some((at, 'm' | 'M')) => (&typed[..at], 1_000_000),
        _ => (typed, 1),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let is_number = |text: &str| !text.is_empty() && text.len() <= 20 && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(whole) || !is_number(fraction) || (unit == 1 && number.contains('.')) {
        return Err(wrong());
    }
    let whole: u64 = whole.parse().map_err(|_| wrong())?;
    let digits = format!("{fraction:0<6}");
    let millionths: u64 = digits.get(..6).unwrap_or("0").parse().map_err(|_| wrong())?;
    whole.checked_mul(unit).and_then(|tokens| tokens.checked_add(millionths * unit / 1_000_000)).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_tokens_may_end_in_k_or_m() {
        for (typed, expected) in [
            ("0", Some(0)),
            ("20000", Some(20_000)),
            ("20k", Some(20_000)),
            ("1.5K", Some(1_500)),
            ("2m", Some(2_000_000)),
            ("18446744073709551615", Some(u64::MAX)),
            ("18446744073709551616", None),
            ("18446744073709551k", Some(18_446_744_073_709_551_000)),
            ("99999999999999999m", None),
            ("1.5", None),
            ("k", None),
            (".5k", None),
            ("-1", None),
            ("20x", None),
            ("", None),
        ] {
            assert_eq!(budget(typed).ok(), expected, "{typed}");
        }
    }
}
