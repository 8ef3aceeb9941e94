//! What is wrong with a configuration, said once for every mistake in it.

use std::fmt;

/// A mistake in a configuration file, or about finding one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// 1-based line and column, in characters; `None` when the mistake has no place in the file.
    pub place: Option<(u32, u32)>,
    /// What is wrong and what to do, as one sentence without a full stop.
    pub message: String,
}

/// A configuration that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// The file as it is shown to the user; empty when no file is to blame.
    pub file: String,
    /// At least one, in the order of the file.
    pub findings: Vec<Finding>,
}

impl ConfigError {
    pub(super) fn new(file: impl Into<String>, message: impl Into<String>) -> Self {
        Self { file: file.into(), findings: vec![Finding { place: None, message: message.into() }] }
    }

    pub(super) fn at(file: &str, place: (u32, u32), message: impl Into<String>) -> Self {
        Self { file: file.to_owned(), findings: vec![Finding { place: Some(place), message: message.into() }] }
    }
}

impl std::error::Error for ConfigError {}

/// One line per finding: `stan.config.yml:7:5: what is wrong`.
impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, Finding { place, message }) in self.findings.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            if !self.file.is_empty() {
                write!(f, "{}:", self.file)?;
                if let Some((line, column)) = place {
                    write!(f, "{line}:{column}:")?;
                }
                f.write_str(" ")?;
            }
            f.write_str(message)?;
        }
        Ok(())
    }
}

/// A text of the user for a message: control characters would garble a terminal, everything else is shown as it is.
pub(crate) fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    shown
}
