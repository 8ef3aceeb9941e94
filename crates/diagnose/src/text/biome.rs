//! Biome: `src/a.ts:8:10 lint/style/useTemplate  FIXABLE  ━━━`, then the message after `i`, `!` or `×`.

use super::lines::{Lines, excerpt};
use crate::{Diagnostic, Severity, place};

pub(super) fn biome(lines: &Lines<'_>, at: usize, found: &mut Vec<Diagnostic>) -> usize {
    let line = lines.get(at);
    if !line.contains("━━") {
        return 0;
    }
    let head = line.trim_end_matches(['━', ' ']);
    // A finding about a whole file has no position: `src/a.ts format ━━━`.
    let (place, rest) = match place::colon(head) {
        Some((place, rest)) => (Some(place), rest),
        None => (None, head.split_once(' ').map_or("", |(_, rest)| rest)),
    };
    let rule = rest.split_whitespace().next().filter(|rule| rule.contains('/'));
    let Some(place) = place else { return 0 };
    for (index, text) in lines.after(at).take(8) {
        let text = text.trim();
        let Some((mark, message)) = text.split_once(' ') else { continue };
        let severity = match mark {
            "×" | "✖" => Severity::Error,
            "!" | "⚠" => Severity::Warning,
            "i" | "ℹ" => Severity::Info,
            _ => continue,
        };
        let shown = excerpt(lines, index, place.line);
        let mut diagnostic = Diagnostic::new("biome", place, severity, message.trim()).with_code(rule);
        diagnostic.excerpt = shown;
        found.push(diagnostic);
        return index - at + 1;
    }
    0
}
