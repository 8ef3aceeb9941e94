//! The configuration file: terms that other documents share, and its structure for the JSON Schema.
//!
//! Nothing is deserialised into these types, because the parser needs positions for its messages.

use serde::{Deserialize, Serialize};

/// Which nodes of the map have the hash of their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum MetaHashes {
    /// Every file.
    #[default]
    All,
    /// Only files that staging must verify.
    External,
    /// None: staging verifies with the private map alone.
    None,
}

impl MetaHashes {
    pub const EVERY: [Self; 3] = [Self::All, Self::External, Self::None];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::External => "external",
            Self::None => "none",
        }
    }
}

#[cfg(feature = "schema")]
pub use schema::ConfigFile;

#[cfg(feature = "schema")]
mod schema {
    use std::collections::BTreeMap;

    use schemars::JsonSchema;

    use super::MetaHashes;

    /// `stan.config.yml`, `.yaml` or `.json`. Blocks other than `stan-core` belong to other programs.
    #[derive(JsonSchema)]
    pub struct ConfigFile {
        #[schemars(rename = "stan-core")]
        pub stan_core: Option<StanCore>,
    }

    #[derive(JsonSchema)]
    #[schemars(rename_all = "camelCase", deny_unknown_fields)]
    pub struct StanCore {
        /// The folder of stan itself, relative to the root.
        #[schemars(length(min = 1), extend("default" = ".stan"))]
        pub stan_path: Option<String>,
        /// Globs that add files, overriding ignore rules.
        #[schemars(extend("default" = []))]
        pub includes: Option<Vec<Glob>>,
        /// Globs that remove files, overriding `includes`.
        #[schemars(extend("default" = []))]
        pub excludes: Option<Vec<Glob>>,
        /// Label → globs of files that are staged below `<stanPath>/imports/<label>`.
        #[schemars(extend("default" = {}))]
        pub imports: Option<BTreeMap<String, Option<Globs>>>,
        pub context: Option<ContextSection>,
    }

    #[derive(JsonSchema)]
    #[schemars(rename_all = "camelCase", deny_unknown_fields)]
    pub struct ContextSection {
        /// Which nodes of the map have the hash of their bytes.
        #[schemars(extend("default" = "all"))]
        pub meta_hashes: Option<MetaHashes>,
        /// The maximum tokens of the overview; 0 for no limit.
        #[schemars(extend("default" = 16000))]
        pub overview_tokens: Option<u32>,
        /// Maps of more tokens are not archived; 0 for no limit.
        #[schemars(extend("default" = 50000))]
        pub meta_tokens: Option<u32>,
        /// The budget of the files directly in the root, at four bytes a token; 0 for no limit.
        #[schemars(extend("default" = 20000))]
        pub root_tokens: Option<u32>,
        /// The maximum length of a description, in characters.
        #[schemars(range(min = 1), extend("default" = 160))]
        pub description_limit: Option<u32>,
        /// Tags that mark a describing comment; on a tie, the earlier tag wins.
        #[schemars(inner(regex(pattern = "^@.")), extend("default" = ["@module", "@packageDocumentation"]))]
        pub description_tags: Option<Vec<String>>,
        /// How many levels of imports are followed among external files.
        #[schemars(extend("default" = 0))]
        pub external_depth: Option<u32>,
        /// Whether files outside the root may be dependencies without consent on the command line.
        #[schemars(extend("default" = true))]
        pub outside_root: Option<bool>,
        /// The maximum number of errors in a result; 0 for no limit.
        #[schemars(extend("default" = 50))]
        pub max_errors: Option<u32>,
    }

    /// A picomatch glob that matches dotfiles, without extended globs and negation.
    #[derive(JsonSchema)]
    pub struct Glob(#[schemars(length(min = 1))] pub String);

    #[derive(JsonSchema)]
    #[schemars(untagged)]
    pub enum Globs {
        One(Glob),
        Many(Vec<Glob>),
    }
}
