//! Tools that print with miette: oxlint, swc, turbopack. `  × rule: message`, then `   ╭─[src/a.ts:2:10]`.

use super::lines::Lines;
use crate::{Diagnostic, Severity, place};

pub(super) fn miette(lines: &Lines<'_>, at: usize, found: &mut Vec<Diagnostic>) -> usize {
    let line = lines.get(at).trim_start();
    let Some((mark, message)) = line.split_once(' ') else { return 0 };
    let severity = match mark {
        "×" | "x" | "✖" => Severity::Error,
        "⚠" | "!" => Severity::Warning,
        "☞" => Severity::Info,
        _ => return 0,
    };
    let mut text = message.trim().to_owned();
    for (index, next) in lines.after(at).take(12) {
        let trimmed = next.trim_start();
        if let Some(rest) = trimmed
            .strip_prefix("╭─[")
            .or_else(|| trimmed.strip_prefix(",-["))
            .or_else(|| trimmed.strip_prefix("╭────["))
        {
            let Some((place, _)) = place::colon(rest) else { return 0 };
            let (code, message) = split_rule(&text);
            found.push(Diagnostic::new("oxlint", place, severity, message).with_code(code));
            return index - at + 1;
        }
        let Some(more) = trimmed.strip_prefix(['│', '|']) else { return 0 };
        text.push('\n');
        text.push_str(more.trim());
    }
    0
}

/// Splits `eslint(no-debugger): message` into rule and message.
fn split_rule(text: &str) -> (Option<&str>, &str) {
    match text.split_once("): ") {
        Some((rule, message)) if !rule.contains(' ') && rule.contains('(') => (text.get(..=rule.len()), message),
        _ => (None, text),
    }
}
