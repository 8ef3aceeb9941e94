//! The laws of the configuration file, as YAML and as JSON.

use stan_engine::config::{Config, ConfigError, Position, parse};
use stan_repo::{PathGlobs, RootedGlob};

/// Any text is a configuration, or is refused with findings whose positions exist. A configuration is valid: its paths stay
/// inside the root, its globs compile. If both parsers accept a text, their results are equal.
pub fn law(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let [yaml, json] = ["x.yml", "x.json"].map(|name| {
        let read = parse(text, name);
        assert_eq!(read, parse(text, name), "the same text is read the same way");
        match &read {
            Ok(config) => check_config(config),
            Err(error) => check_findings(text, error),
        }
        read
    });
    if let (Ok(yaml), Ok(json)) = (yaml, json) {
        assert_eq!(yaml, json, "JSON is YAML");
    }
}

fn check_config(config: &Config) {
    let mut again = config.clone();
    assert_eq!(again.set_stan_path(&config.stan_path), Ok(()), "{:?}", config.stan_path);
    assert_eq!(&again, config, "the folder has one spelling");
    assert!(
        config.stan_path.split('/').all(|name| !matches!(name, "" | "." | ".." | ".git")),
        "{:?}",
        config.stan_path
    );
    for glob in config.includes.iter().chain(&config.excludes) {
        assert!(PathGlobs::check(glob).is_ok(), "{glob:?}");
    }
    for (label, globs) in &config.imports {
        assert!(label.split('/').all(|name| !matches!(name, "" | "." | "..")), "{label:?}");
        assert!(globs.iter().all(|glob| RootedGlob::new(glob).is_ok()), "{globs:?}");
    }
    let tags = &config.context.description_tags;
    assert!(tags.iter().all(|tag| tag.len() > 1 && tag.starts_with('@')), "{tags:?}");
}

fn check_findings(text: &str, error: &ConfigError) {
    assert!((1..=50).contains(&error.findings.len()), "{} findings", error.findings.len());
    // For YAML a single CR ends a line, for JSON it does not: columns are those of the longer lines.
    let lines: Vec<&str> = text.split(['\n', '\r']).collect();
    let longest = text.split('\n').map(|line| line.chars().count()).max().unwrap_or(0);
    for finding in &error.findings {
        assert!(!finding.message.is_empty());
        let Position { line, column } = finding.place.expect("a mistake in a text has a place");
        assert!((1..=lines.len() + 1).contains(&(line as usize)), "line {line} of {}: {error}", lines.len());
        assert!((1..=longest + 2).contains(&(column as usize)), "column {column} of {longest}: {error}");
    }
}
