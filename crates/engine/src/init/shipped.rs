//! The shipped texts of `stan init`, adapted to the workspace folder in use. Where they are written is decided elsewhere.

use stan_model::jcs;

/// Placeholder for the workspace folder in the shipped texts.
const PLACEHOLDER: &str = "<stanPath>";

const SYSTEM_DOCUMENT: &str = include_str!("../../assets/stan.system.md");
const AGENTS_BLOCK: &str = include_str!("../../assets/agents.md");
const CONFIG: &str = include_str!("../../assets/stan.config.yml");

/// The assistant's instructions for a repository whose workspace folder is `stan_path`.
pub fn system_document(stan_path: &str) -> String {
    SYSTEM_DOCUMENT.replace(PLACEHOLDER, stan_path)
}

/// The block of AGENTS.md, including its markers, with line feeds.
pub(super) fn agents_block(stan_path: &str) -> String {
    AGENTS_BLOCK.replace(PLACEHOLDER, stan_path)
}

/// A configuration that contains the defaults, and shows the other options.
pub(super) fn config(stan_path: &str) -> String {
    if stan_path == ".stan" {
        return CONFIG.replace(PLACEHOLDER, stan_path);
    }
    // A JSON string is a YAML string too, and never parsed as a number, a boolean or a tag.
    let mut quoted = Vec::new();
    jcs::write_string(stan_path, &mut quoted);
    CONFIG.replace(PLACEHOLDER, &String::from_utf8_lossy(&quoted))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, parse};

    #[test]
    fn the_shipped_configuration_equals_the_defaults() {
        for stan_path in [".stan", "tools/stan", "1.5", "true", "null", "ab: c # d", "it's", "ä \"q\""] {
            let expected = Config { stan_path: stan_path.to_owned(), ..Config::default() };
            assert_eq!(parse(&config(stan_path), "stan.config.yml"), Ok(expected), "{stan_path}");
        }
    }

    #[test]
    fn commented_options_show_the_defaults() {
        let mut keys = 0;
        let uncommented: String = config(".stan")
            .lines()
            .map(|line| {
                let setting = line.strip_prefix("  # ").filter(|rest| {
                    let (key, _) = rest.split_once(':').unwrap_or(("", ""));
                    !key.is_empty() && key.trim_start().chars().all(char::is_alphabetic)
                });
                keys += usize::from(setting.is_some());
                setting.map_or_else(|| line.to_owned(), |setting| format!("  {setting}")) + "\n"
            })
            .collect();
        assert_eq!(parse(&uncommented, "stan.config.yml"), Ok(Config::default()), "{uncommented}");
        assert_eq!(keys, 13, "every key but stanPath: {uncommented}");
    }

    #[test]
    fn no_placeholder_is_left() {
        for text in [system_document("a/b"), agents_block("a/b"), config("a/b")] {
            assert!(!text.contains(PLACEHOLDER) && text.contains("a/b"), "{text}");
            assert!(text.ends_with('\n') && !text.contains('\r') && !text.lines().any(|line| line.ends_with(' ')));
        }
    }
}
