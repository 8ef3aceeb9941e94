//! The six tools: their schemas, and the `stan` command line that each call is translated to. A tool has no logic of its own, so
//! that its answer equals the command's. Pure.

use serde_json::{Map, Value, json};
use stan_engine::config::nearest;
use stan_engine::{TypedPlace, TypedSymbol, TypedText};

/// The token budget if the call has none.
pub(crate) const DEFAULT_BUDGET: u64 = 4_000;

/// A call, translated to a command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Asked {
    /// The arguments of `stan`, starting with the name of the command.
    pub(crate) arguments: Vec<String>,
    /// The command to run instead if there is no archive.
    pub(crate) without_archive: Option<Vec<String>>,
    /// Every path in the call.
    pub(crate) paths: Vec<String>,
    /// The standard input of the command.
    pub(crate) stdin: Vec<u8>,
    pub(crate) budget: u64,
    /// The digest of the answer that the client has.
    pub(crate) since: Option<String>,
}

/// The answer of `tools/list`.
pub(crate) fn list() -> Value {
    let texts = json!({ "type": "array", "items": { "type": "string" } });
    let tool = |name: &str, description: &str, properties: Value, required: Value| {
        let mut properties = properties;
        properties["budget"] = json!({ "type": "integer", "minimum": 0 });
        properties["since"] = json!({ "type": "string" });
        json!({
            "name": name,
            "description": description,
            "inputSchema": {
                "type": "object", "properties": properties, "required": required, "additionalProperties": false
            },
            "outputSchema": {
                "type": "object",
                "properties": {
                    "text": { "type": "string" },
                    "digest": { "type": "string" },
                    "answer": { "enum": ["full", "changes", "unchanged"] }
                },
                "required": ["text", "digest", "answer"]
            },
            "annotations": { "readOnlyHint": true, "openWorldHint": false },
        })
    };
    json!([
        tool(
            "overview",
            "The repository's code files by folder, with symbols, imports and tokens, folded to fit the budget",
            json!({ "focus": texts, "level": { "enum": ["file", "folder", "package"] } }),
            json!([])
        ),
        tool(
            "related",
            "What files import (deps), what imports them (dependents), or import cycles",
            json!({
                "relation": { "enum": ["deps", "dependents", "cycles"] },
                "files": texts,
                "depth": { "type": "integer", "minimum": 1 },
                "kinds": { "type": "string", "description": "runtime,type,dynamic" }
            }),
            json!(["relation"])
        ),
        tool(
            "context",
            "The code that a task, an error log, a place or files need, ranked and cut to the budget",
            json!({
                "about": { "type": "string", "description": "the task in words" },
                "log": { "type": "string", "description": "output of a compiler, linter or test run" },
                "at": { "type": "array", "items": { "type": "string" }, "description": "FILE:LINE[:COL]" },
                "symbol": { "type": "array", "items": { "type": "string" }, "description": "FILE#Name" },
                "focus": texts,
                "changed": { "type": "string", "description": "files changed since this revision" }
            }),
            json!([])
        ),
        tool(
            "read",
            "Files, declarations as FILE#Name, or lines as FILE:FROM-TO",
            json!({ "files": texts, "level": { "enum": ["full", "signature", "line"] } }),
            json!(["files"])
        ),
        tool(
            "find",
            "Search symbols, paths and words; with `symbol`, where a name is declared and who uses it",
            json!({ "words": { "type": "string" }, "symbol": { "type": "string" } }),
            json!([])
        ),
        tool(
            "check",
            "Check a reply with patches against the repository before it is applied",
            json!({ "reply": { "type": "string" }, "seen": { "type": "boolean" } }),
            json!(["reply"])
        ),
    ])
}

/// The names of all tools.
pub(crate) fn names() -> Vec<String> {
    let list = list();
    let tools = list.as_array().map(Vec::as_slice).unwrap_or_default();
    tools.iter().filter_map(|tool| tool["name"].as_str().map(str::to_owned)).collect()
}

/// Translates a call; an error says what is wrong with its arguments. `None` if the tool does not exist.
pub(crate) fn asked(tool: &str, arguments: &Map<String, Value>) -> Option<Result<Asked, String>> {
    let list = list();
    let definition = list.as_array()?.iter().find(|one| one["name"] == tool)?;
    // Some clients send `null` for omitted arguments, and some models an empty text.
    let schema = &definition["inputSchema"];
    let is_required = |name: &str| schema["required"].as_array().is_some_and(|all| all.iter().any(|one| one == name));
    let given: Map<String, Value> = arguments
        .iter()
        .filter(|(name, value)| !value.is_null() && (*value != "" || is_required(name)))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    Some(check(schema, &given).and_then(|()| Builder::new(&given).build(tool)))
}

/// Reports the first argument that the schema does not allow.
fn check(schema: &Value, arguments: &Map<String, Value>) -> Result<(), String> {
    let properties = &schema["properties"];
    for (name, value) in arguments {
        let property = &properties[name];
        let fits = match (property["type"].as_str(), property["enum"].as_array()) {
            (_, Some(choices)) => choices.contains(value),
            (Some("string"), _) => value.is_string(),
            (Some("boolean"), _) => value.is_boolean(),
            (Some("integer"), _) => {
                integer(value).is_some_and(|number| number >= property["minimum"].as_u64().unwrap_or(0))
            }
            (Some("array"), _) => value.as_array().is_some_and(|values| values.iter().all(Value::is_string)),
            _ => {
                let known: Vec<&str> =
                    properties.as_object().map(|all| all.keys().map(String::as_str).collect()).unwrap_or_default();
                let meant = nearest(name, &known).map(|near| format!(", did you mean `{near}`?")).unwrap_or_default();
                return Err(format!("there is no argument `{name}`{meant}; this tool takes {}", known.join(", ")));
            }
        };
        if !fits {
            let wanted = match property["enum"].as_array() {
                Some(choices) => choices.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "),
                None => property["type"].as_str().unwrap_or_default().replace("array", "array of strings"),
            };
            return Err(format!("`{name}` is not valid; expected: {wanted}"));
        }
    }
    let required = schema["required"].as_array().map(Vec::as_slice).unwrap_or_default();
    match required.iter().filter_map(Value::as_str).find(|name| !arguments.contains_key(*name)) {
        Some(name) => {
            let choices: Vec<&str> =
                properties[name]["enum"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            let expected =
                if choices.is_empty() { String::new() } else { format!("; expected: {}", choices.join(", ")) };
            Err(format!("`{name}` is missing{expected}"))
        }
        None => Ok(()),
    }
}

/// A number without a fraction in any notation: `4e3` and `4000.0` are integers in JSON Schema.
fn integer(value: &Value) -> Option<u64> {
    let whole = |number: &f64| number.fract() == 0.0 && (0.0..=9e15).contains(number);
    value.as_u64().or_else(|| value.as_f64().filter(whole).map(|number| number as u64))
}

/// Builds a command line. Values are joined to their options with `=`, and files follow `--`, so that no value can be parsed as
/// an option.
struct Builder<'a> {
    given: &'a Map<String, Value>,
    asked: Asked,
}

impl<'a> Builder<'a> {
    fn new(given: &'a Map<String, Value>) -> Self {
        let budget = given.get("budget").and_then(integer).unwrap_or(DEFAULT_BUDGET);
        let since = given.get("since").and_then(Value::as_str).map(str::to_owned);
        Self { given, asked: Asked { budget, since, ..Asked::default() } }
    }

    fn build(mut self, tool: &str) -> Result<Asked, String> {
        match tool {
            "overview" => {
                self.command("map").budget().option("level");
                self.paths_option("focus", |path| path)?;
            }
            "related" => self.related()?,
            "context" => self.context()?,
            "read" => {
                self.command("read").budget().option("level");
                self.files(without_part)?;
            }
            "find" => match (self.text("words"), self.text("symbol")) {
                (Some(words), None) => {
                    let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
                    if words.is_empty() {
                        return Err("`words` has no word".to_owned());
                    }
                    self.command("find").budget().positional(words);
                }
                (None, Some(name)) => {
                    let name = name.to_owned();
                    self.command("symbol").budget().positional(vec![name]);
                }
                _ => return Err("give either `words` or `symbol`".to_owned()),
            },
            _ => {
                self.asked.stdin = self.text("reply").unwrap_or_default().as_bytes().to_vec();
                self.command("check").flag("seen").positional(vec!["-".to_owned()]);
                let dry_run = ["apply", "--dry-run", "--no-archive", "--", "-"].map(str::to_owned);
                self.asked.without_archive = Some(dry_run.to_vec());
            }
        }
        Ok(self.asked)
    }

    fn related(&mut self) -> Result<(), String> {
        let relation = self.text("relation").unwrap_or_default().to_owned();
        self.command(&relation).budget().option("kinds");
        if relation == "cycles" {
            return match self.given.get("files").or_else(|| self.given.get("depth")) {
                Some(_) => Err("`cycles` takes neither `files` nor `depth`".to_owned()),
                None => Ok(()),
            };
        }
        if let Some(depth) = self.given.get("depth").and_then(integer) {
            // Larger than any graph, so that larger numbers mean the same.
            self.asked.arguments.push(format!("--depth={}", depth.min(u64::from(u32::MAX))));
        }
        self.files(|path| path)
    }

    fn context(&mut self) -> Result<(), String> {
        let ways = ["about", "log", "at", "symbol", "focus", "changed"];
        let is_given =
            |name: &&str| self.given.get(*name).is_some_and(|value| value.as_array().is_none_or(|all| !all.is_empty()));
        if !ways.iter().any(is_given) {
            return Err(format!("say what is needed: give one of {}", ways.map(|name| format!("`{name}`")).join(", ")));
        }
        self.command("pack").budget();
        // A leading `@` would be read as the name of a file.
        if let Some(about) = self.text("about") {
            let space = if about.starts_with('@') { " " } else { "" };
            self.asked.arguments.push(format!("--about={space}{about}"));
        }
        if let Some(revision) = self.text("changed") {
            self.asked.arguments.push(format!("--changed={revision}"));
        }
        self.paths_option("focus", |path| path)?;
        self.paths_option("at", without_position)?;
        self.paths_option("symbol", without_name)?;
        if let Some(log) = self.text("log") {
            self.asked.stdin = log.as_bytes().to_vec();
            self.positional(vec!["-".to_owned()]);
        }
        Ok(())
    }

    fn text(&self, name: &str) -> Option<&'a str> {
        self.given.get(name).and_then(Value::as_str)
    }

    fn texts(&self, name: &str) -> Vec<String> {
        let values = self.given.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        values.iter().filter_map(Value::as_str).map(str::to_owned).collect()
    }

    fn command(&mut self, name: &str) -> &mut Self {
        self.asked.arguments.push(name.to_owned());
        self
    }

    fn budget(&mut self) -> &mut Self {
        self.asked.arguments.push(format!("--budget={}", self.asked.budget));
        self
    }

    fn option(&mut self, name: &str) -> &mut Self {
        if let Some(value) = self.text(name) {
            self.asked.arguments.push(format!("--{name}={value}"));
        }
        self
    }

    fn flag(&mut self, name: &str) -> &mut Self {
        if self.given.get(name) == Some(&Value::Bool(true)) {
            self.asked.arguments.push(format!("--{name}"));
        }
        self
    }

    fn positional(&mut self, values: Vec<String>) -> &mut Self {
        self.asked.arguments.push("--".to_owned());
        self.asked.arguments.extend(values);
        self
    }

    fn paths_option(&mut self, name: &str, path_of: fn(&str) -> &str) -> Result<(), String> {
        for value in self.texts(name) {
            confined(path_of(&value))?;
            self.asked.paths.push(path_of(&value).to_owned());
            self.asked.arguments.push(format!("--{name}={value}"));
        }
        Ok(())
    }

    fn files(&mut self, path_of: fn(&str) -> &str) -> Result<(), String> {
        let files = self.texts("files");
        if files.is_empty() {
            return Err("`files` names no file".to_owned());
        }
        files.iter().try_for_each(|file| confined(path_of(file)))?;
        self.asked.paths.extend(files.iter().map(|file| path_of(file).to_owned()));
        self.positional(files);
        Ok(())
    }
}

/// The file of `FILE#Name` and `FILE:FROM-TO`.
fn without_part(value: &str) -> &str {
    TypedText::parse(value).file
}

/// The file of `FILE#Name`. Values in another form are checked here as a whole, and refused by the command.
fn without_name(value: &str) -> &str {
    TypedSymbol::parse(value).map_or(value, |symbol| symbol.file)
}

/// The file of `FILE:LINE:COL`. Other forms as above.
fn without_position(value: &str) -> &str {
    TypedPlace::parse(value).map_or(value, |place| place.file)
}

/// Refuses paths that lie outside the repository by their spelling, without a stat.
fn confined(path: &str) -> Result<(), String> {
    if path.is_empty() {
        return Err("a path is empty: name a file of the repository".to_owned());
    }
    let mut depth = 0_usize;
    let is_absolute = path.starts_with(['/', '\\']) || path.as_bytes().get(1) == Some(&b':');
    let leaves = path.split(['/', '\\']).any(|name| match name {
        "" | "." => false,
        ".." if depth == 0 => true,
        ".." => {
            depth -= 1;
            false
        }
        _ => {
            depth += 1;
            false
        }
    });
    if is_absolute || leaves {
        return Err(format!("`{path}` is outside the repository; name a path relative to its root"));
    }
    if path.contains('\0') { Err("a path has no NUL byte".to_owned()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(tool: &str, arguments: Value) -> String {
        let Value::Object(arguments) = arguments else { panic!("an object") };
        match asked(tool, &arguments) {
            None => "no such tool".to_owned(),
            Some(Err(message)) => format!("error: {message}"),
            Some(Ok(asked)) => asked.arguments.join(" "),
        }
    }

    #[test]
    fn each_tool_is_a_command() {
        for (tool, arguments, expected) in [
            ("overview", json!({}), "map --budget=4000"),
            (
                "overview",
                json!({ "focus": ["src"], "level": "folder", "budget": 9 }),
                "map --budget=9 --level=folder --focus=src",
            ),
            (
                "related",
                json!({ "relation": "deps", "files": ["a.ts"], "depth": 2 }),
                "deps --budget=4000 --depth=2 -- a.ts",
            ),
            ("related", json!({ "relation": "cycles" }), "cycles --budget=4000"),
            ("context", json!({ "about": "@x", "at": ["a.ts:3:4"] }), "pack --budget=4000 --about= @x --at=a.ts:3:4"),
            ("context", json!({ "log": "a.ts(1,2): error" }), "pack --budget=4000 -- -"),
            ("read", json!({ "files": ["a.ts#f", "-x"] }), "read --budget=4000 -- a.ts#f -x"),
            ("read", json!({ "files": ["a.ts:3-9"] }), "read --budget=4000 -- a.ts:3-9"),
            ("find", json!({ "words": "two words" }), "find --budget=4000 -- two words"),
            ("find", json!({ "symbol": "Name" }), "symbol --budget=4000 -- Name"),
            ("find", json!({ "symbol": "Name", "budget": 1e3, "words": null }), "symbol --budget=1000 -- Name"),
            ("find", json!({ "words": "Name", "symbol": "", "since": "" }), "find --budget=4000 -- Name"),
            (
                "related",
                json!({ "relation": "dependents", "files": ["a"], "depth": u64::MAX }),
                "dependents --budget=4000 --depth=4294967295 -- a",
            ),
            ("check", json!({ "reply": "hi", "seen": true }), "check --seen -- -"),
            ("fly", json!({}), "no such tool"),
        ] {
            assert_eq!(line(tool, arguments), expected, "{tool}");
        }
    }

    #[test]
    fn all_schemas_together_cost_a_model_little() {
        let tokens = stan_engine::tokens::Tokenizer::O200k.count(list().to_string().as_bytes());
        assert!(tokens <= 1_500, "{tokens} tokens");
    }

    #[test]
    fn wrong_arguments_are_named() {
        for (tool, arguments, expected) in [
            ("related", json!({}), "error: `relation` is missing; expected: deps, dependents, cycles"),
            (
                "related",
                json!({ "relation": "up" }),
                "error: `relation` is not valid; expected: deps, dependents, cycles",
            ),
            ("related", json!({ "relation": "deps" }), "error: `files` names no file"),
            ("read", json!({ "files": "a" }), "error: `files` is not valid; expected: array of strings"),
            ("find", json!({}), "error: give either `words` or `symbol`"),
            ("find", json!({ "words": null }), "error: give either `words` or `symbol`"),
            ("read", json!({ "files": ["a"], "budget": -1 }), "error: `budget` is not valid; expected: integer"),
            ("read", json!({ "files": ["a"], "budget": 1.5 }), "error: `budget` is not valid; expected: integer"),
            (
                "context",
                json!({ "focus": [] }),
                "error: say what is needed: give one of `about`, `log`, `at`, `symbol`, `focus`, `changed`",
            ),
            (
                "find",
                json!({ "word": "a" }),
                "error: there is no argument `word`, did you mean `words`?; this tool takes budget, since, symbol, words",
            ),
            (
                "read",
                json!({ "zzzzzz": "a", "files": ["a"] }),
                "error: there is no argument `zzzzzz`; this tool takes budget, files, level, since",
            ),
            ("check", json!({ "reply": null }), "error: `reply` is missing"),
            ("find", json!({ "words": "", "symbol": "" }), "error: give either `words` or `symbol`"),
        ] {
            assert_eq!(line(tool, arguments), expected, "{tool}");
        }
    }

    #[test]
    fn paths_out_of_the_repository_are_refused_by_their_spelling() {
        for path in ["/etc/passwd", "../x", "a/../../x", "C:\\x", "\\\\host\\x", "a\\..\\..\\x"] {
            let refused = line("read", json!({ "files": [path] }));
            assert!(refused.contains("outside the repository"), "{path}: {refused}");
            let refused = line("read", json!({ "files": [format!("{path}:1-2")] }));
            assert!(refused.contains("outside the repository"), "{path}: {refused}");
            let refused = line("context", json!({ "at": [format!("{path}:1:2")] }));
            assert!(refused.contains("outside the repository"), "{path}: {refused}");
        }
        assert_eq!(line("read", json!({ "files": ["a/../b"] })), "read --budget=4000 -- a/../b");
    }
}
