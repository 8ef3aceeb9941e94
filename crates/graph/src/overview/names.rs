//! Words of the overview: bare if unambiguous, otherwise quoted as JSON strings.

use stan_model::untrusted::is_hidden;

/// Whether a word needs no quotes.
fn is_bare(word: &str) -> bool {
    let is_plain = |character: char| !character.is_whitespace() && !is_hidden(character) && !",;\"".contains(character);
    !word.is_empty() && !word.starts_with(['+', '*', '<', '>', '~', '#', '=']) && word.chars().all(is_plain)
}

pub(super) fn push_word(out: &mut String, word: &str) {
    if is_bare(word) {
        out.push_str(word);
        return;
    }
    out.push('"');
    for character in word.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            hidden if is_hidden(hidden) => push_escaped(out, hidden),
            other => out.push(other),
        }
    }
    out.push('"');
}

/// Escapes a character as in JSON.
fn push_escaped(out: &mut String, character: char) {
    let mut units = [0; 2];
    for unit in character.encode_utf16(&mut units) {
        out.push_str(&format!("\\u{unit:04x}"));
    }
}

pub(super) fn push_list<'n>(out: &mut String, names: impl IntoIterator<Item = &'n str>) {
    for (index, name) in names.into_iter().enumerate() {
        if index > 0 {
            out.push_str(", ");
        }
        push_word(out, name);
    }
}

/// Text up to the end of the line, without hidden characters.
pub(super) fn push_text(out: &mut String, text: &str) {
    let shown = |character: char| if is_hidden(character) { ' ' } else { character };
    out.extend(text.chars().map(shown));
}

/// A token count, rounded for readers: within 5 % of the number.
pub(super) fn short(number: u64) -> String {
    let tenths = |unit: u64| {
        let tenths = (number + unit / 20) / (unit / 10);
        (tenths / 10, tenths % 10)
    };
    match number {
        0..1_000 => number.to_string(),
        1_000..99_950 => {
            let (whole, tenth) = tenths(1_000);
            format!("{whole}.{tenth}k")
        }
        99_950..999_500 => format!("{}k", (number + 500) / 1_000),
        _ => {
            let (whole, tenth) = tenths(1_000_000);
            format!("{whole}.{tenth}M")
        }
    }
}

/// The words of a path or a name, in lower case: `src/openFile.ts` has four.
pub fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for letter in text.chars() {
        if !letter.is_alphanumeric() || (was_lower && letter.is_uppercase()) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| letter.is_alphanumeric()) {
            word.extend(letter.to_lowercase());
        }
        was_lower = letter.is_lowercase() || letter.is_numeric();
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_end_at_capitals_and_at_other_characters_than_letters() {
        assert_eq!(words("src/openFile_v2.ts"), ["src", "open", "file", "v2", "ts"]);
        assert_eq!(words("§"), [""; 0]);
    }
}
