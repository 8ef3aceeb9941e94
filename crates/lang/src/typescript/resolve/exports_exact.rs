//! `exports` and `imports` by Node's rule: the first condition that applies decides, present or not. Used for what
//! TypeScript does not resolve, and to list every target that a subpath may have.

use crate::jsonc::Value;

/// Conditions of `require` in current Node.
const NODE: [&str; 4] = ["node", "require", "module-sync", "default"];

/// The target path of a subpath (`.`, `./x`) or an import (`#x`) under Node's conditions.
pub(super) fn exact_export(map: &Value, subpath: &str) -> Option<String> {
    let (value, star) = entry(map, subpath)?;
    let target = first_target(value, 0)?;
    Some(target.replace('*', star))
}

/// Every target path of a subpath with the chain of conditions that leads to it, in file order.
pub(super) fn all_targets(map: &Value, subpath: &str) -> Vec<(Vec<String>, String)> {
    let mut found = Vec::new();
    if let Some((value, star)) = entry(map, subpath) {
        collect(value, star, &mut Vec::new(), &mut found);
    }
    found
}

/// The value that a map has for a subpath, and the text that its star stands for.
fn entry<'m, 's>(map: &'m Value, subpath: &'s str) -> Option<(&'m Value, &'s str)> {
    let Value::Object(entries) = map else { return (subpath == ".").then_some((map, "")) };
    if !entries.iter().any(|(key, _)| key.starts_with(['.', '#'])) {
        return (subpath == ".").then_some((map, ""));
    }
    // Node refuses a map that mixes subpaths and conditions.
    if !entries.iter().all(|(key, _)| key.starts_with(['.', '#'])) {
        return None;
    }
    if let Some(value) = map.get(subpath) {
        return Some((value, ""));
    }
    // The longest text before the star wins, then the longest key.
    let mut best: Option<((usize, usize), &Value, &str)> = None;
    for (key, value) in entries {
        if let Some((prefix, suffix)) = key.split_once('*')
            && subpath.len() >= prefix.len() + suffix.len()
            && subpath.starts_with(prefix)
            && subpath.ends_with(suffix)
            && best.is_none_or(|(lengths, ..)| (prefix.len(), key.len()) > lengths)
        {
            best = Some(((prefix.len(), key.len()), value, &subpath[prefix.len()..subpath.len() - suffix.len()]));
        }
    }
    best.map(|(_, value, star)| (value, star))
}

fn first_target(value: &Value, depth: usize) -> Option<&str> {
    match value {
        _ if depth > 64 => None,
        Value::String(target) => Some(target),
        Value::Array(alternatives) => alternatives.iter().find_map(|inner| first_target(inner, depth + 1)),
        Value::Object(conditions) => {
            let (_, inner) = conditions.iter().find(|(condition, _)| NODE.contains(&&**condition))?;
            first_target(inner, depth + 1)
        }
        _ => None,
    }
}

fn collect(value: &Value, star: &str, chain: &mut Vec<String>, found: &mut Vec<(Vec<String>, String)>) {
    if chain.len() > 16 || found.len() > 256 {
        return;
    }
    match value {
        Value::String(target) => found.push((chain.clone(), target.replace('*', star))),
        Value::Array(alternatives) => alternatives.iter().for_each(|inner| {
            // An array inside an array is not a real manifest; its depth is bounded by the reader.
            if !matches!(inner, Value::Array(_)) {
                collect(inner, star, chain, found);
            }
        }),
        Value::Object(conditions) => {
            for (condition, inner) in conditions {
                chain.push(condition.to_string());
                collect(inner, star, chain, found);
                chain.pop();
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(text: &str) -> Value {
        crate::jsonc::parse(text).value
    }

    #[test]
    fn the_first_condition_that_applies_decides() {
        let exports =
            map(r#"{".": {"import": "./i.mjs", "require": "./r.cjs", "default": "./d.js"}, "./*.css": "./css/*.css"}"#);
        assert_eq!(exact_export(&exports, "."), Some("./r.cjs".into()));
        assert_eq!(exact_export(&exports, "./a/b.css"), Some("./css/a/b.css".into()));
        assert_eq!(exact_export(&exports, "./c"), None);
        assert_eq!(exact_export(&map(r#""./m.js""#), "."), Some("./m.js".into()));
        assert_eq!(exact_export(&map(r#"{".": "./m.js", "import": "./i.js"}"#), "."), None);
        let patterns = map(r#"{"./a/*": "./b/*", "./a/*/x": "./c/*.js"}"#);
        assert_eq!(exact_export(&patterns, "./a/k/x"), Some("./c/k.js".into()));
    }

    #[test]
    fn all_targets_name_their_conditions() {
        let exports = map(r#"{".": {"source": "./src/i.ts", "import": {"types": "./d.ts", "default": "./d.js"}}}"#);
        let found: Vec<String> = all_targets(&exports, ".")
            .into_iter()
            .map(|(chain, target)| format!("{}={target}", chain.join("+")))
            .collect();
        assert_eq!(found, ["source=./src/i.ts", "import+types=./d.ts", "import+default=./d.js"]);
    }
}
