//! The lines of a `### File Ops` block. What the operations would do is decided elsewhere.

/// One operation with its paths as written, without trailing slashes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Operation {
    pub(crate) line: u32,
    pub(crate) kind: OperationKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OperationKind {
    Move { from: String, to: String },
    Copy { from: String, to: String },
    Remove { path: String },
    RemoveFolder { path: String },
    MakeFolder { path: String },
}

/// Parses a line. Blank lines and comments are ignored; in prose, also every line that does not start with one of the five words.
pub(super) fn parse(line: u32, text: &str, is_fenced: bool) -> Option<Result<Operation, String>> {
    let text = text.trim().trim_matches('`').trim();
    if text.is_empty() || text.starts_with('#') {
        return None;
    }
    let words = split_words(text);
    let (verb, arguments) = words.split_first()?;
    let is_known = ["mv", "cp", "rm", "rmdir", "mkdirp"].contains(&verb.as_str());
    if !is_known {
        return is_fenced.then(|| Err(format!("`{}` is not a file operation", crate::excerpt::prefix(verb, 80))));
    }
    if arguments.iter().any(|argument| argument.starts_with('-')) {
        return Some(Err(format!("`{verb}` takes no options here")));
    }
    let kind = match (verb.as_str(), arguments) {
        ("mv", [from, to]) => OperationKind::Move { from: clean(from), to: destination(from, to) },
        ("cp", [from, to]) => OperationKind::Copy { from: clean(from), to: destination(from, to) },
        ("rm", [path]) => OperationKind::Remove { path: clean(path) },
        ("rmdir", [path]) => OperationKind::RemoveFolder { path: clean(path) },
        ("mkdirp", [path]) => OperationKind::MakeFolder { path: clean(path) },
        // A sentence of prose may start with `cp`; in a fence, it must be an operation.
        _ if !is_fenced => return None,
        _ => {
            let paths = if matches!(verb.as_str(), "mv" | "cp") { "two paths" } else { "one path" };
            return Some(Err(format!("`{verb}` takes {paths}, not {}", arguments.len())));
        }
    };
    Some(Ok(Operation { line, kind }))
}

fn clean(path: &str) -> String {
    match path.trim_end_matches('/') {
        "" => path.to_owned(),
        path => path.to_owned(),
    }
}

/// If the destination is a folder, the file keeps its basename.
fn destination(from: &str, to: &str) -> String {
    match (to.strip_suffix('/'), clean(from).rsplit('/').next()) {
        (Some(folder), Some(name)) if !folder.is_empty() => format!("{folder}/{name}"),
        _ => to.to_owned(),
    }
}

/// Words separated by spaces; quotes keep a word together.
fn split_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for character in text.chars() {
        match quote {
            Some(open) if character == open => quote = None,
            Some(_) => word.get_or_insert_default().push(character),
            None if matches!(character, '"' | '\'') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            None if character.is_whitespace() => words.extend(word.take()),
            None => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_become_operations() {
        let check = |text: &str, expected: Option<Result<OperationKind, &str>>| {
            let found = parse(1, text, true).map(|result| result.map(|operation| operation.kind));
            assert_eq!(found, expected.map(|result| result.map_err(str::to_owned)), "{text}");
        };
        let moved = |from: &str, to: &str| Some(Ok(OperationKind::Move { from: from.to_owned(), to: to.to_owned() }));
        check("mv a b", moved("a", "b"));
        check("  mv   'a b'  \"c\" \r", moved("a b", "c"));
        check("mv src/a.ts lib/", moved("src/a.ts", "lib/a.ts"));
        check("rm src/", Some(Ok(OperationKind::Remove { path: "src".to_owned() })));
        check("`mkdirp a/b`", Some(Ok(OperationKind::MakeFolder { path: "a/b".to_owned() })));
        check("", None);
        check("# why", None);
        check("touch a", Some(Err("`touch` is not a file operation")));
        check("rm -rf a", Some(Err("`rm` takes no options here")));
        check("mv a", Some(Err("`mv` takes two paths, not 1")));
        check("rm a b", Some(Err("`rm` takes one path, not 2")));
        assert_eq!(parse(1, "move these", false), None);
        assert_eq!(parse(1, "cp is what we need", false), None);
        assert!(parse(1, "cp a b", false).is_some());
    }
}
