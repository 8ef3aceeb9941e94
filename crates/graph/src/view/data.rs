//! The data of the page as JSON inside an HTML element: arrays instead of objects, because a repository may have many files. No
//! name in the repository can close the element or hide a character.

use stan_model::untrusted::is_hidden;

use super::treemap::{HEIGHT, Layout, Rectangle, WIDTH};
use super::{ViewFile, ViewInput};

/// A writer of JSON arrays.
struct ArrayWriter {
    text: String,
    /// The next value is the first of its array.
    is_first: bool,
}

pub(super) fn json(input: &ViewInput, layout: &Layout) -> String {
    let mut out = ArrayWriter { text: String::new(), is_first: true };
    out.open('{');
    out.key("size");
    out.array(|out| [WIDTH, HEIGHT].iter().for_each(|length| out.number(*length as u64)));
    out.key("tokenizer");
    out.string(&input.tokenizer);
    out.key("focus");
    out.string(input.focus.as_deref().unwrap_or_default());
    out.key("notes");
    out.array(|out| input.notes.iter().for_each(|note| out.string(note)));
    out.key("folders");
    out.array(|out| {
        for folder in &layout.folders {
            out.array(|out| {
                out.string(&folder.name);
                out.number(u64::from(folder.parent));
                out.rectangle(folder.rectangle);
                out.number(folder.tokens);
                out.number(u64::from(folder.files));
            });
        }
    });
    out.key("files");
    out.array(|out| {
        for ((file, folder), rectangle) in input.files.iter().zip(&layout.folder_of).zip(&layout.rectangles) {
            out.array(|out| write_file(out, file, *folder, *rectangle));
        }
    });
    out.key("packages");
    out.array(|out| {
        for (name, version, users) in &input.packages {
            out.array(|out| {
                out.string(name);
                out.string(version);
                out.number(u64::from(*users));
            });
        }
    });
    out.key("missing");
    out.array(|out| {
        for missing in &input.missing {
            out.array(|out| {
                out.string(&missing.name);
                out.indices(&missing.importers);
            });
        }
    });
    out.key("cycles");
    out.array(|out| {
        for cycle in &input.cycles {
            out.array(|out| {
                out.indices(&cycle.members);
                out.indices(&cycle.ring);
            });
        }
    });
    out.close('}');
    out.text
}

/// Name, folder, rectangle, tokens (-1 for files that are not code), bytes, imports, packages, tests, exports, description,
/// reason of its selection.
fn write_file(out: &mut ArrayWriter, file: &ViewFile, folder: u32, rectangle: Rectangle) {
    out.string(file.path.rsplit('/').next().unwrap_or(&file.path));
    out.number(u64::from(folder));
    out.rectangle(rectangle);
    if file.is_code {
        out.number(file.tokens)
    } else {
        out.raw("-1")
    }
    out.number(file.bytes);
    out.array(|out| {
        for (target, kinds) in &file.imports {
            out.number(u64::from(*target) * 8 + u64::from(*kinds));
        }
    });
    out.indices(&file.packages);
    out.indices(&file.tests);
    out.array(|out| file.exports.iter().for_each(|name| out.string(name)));
    out.string(file.description.as_deref().unwrap_or_default());
    match &file.selected {
        Some(reason) => out.string(reason),
        None => out.raw("0"),
    }
}

impl ArrayWriter {
    fn comma(&mut self) {
        if !self.is_first {
            self.text.push(',');
        }
        self.is_first = false;
    }

    fn open(&mut self, bracket: char) {
        self.comma();
        self.text.push(bracket);
        self.is_first = true;
    }

    fn close(&mut self, bracket: char) {
        self.text.push(bracket);
        self.is_first = false;
    }

    fn array(&mut self, write: impl FnOnce(&mut Self)) {
        self.open('[');
        write(self);
        self.close(']');
    }

    fn key(&mut self, name: &'static str) {
        self.string(name);
        self.text.push(':');
        self.is_first = true;
    }

    fn raw(&mut self, value: &'static str) {
        self.comma();
        self.text.push_str(value);
    }

    fn number(&mut self, value: u64) {
        self.comma();
        self.text.push_str(&value.to_string());
    }

    fn indices(&mut self, values: &[u32]) {
        self.array(|out| values.iter().for_each(|value| out.number(u64::from(*value))));
    }

    fn rectangle(&mut self, rectangle: Rectangle) {
        for value in [rectangle.x, rectangle.y, rectangle.width, rectangle.height] {
            self.number(u64::from(value));
        }
    }

    /// A string in which neither HTML nor JSON can find syntax. Hidden characters (control, bidi, invisible) are shown as
    /// escapes: the reader sees `\u{202e}` instead of reordered text.
    fn string(&mut self, value: &str) {
        self.comma();
        self.text.push('"');
        for character in value.chars() {
            match character {
                '"' => self.text.push_str("\\\""),
                '\\' => self.text.push_str("\\\\"),
                // So neither `</script>` nor `<!--` can appear.
                '<' | '>' | '&' => self.text.push_str(&format!("\\u{:04x}", u32::from(character))),
                hidden if hidden.is_control() || is_hidden(hidden) => {
                    self.text.push('\\');
                    self.text.extend(hidden.escape_unicode());
                }
                other => self.text.push(other),
            }
        }
        self.text.push('"');
    }
}
