//! A configuration file as a small tree whose values have positions. YAML and JSON give the same tree.
//!
//! Nothing is expanded: an alias stays an alias, so no file takes more memory than its size. Knows nothing about the meaning of
//! keys.

use saphyr_parser::{Event, Parser, ScalarStyle, Span};
use stan_model::json::{JsonKind, JsonTree, NodeId};

/// Real configurations are flatter, and dropping a deep tree recurses.
const MAX_DEPTH: usize = 64;

/// A position in a configuration file, ordered as in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// 1-based.
    pub line: u32,
    /// 1-based, in characters.
    pub column: u32,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Node {
    pub(super) place: Position,
    pub(super) value: Value,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    /// `null`, or a missing value.
    Nothing,
    Bool(bool),
    /// As written, integer or not.
    Number(String),
    Text(String),
    List(Vec<Node>),
    Map(Vec<Field>),
    /// An alias, or a value with a tag, neither of which is resolved.
    Unsupported(&'static str),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Field {
    pub(super) place: Position,
    pub(super) key: String,
    pub(super) node: Node,
}

/// The position of the first syntax error, and the reason.
pub(super) type SyntaxError = (Position, String);

/// Parses YAML; `None` for an empty document.
pub(super) fn read_yaml(text: &str) -> Result<Option<Node>, SyntaxError> {
    let mut builder = Builder::default();
    let mut documents = 0;
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| {
            let mark = error.marker();
            let help = missing_quotes(text, mark.line());
            // The parser's column may be too large (seen with U+2028), so it is limited to the longest line.
            let longest = text.split('\n').map(|line| line.chars().count()).max().unwrap_or(0);
            let place = position_of(mark.line(), mark.col().min(longest));
            (place, format!("this is not valid YAML: {}{help}", error.info()))
        })?;
        let place = position_of(span.start.line(), span.start.col());
        match event {
            Event::DocumentStart(_) => {
                documents += 1;
                if documents > 1 {
                    return Err((place, "a second YAML document starts here; only one is allowed".to_owned()));
                }
            }
            Event::Alias(_) => builder.value(place, Value::Unsupported("an alias"))?,
            Event::Scalar(text, style, _, tag) => {
                let value = match tag {
                    Some(_) => Value::Unsupported("a value with a tag"),
                    None if style == ScalarStyle::Plain => plain_scalar(&text),
                    None => Value::Text(text.into_owned()),
                };
                builder.scalar(place, value, &span, style)?;
            }
            Event::SequenceStart(_, tag) => builder.open(place, Container::List(Vec::new()), tag.is_some())?,
            Event::MappingStart(_, tag) => builder.open(place, Container::Map(Vec::new(), None), tag.is_some())?,
            Event::SequenceEnd | Event::MappingEnd => builder.close()?,
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
        }
    }
    Ok(builder.root)
}

/// Globs often start with characters that have another meaning in YAML: advice, if this may be the cause.
fn missing_quotes(text: &str, line: usize) -> String {
    let line = text.lines().nth(line.saturating_sub(1)).unwrap_or_default();
    // The error may be anywhere in the line, so each value in it is checked.
    let starts = line.match_indices([' ', '\t', '[', ',']).map(|(at, found)| at + found.len()).chain([0]);
    let values = starts.filter_map(|start| line.get(start..));
    for value in values {
        if let Some(first) = value.chars().next().filter(|first| matches!(first, '*' | '!' | '@' | '&' | '%' | '`')) {
            return format!("; a text that starts with `{first}` needs quotes");
        }
    }
    let is_cut = line.split([' ', '\t']).any(|value| value.starts_with(['{', '[']) && !value.ends_with(['}', ']']));
    if is_cut { "; a text that starts with `{` or `[` needs quotes".to_owned() } else { String::new() }
}

/// Parses JSON, strictly; `None` for an empty document.
pub(super) fn read_json(text: &str) -> Result<Option<Node>, SyntaxError> {
    if text.trim_matches([' ', '\t', '\r', '\n']).is_empty() {
        return Ok(None);
    }
    let tree = JsonTree::parse(text.as_bytes()).map_err(|error| {
        let place = Position { line: narrow(error.line), column: narrow(column_of(text, error.line, error.column)) };
        (place, format!("this is not valid JSON: {}", error.message))
    })?;
    let mut reader = JsonReader {
        tree: &tree,
        cursor: Cursor { text, offset: 0, place: Position { line: 1, column: 1 } },
        builder: Builder::default(),
    };
    reader.read()?;
    Ok(reader.builder.root)
}

/// Converts a column in bytes to one in characters.
fn column_of(text: &str, line: usize, column: usize) -> usize {
    let line = text.split('\n').nth(line.saturating_sub(1)).unwrap_or_default();
    let before = line.get(..line.floor_char_boundary(column.saturating_sub(1))).unwrap_or(line);
    before.chars().count() + 1
}

fn position_of(line: usize, column: usize) -> Position {
    Position { line: narrow(line), column: narrow(column + 1) }
}

fn narrow(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// The value of a scalar without quotes, by the core schema of YAML 1.2.
fn plain_scalar(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Nothing,
        "true" | "True" | "TRUE" => return Value::Bool(true),
        "false" | "False" | "FALSE" => return Value::Bool(false),
        _ => {}
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let is_number = unsigned.starts_with(|first: char| first.is_ascii_digit() || first == '.')
        && unsigned.contains(|character: char| character.is_ascii_digit())
        && unsigned.parse::<f64>().is_ok();
    if is_number { Value::Number(text.to_owned()) } else { Value::Text(text.to_owned()) }
}

enum Container {
    List(Vec<Node>),
    /// The fields so far, and the key whose value follows.
    Map(Vec<Field>, Option<(Position, String)>),
}

struct OpenContainer {
    place: Position,
    container: Container,
    has_tag: bool,
}

#[derive(Default)]
struct Builder {
    open: Vec<OpenContainer>,
    root: Option<Node>,
}

impl Builder {
    fn open(&mut self, place: Position, container: Container, has_tag: bool) -> Result<(), SyntaxError> {
        if self.open.len() >= MAX_DEPTH {
            return Err((place, format!("lists and maps nest deeper than {MAX_DEPTH} here")));
        }
        self.open.push(OpenContainer { place, container, has_tag });
        Ok(())
    }

    fn close(&mut self) -> Result<(), SyntaxError> {
        let Some(OpenContainer { place, container, has_tag }) = self.open.pop() else { return Ok(()) };
        let value = match container {
            _ if has_tag => Value::Unsupported("a value with a tag"),
            Container::List(items) => Value::List(items),
            Container::Map(fields, _) => Value::Map(fields),
        };
        self.value(place, value)
    }

    /// A YAML scalar. For a missing value, the parser returns the position after it, which may be on the next line.
    fn scalar(&mut self, place: Position, value: Value, span: &Span, style: ScalarStyle) -> Result<(), SyntaxError> {
        let is_absent = style == ScalarStyle::Plain && span.is_empty();
        let key_place = match self.open.last().map(|open| &open.container) {
            Some(Container::Map(_, Some((key_place, _)))) if is_absent => Some(*key_place),
            _ => None,
        };
        self.value(key_place.unwrap_or(place), value)
    }

    fn value(&mut self, place: Position, value: Value) -> Result<(), SyntaxError> {
        let node = Node { place, value };
        match self.open.last_mut().map(|open| &mut open.container) {
            None => self.root = Some(node),
            Some(Container::List(items)) => items.push(node),
            Some(Container::Map(fields, pending)) => match pending.take() {
                Some((place, key)) => fields.push(Field { place, key, node }),
                None => *pending = Some((place, key_text(node)?)),
            },
        }
        Ok(())
    }
}

fn key_text(node: Node) -> Result<String, SyntaxError> {
    match node.value {
        Value::Text(text) | Value::Number(text) => Ok(text),
        Value::Bool(flag) => Ok(flag.to_string()),
        Value::Nothing => Ok("null".to_owned()),
        Value::List(_) | Value::Map(_) => Err((node.place, "a list or a map cannot be a key".to_owned())),
        // Keys of this kind are not names; the blocks that may have them are ignored.
        Value::Unsupported(what) => Ok(format!("({what})")),
    }
}

struct JsonReader<'t> {
    tree: &'t JsonTree<'t>,
    cursor: Cursor<'t>,
    builder: Builder,
}

impl JsonReader<'_> {
    /// Visits the values in text order, with their containers on a stack.
    fn read(&mut self) -> Result<(), SyntaxError> {
        // The id after the last value of each open container.
        let mut ends: Vec<Option<NodeId>> = Vec::new();
        for id in self.tree.descendants(self.tree.root()) {
            self.close_ended(&mut ends, Some(id))?;
            let place = self.cursor.place(self.tree.text(id));
            let value = match self.tree.kind(id) {
                JsonKind::Null => Value::Nothing,
                JsonKind::True => Value::Bool(true),
                JsonKind::False => Value::Bool(false),
                JsonKind::Integer | JsonKind::Double => Value::Number(self.tree.text(id).to_owned()),
                JsonKind::PlainString | JsonKind::EscapedString => {
                    Value::Text(self.tree.string(id).unwrap_or_default().into_owned())
                }
                kind @ (JsonKind::Array | JsonKind::Object) => {
                    let empty = if kind == JsonKind::Array {
                        Container::List(Vec::new())
                    } else {
                        Container::Map(Vec::new(), None)
                    };
                    self.builder.open(place, empty, false)?;
                    ends.push(self.tree.descendants(id).last());
                    continue;
                }
            };
            self.builder.value(place, value)?;
        }
        self.close_ended(&mut ends, None)
    }

    fn close_ended(&mut self, ends: &mut Vec<Option<NodeId>>, next: Option<NodeId>) -> Result<(), SyntaxError> {
        while let Some(end) = ends.last() {
            if next.is_some_and(|next| end.is_some_and(|end| end >= next)) {
                break;
            }
            ends.pop();
            self.builder.close()?;
        }
        Ok(())
    }
}

/// Scans a text once, because counting every column from the start of its line could take quadratic time.
struct Cursor<'t> {
    text: &'t str,
    offset: usize,
    place: Position,
}

impl Cursor<'_> {
    /// The position of a part of the text after the last requested one.
    fn place(&mut self, part: &str) -> Position {
        let offset = (part.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize);
        for character in self.text.get(self.offset..offset).unwrap_or_default().chars() {
            let Position { line, column } = self.place;
            self.place = match character {
                '\n' => Position { line: line.saturating_add(1), column: 1 },
                _ => Position { line, column: column.saturating_add(1) },
            };
        }
        self.offset = self.offset.max(offset);
        self.place
    }
}
