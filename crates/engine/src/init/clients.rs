//! The configuration files of MCP clients: adds `stan mcp` as a server, and removes it again. Bytes in, bytes out. The rest of
//! the file is never changed, including comments and order: the entry is inserted as text, and removing it restores the bytes
//! from before. JSON has no comments, so there the entry itself is the marker.

use serde::Serialize;
use stan_model::json::{JsonKind, JsonTree, NodeId};

/// A program that can use an MCP server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum McpClient {
    Claude,
    Cursor,
    Vscode,
    Codex,
    Gemini,
}

/// What adding or removing the server does to a client's file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Edit {
    /// The file is already as requested.
    Unchanged,
    Bytes(Vec<u8>),
    /// The file contains only the entry.
    Remove,
}

/// Why a file cannot be edited.
pub(super) type Reason = String;

const BEGIN: &str = "# stan:begin";
const END: &str = "# stan:end\n";

/// The first line of a TOML block; it records the state of the file before it.
const PLAIN: &str = "# stan:begin\n";
const WHOLE_FILE: &str = "# stan:begin (all of this file)\n";
const OPEN_END: &str = "\n# stan:begin (the line above had no end)\n";

impl McpClient {
    /// The client's file in a repository.
    pub(super) fn file(self) -> &'static str {
        match self {
            Self::Claude => ".mcp.json",
            Self::Cursor => ".cursor/mcp.json",
            Self::Vscode => ".vscode/mcp.json",
            Self::Codex => ".codex/config.toml",
            Self::Gemini => ".gemini/settings.json",
        }
    }

    /// The key of the object with the servers.
    fn container(self) -> &'static str {
        if self == Self::Vscode { "servers" } else { "mcpServers" }
    }

    fn server(self) -> &'static str {
        match self {
            Self::Vscode => r#"{ "type": "stdio", "command": "stan", "args": ["mcp"] }"#,
            _ => r#"{ "command": "stan", "args": ["mcp"] }"#,
        }
    }

    /// The text of a new file. Its entry has several lines, unlike an entry that is inserted into an existing file, so that
    /// removal can distinguish the two.
    fn whole(self) -> String {
        if self == Self::Codex {
            return block(WHOLE_FILE);
        }
        format!("{{{}\n}}\n", self.long_field(&self.long_entry()))
    }

    fn long_entry(self) -> String {
        let kind = if self == Self::Vscode { "\n      \"type\": \"stdio\"," } else { "" };
        format!("\n    \"stan\": {{{kind}\n      \"command\": \"stan\",\n      \"args\": [\"mcp\"]\n    }}")
    }

    /// The entry in an object of servers.
    fn entry(self) -> String {
        format!("\n    \"stan\": {}", self.server())
    }

    /// The object of servers, for a document without one. On one line, so that removal does not mistake it for an entry inserted
    /// into an empty object.
    fn field(self) -> String {
        format!("\n  \"{}\": {{ \"stan\": {} }}", self.container(), self.server())
    }

    /// The object of servers in a new file.
    fn long_field(self, entry: &str) -> String {
        format!("\n  \"{}\": {{{entry}\n  }}", self.container())
    }

    pub(super) fn add(self, before: Option<&[u8]>) -> Result<Edit, Reason> {
        let Some(before) = before else { return Ok(Edit::Bytes(self.whole().into_bytes())) };
        let text = std::str::from_utf8(before).map_err(|_| "this is not UTF-8".to_owned())?;
        if self == Self::Codex {
            return Ok(match (text.contains(BEGIN), text.ends_with('\n') || text.is_empty()) {
                (true, _) => Edit::Unchanged,
                (false, true) => Edit::Bytes([text, &block(PLAIN)].concat().into_bytes()),
                (false, false) => Edit::Bytes([text, &block(OPEN_END)].concat().into_bytes()),
            });
        }
        let by_hand =
            || format!("this is not plain JSON; add `\"stan\": {}` to `{}` by hand", self.server(), self.container());
        let tree = JsonTree::parse(before).map_err(|_| by_hand())?;
        let root = tree.root();
        if tree.kind(root) != JsonKind::Object {
            return Err(by_hand());
        }
        let (target, insert) = match tree.field(root, self.container()) {
            None => (root, self.field()),
            Some(servers) if tree.kind(servers) != JsonKind::Object => return Err(by_hand()),
            Some(servers) if tree.field(servers, "stan").is_some() => return Ok(Edit::Unchanged),
            Some(servers) => (servers, self.entry()),
        };
        let comma = if tree.fields(target).next().is_some() { "," } else { "" };
        let at = offset(&tree, target, text) + 1;
        Ok(Edit::Bytes([&text[..at], &insert, comma, &text[at..]].concat().into_bytes()))
    }

    pub(super) fn remove(self, before: &[u8]) -> Edit {
        let Ok(text) = std::str::from_utf8(before) else { return Edit::Unchanged };
        if text == self.whole() {
            return Edit::Remove;
        }
        if self == Self::Codex {
            return remove_block(text);
        }
        let entries = [self.entry(), self.long_entry()];
        let forms = [self.field(), self.long_field(&self.long_entry())].into_iter().chain(entries);
        let forms: Vec<String> = forms.flat_map(|form| [format!("{form},"), form]).collect();
        match forms.iter().find(|form| text.contains(form.as_str())) {
            Some(form) => Edit::Bytes(text.replacen(form.as_str(), "", 1).into_bytes()),
            None => self.remove_reformatted(text),
        }
    }

    /// Removes an entry that a JSON formatter has changed.
    fn remove_reformatted(self, text: &str) -> Edit {
        let Ok(tree) = JsonTree::parse(text.as_bytes()) else { return Edit::Unchanged };
        let root = tree.root();
        let servers = (tree.kind(root) == JsonKind::Object).then(|| tree.field(root, self.container())).flatten();
        let servers = servers.filter(|servers| tree.kind(*servers) == JsonKind::Object);
        let Some(servers) = servers else { return Edit::Unchanged };
        let entry = tree.fields(servers).find(|(key, _)| tree.text(*key) == "\"stan\"");
        let Some((key, server)) = entry else { return Edit::Unchanged };
        let is_ours = tree.kind(server) == JsonKind::Object
            && tree.field(server, "command").is_some_and(|command| tree.text(command) == "\"stan\"");
        if !is_ours {
            return Edit::Unchanged;
        }
        let before = text.get(..offset(&tree, key, text)).unwrap_or_default().trim_end();
        let after = behind_object(text.get(offset(&tree, server, text)..).unwrap_or_default());
        // Removes one of the adjacent commas too.
        let rest = match (before.strip_suffix(','), after.trim_start().strip_prefix(',')) {
            (Some(before), _) => [before, after].concat(),
            (None, Some(after)) => [before, after].concat(),
            (None, None) => [before, after.trim_start()].concat(),
        };
        Edit::Bytes(rest.into_bytes())
    }
}

/// The text after the object at the start of a valid JSON text.
fn behind_object(text: &str) -> &str {
    let (mut depth, mut is_string, mut is_escaped) = (0_usize, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_string => is_escaped = true,
            b'"' => is_string = !is_string,
            b'{' | b'[' if !is_string => depth += 1,
            b'}' | b']' if !is_string => {
                depth -= 1;
                if depth == 0 {
                    return text.get(at + 1..).unwrap_or_default();
                }
            }
            _ => {}
        }
    }
    ""
}

/// The lines of TOML.
fn block(begin: &str) -> String {
    format!("{begin}[mcp_servers.stan]\ncommand = \"stan\"\nargs = [\"mcp\"]\n{END}")
}

fn remove_block(text: &str) -> Edit {
    let forms = [OPEN_END, WHOLE_FILE, PLAIN].map(block);
    let Some((at, form)) = forms.iter().find_map(|form| text.find(form.as_str()).map(|at| (at, form))) else {
        return Edit::Unchanged;
    };
    let (before, after) = (text.get(..at).unwrap_or_default(), text.get(at + form.len()..).unwrap_or_default());
    // Text that was added after the block must start on its own line.
    let end = if form.starts_with('\n') && !after.is_empty() { "\n" } else { "" };
    Edit::Bytes([before, end, after].concat().into_bytes())
}

/// The offset of a value in the text.
fn offset(tree: &JsonTree<'_>, value: NodeId, text: &str) -> usize {
    tree.text(value).as_ptr() as usize - text.as_ptr() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    const JSON: [McpClient; 4] = [McpClient::Claude, McpClient::Cursor, McpClient::Vscode, McpClient::Gemini];

    fn added(client: McpClient, before: &str) -> String {
        match client.add(Some(before.as_bytes())) {
            Ok(Edit::Bytes(bytes)) => String::from_utf8(bytes).expect("UTF-8"),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_server_is_added_beside_others_and_removed_again() {
        for client in JSON {
            let servers = client.container();
            for before in [
                "{}".to_owned(),
                "{}\n".to_owned(),
                "{\n}\n".to_owned(),
                "{ }\r\n".to_owned(),
                format!("{{\n  \"{servers}\": {{\n  }}\n}}\n"),
                "{\"theme\": \"dark\"}".to_owned(),
                format!("{{\"{servers}\": {{}}}}"),
                format!(
                    "{{\n  \"b\": 1,\n  \"{servers}\": {{ \"other\": {{ \"command\": \"x\" }} }},\n  \"a\": 2\n}}\n"
                ),
            ] {
                let after = added(client, &before);
                let value: serde_json::Value = serde_json::from_str(&after).expect("still JSON");
                assert_eq!(value[servers]["stan"]["command"], "stan", "{after}");
                assert_eq!(client.add(Some(after.as_bytes())), Ok(Edit::Unchanged), "{after}");
                assert_eq!(client.remove(after.as_bytes()), Edit::Bytes(before.clone().into_bytes()), "{before}");
            }
        }
    }

    #[test]
    fn a_client_file_that_contains_only_our_server_is_deleted() {
        for client in [McpClient::Codex, McpClient::Claude] {
            let Ok(Edit::Bytes(bytes)) = client.add(None) else { panic!("created") };
            assert_eq!(client.remove(&bytes), Edit::Remove);
        }
    }

    #[test]
    fn a_toml_block_is_appended_and_removed_again() {
        for before in ["", "\n", "model = \"x\"\n", "model = \"x\"", "a = 1\r\n"] {
            let after = added(McpClient::Codex, before);
            assert!(after.ends_with(END), "{after}");
            assert_eq!(McpClient::Codex.remove(after.as_bytes()), Edit::Bytes(before.into()), "{before:?}");
            let more = format!("{after}more = 1\n");
            let Edit::Bytes(rest) = McpClient::Codex.remove(more.as_bytes()) else { panic!("{more}") };
            assert!(String::from_utf8_lossy(&rest).ends_with("\nmore = 1\n") || before.is_empty(), "{rest:?}");
        }
    }

    #[test]
    fn an_entry_that_was_reformatted_goes_without_the_rest() {
        for (before, expected) in [
            (r#"{"mcpServers":{"stan":{"command":"stan","args":["mcp"]}}}"#, r#"{"mcpServers":{}}"#),
            (
                r#"{"mcpServers":{"a":{},"stan":{"command":"stan","args":["mcp"]},"b":{}}}"#,
                r#"{"mcpServers":{"a":{},"b":{}}}"#,
            ),
            (r#"{"mcpServers":{"stan":{"command":"stan"} , "b":{}}}"#, r#"{"mcpServers":{ "b":{}}}"#),
        ] {
            assert_eq!(McpClient::Claude.remove(before.as_bytes()), Edit::Bytes(expected.into()), "{before}");
        }
        let other = r#"{"mcpServers":{"stan":{"command":"other"}}}"#;
        assert_eq!(McpClient::Claude.remove(other.as_bytes()), Edit::Unchanged);
    }

    #[test]
    fn configurations_that_are_not_plain_json_are_refused() {
        for before in ["// comment\n{}", "[]", "{\"mcpServers\": 3}", ""] {
            assert!(McpClient::Claude.add(Some(before.as_bytes())).is_err(), "{before}");
        }
        assert_eq!(McpClient::Claude.remove(b"{}"), Edit::Unchanged);
    }
}
