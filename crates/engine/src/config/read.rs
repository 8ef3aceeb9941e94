//! From the tree of a configuration file to a `Config`: strict about every key of the block `stan-core`, and ignoring all other
//! blocks. All mistakes are reported at once.

use std::collections::{BTreeMap, BTreeSet};
use std::num::IntErrorKind;

use stan_model::document::config::MetaHashes;
use stan_repo::{PathGlobs, RootedGlob};

use super::error::{Finding, visible};
use super::nearest::nearest;
use super::stan_path::{label_refusal, stan_path};
use super::tree::{Field, Node, Position, Value};
use super::{Config, ContextConfig};

/// The block of this program.
pub(super) const BLOCK: &str = "stan-core";
pub(super) const KEYS: [&str; 5] = ["stanPath", "includes", "excludes", "imports", "context"];
pub(super) const CONTEXT_KEYS: [&str; 9] = [
    "metaHashes",
    "overviewTokens",
    "metaTokens",
    "rootTokens",
    "descriptionLimit",
    "descriptionTags",
    "externalDepth",
    "outsideRoot",
    "maxErrors",
];

/// The block of another program, of which only the scripts are read; nothing in it is an error.
const SCRIPTS_BLOCK: &str = "stan-cli";

/// The expected value in a list of globs, for messages.
const GLOB: &str = "a glob";

/// Further mistakes are not reported.
const MAX_FINDINGS: usize = 50;
/// Longer lists are generated, not written by hand, and each glob costs memory.
const MAX_GLOBS: usize = 1_000;

/// The configuration, and whether the file has our block; or all its mistakes.
pub(super) fn read(root: Option<&Node>) -> Result<(Config, bool), Vec<Finding>> {
    let mut reader = ConfigReader::default();
    let mut config = Config::default();
    let mut has_block = false;
    match root.map(|node| (&node.value, node)) {
        None | Some((Value::Nothing, _)) => {}
        Some((Value::Map(fields), _)) => {
            reader.refuse_repeated(fields, "");
            for field in fields {
                if field.key == BLOCK {
                    has_block = true;
                    reader.block(&field.node, &mut config);
                } else {
                    reader.near_block(field);
                    if field.key == SCRIPTS_BLOCK {
                        config.scripts = scripts(&field.node);
                    }
                }
            }
        }
        Some((_, node)) => reader.find(node.place, format!("the file must be a map of blocks, found {}", shown(node))),
    }
    reader.findings.sort_by_key(|finding| finding.place);
    if reader.findings.is_empty() { Ok((config, has_block)) } else { Err(reader.findings) }
}

/// The commands under `stan-cli.scripts`: a text, or a map with the text under `script`.
fn scripts(block: &Node) -> BTreeMap<String, String> {
    let fields = |node: &'_ Node, key: &str| match &node.value {
        Value::Map(fields) => fields.iter().find(|field| field.key == key).map(|field| field.node.clone()),
        _ => None,
    };
    let Some(Value::Map(listed)) = fields(block, "scripts").map(|node| node.value) else { return BTreeMap::new() };
    let command = |node: &Node| match &node.value {
        Value::Text(text) => Some(text.clone()),
        _ => fields(node, "script").and_then(|node| match node.value {
            Value::Text(text) => Some(text),
            _ => None,
        }),
    };
    let is_name = |name: &str| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
    };
    let named = listed.iter().filter(|field| is_name(&field.key) && !field.key.bytes().all(|byte| byte == b'.'));
    named.filter_map(|field| command(&field.node).map(|command| (field.key.clone(), command))).collect()
}

#[derive(Default)]
struct ConfigReader {
    findings: Vec<Finding>,
}

impl ConfigReader {
    fn find(&mut self, place: Position, message: String) {
        if self.findings.len() < MAX_FINDINGS {
            self.findings.push(Finding { place: Some(place), message });
        }
    }

    fn wrong(&mut self, node: &Node, key: &str, expected: &str) {
        let message = match &node.value {
            Value::Unsupported(what) => {
                format!(
                    "`{key}` is {what}, which `{BLOCK}` does not take; write the value out, with quotes if it is a text"
                )
            }
            // Without quotes, `{a,b}` and `[id]` are a map and a list in YAML.
            Value::Map(_) | Value::List(_) if expected == GLOB => {
                format!("`{key}` must be {expected}, found {}; put quotes around a glob that starts so", shown(node))
            }
            _ => format!("`{key}` must be {expected}, found {}", shown(node)),
        };
        self.find(node.place, message);
    }

    /// A block called `stan_core` or `stancore` is a typing error for ours; ignoring it would silently lose the settings.
    fn near_block(&mut self, field: &Field) {
        let letters = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).collect::<String>().to_lowercase();
        if letters(&field.key) == letters(BLOCK) {
            self.find(field.place, format!("unknown block `{}`; did you mean `{BLOCK}`?", visible(&field.key)));
        }
    }

    fn refuse_repeated(&mut self, fields: &[Field], prefix: &str) {
        let mut seen = BTreeMap::new();
        for field in fields {
            if let Some(line) = seen.get(field.key.as_str()) {
                let key = visible(&field.key);
                self.find(field.place, format!("`{prefix}{key}` is given twice, first in line {line}; remove one"));
            } else {
                seen.insert(field.key.as_str(), field.place.line);
            }
        }
    }

    /// The fields of a map, after reporting the repeated and unknown ones.
    fn fields<'n>(&mut self, node: &'n Node, path: &str, known: &[&str]) -> &'n [Field] {
        let fields = match &node.value {
            Value::Map(fields) => fields.as_slice(),
            Value::Nothing => &[],
            _ => {
                self.wrong(node, path, "a map of keys and values");
                &[]
            }
        };
        self.refuse_repeated(fields, &format!("{path}."));
        for field in fields {
            if !known.is_empty() && !known.contains(&field.key.as_str()) {
                let key = visible(&field.key);
                let help = match nearest(&field.key, known) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("known here are {}", list(known)),
                };
                self.find(field.place, format!("unknown key `{path}.{key}`; {help}"));
            }
        }
        fields
    }

    fn block(&mut self, node: &Node, config: &mut Config) {
        for Field { key, node, .. } in self.fields(node, BLOCK, &KEYS) {
            if node.value == Value::Nothing {
                continue;
            }
            match key.as_str() {
                "stanPath" => {
                    if let Some(text) = self.text(node, "stan-core.stanPath", "a text") {
                        match stan_path(text) {
                            Ok(path) => config.stan_path = path,
                            Err(message) => self.find(node.place, message),
                        }
                    }
                }
                "includes" => config.includes = self.globs(node, "stan-core.includes"),
                "excludes" => config.excludes = self.globs(node, "stan-core.excludes"),
                "imports" => config.imports = self.imports(node),
                "context" => self.context(node, &mut config.context),
                _ => {}
            }
        }
    }

    fn context(&mut self, node: &Node, context: &mut ContextConfig) {
        for Field { key, node, .. } in self.fields(node, "stan-core.context", &CONTEXT_KEYS) {
            if node.value == Value::Nothing {
                continue;
            }
            let path = format!("{BLOCK}.context.{key}");
            match key.as_str() {
                "metaHashes" => self.meta_hashes(node, &path, &mut context.meta_hashes),
                "overviewTokens" => self.tokens(node, &path, &mut context.overview_tokens),
                "metaTokens" => self.tokens(node, &path, &mut context.meta_tokens),
                "rootTokens" => self.tokens(node, &path, &mut context.root_tokens),
                "descriptionLimit" => self.number(node, &path, 1, &mut context.description_limit),
                "descriptionTags" => context.description_tags = self.tags(node, &path),
                "externalDepth" => self.number(node, &path, 0, &mut context.external_depth),
                "maxErrors" => self.number(node, &path, 0, &mut context.max_errors),
                "outsideRoot" => match node.value {
                    Value::Bool(flag) => context.outside_root = flag,
                    _ => self.wrong(node, &path, "`true` or `false`"),
                },
                _ => {}
            }
        }
    }

    fn meta_hashes(&mut self, node: &Node, path: &str, into: &mut MetaHashes) {
        let given = if let Value::Text(text) = &node.value { text.as_str() } else { "" };
        match MetaHashes::EVERY.into_iter().find(|known| known.as_str() == given) {
            Some(known) => *into = known,
            None => self.wrong(node, path, "`all`, `external` or `none`"),
        }
    }

    fn tokens(&mut self, node: &Node, path: &str, into: &mut u64) {
        let mut number = u32::try_from(*into).unwrap_or(u32::MAX);
        self.number(node, path, 0, &mut number);
        *into = u64::from(number);
    }

    /// A whole number, at most 2³² − 1.
    fn number(&mut self, node: &Node, path: &str, least: u32, into: &mut u32) {
        let text = if let Value::Number(text) = &node.value { text.as_str() } else { "" };
        match text.parse::<u32>() {
            Ok(number) if number >= least => *into = number,
            Err(error) if *error.kind() == IntErrorKind::PosOverflow => {
                self.wrong(node, path, &format!("a whole number of at most {}", u32::MAX));
            }
            _ => self.wrong(node, path, &format!("a whole number of {least} or more")),
        }
    }

    fn text<'n>(&mut self, node: &'n Node, path: &str, expected: &str) -> Option<&'n str> {
        if let Value::Text(text) = &node.value {
            return Some(text);
        }
        self.wrong(node, path, expected);
        None
    }

    fn items<'n>(&mut self, node: &'n Node, path: &str, expected: &str) -> &'n [Node] {
        match &node.value {
            Value::List(items) if items.len() > MAX_GLOBS => {
                self.find(node.place, format!("`{path}` has {} entries; at most {MAX_GLOBS} are taken", items.len()));
                &[]
            }
            Value::List(items) => items,
            _ => {
                self.wrong(node, path, expected);
                &[]
            }
        }
    }

    fn globs(&mut self, node: &Node, path: &str) -> Vec<String> {
        let mut globs = Vec::new();
        for (index, item) in self.items(node, path, "a list of globs").iter().enumerate() {
            let path = format!("{path}[{index}]");
            let Some(glob) = self.text(item, &path, GLOB) else { continue };
            match PathGlobs::check(glob) {
                Ok(()) => globs.push(glob.to_owned()),
                Err(error) => self.find(item.place, glob_message(&path, glob, &error.reason)),
            }
        }
        globs
    }

    fn tags(&mut self, node: &Node, path: &str) -> Vec<String> {
        let mut tags = Vec::new();
        for (index, item) in self.items(node, path, "a list of tags such as `@module`").iter().enumerate() {
            let path = format!("{path}[{index}]");
            match self.text(item, &path, "a tag such as `@module`") {
                Some(tag) if is_tag(tag) => tags.push(tag.to_owned()),
                Some(_) => self.wrong(item, &path, "a tag such as `@module`"),
                None => {}
            }
        }
        tags
    }

    fn imports(&mut self, node: &Node) -> BTreeMap<String, Vec<String>> {
        let mut imports = BTreeMap::new();
        let mut places = BTreeMap::new();
        for Field { place, key: label, node } in self.fields(node, "stan-core.imports", &[]) {
            let path = format!("{BLOCK}.imports.{}", visible(label));
            if let Some(reason) = label_refusal(label) {
                let label = visible(label);
                self.find(*place, format!("the import label `{label}` cannot be used, because {reason}"));
                continue;
            }
            let expected = "a glob or a list of globs";
            let items = match &node.value {
                Value::Text(_) => std::slice::from_ref(node),
                Value::Nothing => &[],
                _ => self.items(node, &path, expected),
            };
            let mut globs = Vec::new();
            for (index, item) in items.iter().enumerate() {
                let path = if items.len() == 1 { path.clone() } else { format!("{path}[{index}]") };
                let Some(glob) = self.text(item, &path, GLOB) else { continue };
                match RootedGlob::new(glob) {
                    Ok(_) => globs.push(glob.to_owned()),
                    Err(error) => self.find(item.place, glob_message(&path, glob, &error.reason)),
                }
            }
            imports.insert(label.clone(), globs);
            places.insert(label.as_str(), *place);
        }
        self.refuse_nested(&places);
        imports
    }

    /// A folder belongs to one label; otherwise files of one label would be removed as leftovers of the other.
    fn refuse_nested(&mut self, labels: &BTreeMap<&str, Position>) {
        let names: BTreeSet<&str> = labels.keys().copied().collect();
        for (label, place) in labels {
            let outer = label.match_indices('/').filter_map(|(at, _)| label.get(..at)).find(|at| names.contains(at));
            if let Some(outer) = outer {
                let (label, outer) = (visible(label), visible(outer));
                let message = format!(
                    "the import label `{label}` is a folder inside that of `{outer}`; give them separate folders"
                );
                self.find(*place, message);
            }
        }
    }
}

fn is_tag(text: &str) -> bool {
    text.strip_prefix('@').is_some_and(|name| {
        !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ':'))
    })
}

fn glob_message(path: &str, glob: &str, reason: &str) -> String {
    format!("the glob `{}` in `{path}` cannot be used, because {reason}", visible(glob))
}

fn list(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// A value as shown in messages.
fn shown(node: &Node) -> String {
    const MAX_SHOWN: usize = 60;
    match &node.value {
        Value::Nothing => "nothing".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(text) => text.chars().take(MAX_SHOWN).collect(),
        Value::Text(text) if text.chars().count() > MAX_SHOWN => {
            format!("{:?}…", text.chars().take(MAX_SHOWN).collect::<String>())
        }
        Value::Text(text) => format!("{text:?}"),
        Value::List(_) => "a list".to_owned(),
        Value::Map(_) => "a map".to_owned(),
        Value::Unsupported(what) => (*what).to_owned(),
    }
}
