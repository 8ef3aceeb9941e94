//! `exports` and `imports` by Node's rule: the first applicable condition decides, whether or not its file exists. Used for
//! specifiers that TypeScript does not resolve, and to list all targets of a subpath.

use super::package::Mapping;
use crate::jsonc::Value;

/// The conditions of `require` in current Node.
const NODE: [&str; 4] = ["node", "require", "module-sync", "default"];

/// How many values of a map one lookup visits: real maps have a handful per subpath.
const MAX_STEPS: u32 = 1024;

/// The target path of a subpath (`.`, `./x`) or an import (`#x`) under Node's conditions.
pub(super) fn exact_export(map: Mapping<'_>, subpath: &str) -> Option<String> {
    let (value, star) = entry(map, subpath)?;
    let target = first_target(value, 0, &mut { MAX_STEPS })?;
    Some(target.replace('*', star))
}

/// Every target path of a subpath with its chain of conditions, in file order.
pub(super) fn all_targets(map: Mapping<'_>, subpath: &str) -> Vec<(Vec<String>, String)> {
    let mut found = Vec::new();
    if let Some((value, star)) = entry(map, subpath) {
        collect(value, star, &mut Vec::new(), &mut found, &mut { MAX_STEPS });
    }
    found
}

/// The value that a map has for a subpath, and the text that its star matches.
fn entry<'m, 's>(map: Mapping<'m>, subpath: &'s str) -> Option<(&'m Value, &'s str)> {
    let Mapping { value, index } = map;
    if !index.has_subpaths {
        return (subpath == ".").then_some((value, ""));
    }
    // Node rejects a map that mixes subpaths and conditions.
    if !index.all_subpaths {
        return None;
    }
    index.by_node(value, subpath).map(|found| (found.target, found.rest))
}

fn first_target<'v>(value: &'v Value, depth: usize, steps: &mut u32) -> Option<&'v str> {
    *steps = steps.checked_sub(1)?;
    match value {
        _ if depth > 64 => None,
        Value::String(target) => Some(target),
        Value::Array(alternatives) => alternatives.iter().find_map(|inner| first_target(inner, depth + 1, steps)),
        Value::Object(conditions) => {
            let mut conditions = conditions.iter().take(*steps as usize);
            let (_, inner) = conditions.find(|(condition, _)| NODE.contains(&&**condition))?;
            first_target(inner, depth + 1, steps)
        }
        _ => None,
    }
}

fn collect(
    value: &Value,
    star: &str,
    chain: &mut Vec<String>,
    found: &mut Vec<(Vec<String>, String)>,
    steps: &mut u32,
) {
    if chain.len() > 16 || found.len() > 256 || *steps == 0 {
        return;
    }
    *steps -= 1;
    match value {
        Value::String(target) => found.push((chain.clone(), target.replace('*', star))),
        Value::Array(alternatives) => alternatives.iter().take(*steps as usize).for_each(|inner| {
            // Nested arrays occur in no real manifest; their depth is limited by the parser.
            if !matches!(inner, Value::Array(_)) {
                collect(inner, star, chain, found, steps);
            }
        }),
        Value::Object(conditions) => {
            for (condition, inner) in conditions.iter().take(*steps as usize) {
                chain.push(condition.to_string());
                collect(inner, star, chain, found, steps);
                chain.pop();
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::typescript::package_map::PackageMap;

    fn map(text: &str) -> Value {
        crate::jsonc::parse(text).value
    }

    fn exact_export(value: &Value, subpath: &str) -> Option<String> {
        super::exact_export(Mapping { value, index: &PackageMap::new(value) }, subpath)
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
        let found: Vec<String> = all_targets(Mapping { value: &exports, index: &PackageMap::new(&exports) }, ".")
            .into_iter()
            .map(|(chain, target)| format!("{}={target}", chain.join("+")))
            .collect();
        assert_eq!(found, ["source=./src/i.ts", "import+types=./d.ts", "import+default=./d.js"]);
    }
}
