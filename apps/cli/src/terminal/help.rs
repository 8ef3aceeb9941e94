//! The colours of help: highlights headings and the names of options and commands. clap writes plain text, so each line is
//! classified by its shape.

use stan_engine::Untrusted;

use super::style::Style;

/// One line of help or of a usage error, without its line break.
pub(super) fn line(line: &str, style: Style) -> String {
    let (name, rest) = line.split_at(name_end(line));
    if name.is_empty() {
        return Untrusted::new(line).to_string();
    }
    let indent = name.len() - name.trim_start().len();
    let (indent, name) = name.split_at(indent);
    format!("{indent}{}{}", style.bold(&Untrusted::new(name)).as_str(), Untrusted::new(rest))
}

/// The end of the highlighted part; 0 if there is none.
fn name_end(line: &str) -> usize {
    let text = line.trim_start();
    let indent = line.len() - text.len();
    if indent == 0 {
        let heading = text.find(':').filter(|end| end + 1 == text.len() || LABELS.contains(&&text[..*end]));
        return heading.map_or(0, |end| end + 1);
    }
    // Names are in a column before their descriptions, or alone in a line.
    let columns = text.find("  ");
    let is_option = text.starts_with('-');
    match columns {
        Some(end) if is_option || (indent == 2 && !text[..end].contains(' ')) => indent + end,
        None if is_option && text[1..].starts_with(|letter: char| letter != ' ') => line.len(),
        _ => 0,
    }
}

/// Words that may precede a colon at the start of a line of text.
const LABELS: [&str; 3] = ["Usage", "error", "tip"];

#[cfg(test)]
mod tests {
    use super::super::style::Style;
    use crate::args::ColorChoice;

    #[test]
    fn headings_and_names_stand_out() {
        let shown = |line: &str| super::line(line, Style::new(ColorChoice::Always, false));
        for (line, strong) in [
            ("Usage: stan [OPTIONS]", "Usage:"),
            ("Options:", "Options:"),
            ("Understand a repository:", "Understand a repository:"),
            ("  map          The overview", "map"),
            ("  -q, --quiet                Print nothing", "-q, --quiet"),
            ("      --json", "--json"),
            ("error: unexpected argument", "error:"),
            ("The right context: maps", ""),
            ("          Print the result  or not", ""),
            ("          - dot", ""),
            ("  stan map --budget 8k        what is in here", ""),
            ("", ""),
        ] {
            let expected = if strong.is_empty() {
                line.to_owned()
            } else {
                line.replacen(strong, &format!("\u{1b}[1m{strong}\u{1b}[0m"), 1)
            };
            assert_eq!(shown(line), expected);
            assert_eq!(super::line(line, Style::new(ColorChoice::Never, true)), line);
        }
        assert_eq!(shown("  -\u{7}x  y"), "  \u{1b}[1m-\\u{7}x\u{1b}[0m  y", "names come from outside");
    }
}
