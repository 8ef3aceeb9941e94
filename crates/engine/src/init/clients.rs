//! The configuration files of MCP clients: `stan mcp` is put in as a server, and taken out again. Bytes in, bytes out. What
//! else the file holds is never changed, comments and order included: the entry is inserted as text, and taking it out gives
//! back the bytes from before. JSON has no comments, so the entry itself is the marker there.

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

/// What becomes of a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Edit {
    /// It is as wanted.
    Unchanged,
    Bytes(Vec<u8>),
    /// There is nothing but the entry in it.
    Remove,
}

/// Why a file cannot be edited.
pub(super) type Reason = String;

const BEGIN: &str = "# stan:begin\n";
const END: &str = "# stan:end\n";

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

    /// The object that holds the servers.
    fn container(self) -> &'static str {
        if self == Self::Vscode { "servers" } else { "mcpServers" }
    }

    fn server(self) -> &'static str {
        match self {
            Self::Vscode => r#"{ "type": "stdio", "command": "stan", "args": ["mcp"] }"#,
            _ => r#"{ "command": "stan", "args": ["mcp"] }"#,
        }
    }

    /// The file when there is nothing else in it.
    fn whole(self) -> String {
        if self == Self::Codex {
            return format!("{BEGIN}[mcp_servers.stan]\ncommand = \"stan\"\nargs = [\"mcp\"]\n{END}");
        }
        format!("{{\n  \"{}\": {{{}\n  }}\n}}\n", self.container(), self.entry())
    }

    /// The entry in an object of servers.
    fn entry(self) -> String {
        format!("\n    \"stan\": {}", self.server())
    }

    /// The object of servers, for a document without one.
    fn field(self) -> String {
        format!("\n  \"{}\": {{{}\n  }}", self.container(), self.entry())
    }

    pub(super) fn add(self, before: Option<&[u8]>) -> Result<Edit, Reason> {
        let Some(before) = before else { return Ok(Edit::Bytes(self.whole().into_bytes())) };
        let text = std::str::from_utf8(before).map_err(|_| "this is not UTF-8".to_owned())?;
        if self == Self::Codex {
            return Ok(match (text.contains(BEGIN), text.ends_with('\n') || text.is_empty()) {
                (true, _) => Edit::Unchanged,
                (false, true) => Edit::Bytes([text, &self.whole()].concat().into_bytes()),
                (false, false) => Edit::Bytes([text, "\n", &self.whole()].concat().into_bytes()),
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
        let forms = match self {
            Self::Codex => vec![format!("\n{}", self.whole()), self.whole()],
            _ => [self.field(), self.entry()].into_iter().flat_map(|form| [format!("{form},"), form]).collect(),
        };
        match forms.iter().find(|form| text.contains(form.as_str())) {
            None => Edit::Unchanged,
            // The line end before the block was not there when the file had none at its end.
            Some(form) if self == Self::Codex && form.starts_with('\n') => {
                let kept = if text.ends_with(form.as_str()) { "\n" } else { "" };
                Edit::Bytes(text.replacen(form.as_str(), kept, 1).into_bytes())
            }
            Some(form) => Edit::Bytes(text.replacen(form.as_str(), "", 1).into_bytes()),
        }
    }
}

/// Where a value begins in the text.
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
    fn a_server_is_put_in_beside_others_and_taken_out_again() {
        for client in JSON {
            let servers = client.container();
            for before in [
                "{}".to_owned(),
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
    fn a_file_of_our_own_is_removed_whole() {
        for client in [McpClient::Codex, McpClient::Claude] {
            let Ok(Edit::Bytes(bytes)) = client.add(None) else { panic!("created") };
            assert_eq!(client.remove(&bytes), Edit::Remove);
        }
    }

    #[test]
    fn a_block_of_toml_comes_last_and_goes_again() {
        for before in ["", "model = \"x\"\n"] {
            let after = added(McpClient::Codex, before);
            assert!(after.ends_with(END), "{after}");
            let expected = if before.is_empty() { Edit::Remove } else { Edit::Bytes(before.into()) };
            assert_eq!(McpClient::Codex.remove(after.as_bytes()), expected);
        }
    }

    #[test]
    fn what_is_not_plain_json_is_left_to_its_owner() {
        for before in ["// comment\n{}", "[]", "{\"mcpServers\": 3}", ""] {
            assert!(McpClient::Claude.add(Some(before.as_bytes())).is_err(), "{before}");
        }
        assert_eq!(McpClient::Claude.remove(b"{}"), Edit::Unchanged);
    }
}
