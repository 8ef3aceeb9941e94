//! The problems of a configuration, one for each mistake.

use std::fmt;

use stan_model::Untrusted;

use super::tree::Position;

/// A mistake in a configuration file, or a problem with finding one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// `None` if the problem has no position in the file.
    pub place: Option<Position>,
    /// What is wrong and what to do, as one sentence without a full stop.
    pub message: String,
}

/// Why a configuration cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// The file as shown to the user; empty if the problem is not about a file.
    pub file: String,
    /// At least one, in file order.
    pub findings: Vec<Finding>,
}

impl ConfigError {
    pub(super) fn new(file: impl Into<String>, message: impl Into<String>) -> Self {
        Self { file: file.into(), findings: vec![Finding { place: None, message: message.into() }] }
    }

    pub(super) fn at(file: &str, place: Position, message: impl Into<String>) -> Self {
        Self { file: file.to_owned(), findings: vec![Finding { place: Some(place), message: message.into() }] }
    }
}

impl ConfigError {
    /// One line per finding: `stan.config.yml:7:5: what is wrong`. Separate, because joined lines could not be
    /// distinguished from a line break in the name of the file.
    pub fn lines(&self) -> Vec<String> {
        let file = &self.file;
        let line = |Finding { place, message }: &Finding| match place {
            _ if file.is_empty() => message.clone(),
            Some(Position { line, column }) => format!("{file}:{line}:{column}: {message}"),
            None => format!("{file}: {message}"),
        };
        self.findings.iter().map(line).collect()
    }
}

impl std::error::Error for ConfigError {}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.lines().join("\n"))
    }
}

/// A text of the configuration for a message.
pub(crate) fn visible(text: &str) -> String {
    Untrusted::new(text).to_string()
}
