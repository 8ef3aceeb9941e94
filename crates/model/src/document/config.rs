//! The words of the configuration file that other documents share.

use serde::{Deserialize, Serialize};

/// Which nodes of the map carry the hash of their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum MetaHashes {
    /// Every file.
    #[default]
    All,
    /// Only what staging must verify.
    External,
}

impl MetaHashes {
    pub const EVERY: [Self; 2] = [Self::All, Self::External];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::External => "external",
        }
    }
}
