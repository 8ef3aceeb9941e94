//! The policy in `deny.toml`, as far as it is judged here: licences, forbidden crates, tolerated duplicates.
//!
//! One file for two judges: cargo-deny reads it too.

use std::collections::{BTreeMap, BTreeSet};

use toml::{Table, Value};

#[derive(Debug, Default)]
pub(super) struct Policy {
    pub(super) allowed: BTreeSet<String>,
    /// Crate to the licences that it alone may have.
    pub(super) exceptions: BTreeMap<String, BTreeSet<String>>,
    /// Crate to why it must not be here.
    pub(super) forbidden: BTreeMap<String, String>,
    /// Forbidden crate to those that alone may bring it.
    pub(super) wrappers: BTreeMap<String, BTreeSet<String>>,
    /// Versions that may be here beside a newer one, as `name@version`.
    pub(super) tolerated: BTreeSet<String>,
}

impl Policy {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let table: Table = text.parse().map_err(|error: toml::de::Error| format!("deny.toml: {}", error.message()))?;
        let mut policy = Policy { allowed: strings(table_of(&table, "licenses").get("allow")), ..Policy::default() };
        if policy.allowed.is_empty() {
            return Err("deny.toml: `licenses.allow` is missing or empty".to_owned());
        }
        for entry in entries(&table, "licenses", "exceptions") {
            policy.exceptions.insert(crate_of(entry)?, strings(entry.get("allow")));
        }
        for entry in entries(&table, "bans", "deny") {
            let reason = entry.get("reason").and_then(Value::as_str).unwrap_or("no reason given");
            policy.forbidden.insert(crate_of(entry)?, reason.to_owned());
            policy.wrappers.insert(crate_of(entry)?, strings(entry.get("wrappers")));
        }
        for entry in entries(&table, "bans", "skip") {
            policy.tolerated.insert(crate_of(entry)?);
        }
        Ok(policy)
    }
}

fn table_of(table: &Table, key: &str) -> Table {
    table.get(key).and_then(Value::as_table).cloned().unwrap_or_default()
}

fn strings(value: Option<&Value>) -> BTreeSet<String> {
    let items = value.and_then(Value::as_array).into_iter().flatten();
    items.filter_map(|item| item.as_str().map(str::to_owned)).collect()
}

fn entries<'a>(table: &'a Table, section: &str, key: &str) -> impl Iterator<Item = &'a Table> {
    let list = table.get(section).and_then(|section| section.get(key)).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_table)
}

fn crate_of(entry: &Table) -> Result<String, String> {
    let name = entry.get("crate").and_then(Value::as_str);
    let said = || format!("deny.toml: `{entry:?}` names no `crate`");
    name.map(str::to_owned).ok_or_else(said)
}

#[cfg(test)]
mod tests {
    use super::Policy;

    #[test]
    fn every_part_is_read() {
        let text = "[licenses]\nallow = [\"MIT\"]\nexceptions = [{ crate = \"a\", allow = [\"NCSA\"] }]\n\
                    [bans]\ndeny = [{ crate = \"curl\", reason = \"no network\" }]\nskip = [{ crate = \"syn@2.0.1\" }]\n";
        let policy = Policy::parse(text).expect("it is a policy");
        assert!(policy.allowed.contains("MIT") && policy.exceptions["a"].contains("NCSA"));
        assert_eq!(policy.forbidden["curl"], "no network");
        assert!(policy.tolerated.contains("syn@2.0.1"));
    }

    #[test]
    fn what_would_allow_everything_or_nothing_is_refused() {
        assert!(Policy::parse("").is_err_and(|said| said.contains("licenses.allow")));
        assert!(Policy::parse("[licenses").is_err_and(|said| said.starts_with("deny.toml: ")));
        let nameless = "[licenses]\nallow = [\"MIT\"]\n[bans]\ndeny = [{ reason = \"x\" }]\n";
        assert!(Policy::parse(nameless).is_err_and(|said| said.contains("names no `crate`")));
    }
}
