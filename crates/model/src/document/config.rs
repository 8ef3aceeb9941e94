//! The configuration file: terms that other documents share, and its structure, as far as a JSON Schema needs it.
//!
//! Nothing is deserialised into these types, because the reader needs positions for its messages.

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
    /// None: staging verifies by the private map alone.
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

    /// `stan.config.yml`, `.yaml` or `.json`. Other blocks than `stan-core` belong to other programs.
    #[derive(JsonSchema)]
    pub struct ConfigFile {
        #[schemars(rename = "stan-core")]
        pub stan_core: Option<StanCore>,
    }

    #[derive(JsonSchema)]
    #[schemars(rename_all = "camelCase", deny_unknown_fields)]
    pub struct StanCore {
        /// Folder of stan itself, relative to the root.
        #[schemars(length(min = 1), extend("default" = ".stan"))]
        pub stan_path: Option<String>,
        /// Globs that add files over ignore rules.
        #[schemars(extend("default" = []))]
        pub includes: Option<Vec<Glob>>,
        /// Globs that remove files, over `includes`.
        #[schemars(extend("default" = []))]
        pub excludes: Option<Vec<Glob>>,
        /// Label → files that are staged below `<stanPath>/imports/<label>`.
        #[schemars(extend("default" = {}))]
        pub imports: Option<BTreeMap<String, Option<Globs>>>,
        pub context: Option<ContextSection>,
    }

    #[derive(JsonSchema)]
    #[schemars(rename_all = "camelCase", deny_unknown_fields)]
    pub struct ContextSection {
        /// Which nodes of the map carry the hash of their bytes.
        #[schemars(extend("default" = "all"))]
        pub meta_hashes: Option<MetaHashes>,
        /// The most tokens of the overview; 0 for all of it.
        #[schemars(extend("default" = 16000))]
        pub overview_tokens: Option<u32>,
        /// A map of more tokens is not archived; 0 for no limit.
        #[schemars(extend("default" = 50000))]
        pub meta_tokens: Option<u32>,
        /// The budget of the files directly in the root, at four bytes a token; 0 for no limit.
        #[schemars(extend("default" = 20000))]
        pub root_tokens: Option<u32>,
        /// Characters after which a description is cut.
        #[schemars(range(min = 1), extend("default" = 160))]
        pub description_limit: Option<u32>,
        /// Tags that mark a describing comment; earlier ones win ties.
        #[schemars(inner(regex(pattern = "^@.")), extend("default" = ["@module", "@packageDocumentation"]))]
        pub description_tags: Option<Vec<String>>,
        /// How many hops the imports of externals are followed.
        #[schemars(extend("default" = 0))]
        pub external_depth: Option<u32>,
        /// Whether any file outside the root may be a dependency without consent on the command line.
        #[schemars(extend("default" = true))]
        pub outside_root: Option<bool>,
        /// How many errors a result lists; 0 for all.
        #[schemars(extend("default" = 50))]
        pub max_errors: Option<u32>,
    }

    /// A picomatch glob, dotfiles matched, without extended globs and negation.
    #[derive(JsonSchema)]
    pub struct Glob(#[schemars(length(min = 1))] pub String);

    #[derive(JsonSchema)]
    #[schemars(untagged)]
    pub enum Globs {
        One(Glob),
        Many(Vec<Glob>),
    }
}
