//! A declaration on one line.

use stan_model::outline::{Unit, elided};

/// Longer lines are cut: a type of a thousand characters does not help in a list.
const LONGEST: usize = 160;

/// The text of a declaration without bodies, with runs of white space as one space.
pub(crate) fn one_line(text: &str, unit: &Unit) -> String {
    let signature = elided(text, unit.span, &unit.bodies);
    let mut line = String::with_capacity(signature.len().min(LONGEST + 4));
    let mut count = 0;
    for word in signature.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
            count += 1;
        }
        for character in word.chars() {
            if count >= LONGEST {
                line.push('…');
                return line;
            }
            line.push(character);
            count += 1;
        }
    }
    line
}
