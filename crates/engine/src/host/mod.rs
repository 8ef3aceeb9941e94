//! The engine for host programs: one function, from the name of a verb and its options as JSON to the result as JSON. The Node
//! package is such a host. All logic is here, so that every host gives the same answers as the command line.
//!
//! `dependency_graph.rs`, `selection.rs` and `meta.rs` answer in the format of stan-context 0.6, which hosts already read;
//! `verbs.rs` has the verbs of this engine, with the reports of their `--json`.

mod dependency_graph;
mod documented;
mod error;
mod loose_graph;
mod meta;
mod place;
mod previous_graph;
mod selection;
mod specifier_ids;
#[cfg(test)]
mod tests;
mod verbs;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::engine::Engine;
use crate::package_caches::PackageCaches;

pub use error::HostError;

/// The most bytes of options that are read. A graph of 50,000 modules in `previousGraph` takes about 20 MB.
const MAX_OPTIONS_BYTES: usize = 1 << 30;

/// Data of the host process that the engine does not look up itself.
#[derive(Clone, Debug, Default)]
pub struct HostEnvironment {
    /// The absolute folder where programs of this user store state.
    pub state_directory: Option<String>,
    /// The download folders of this user's package managers.
    pub package_caches: PackageCaches,
}

/// A verb that hosts can call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostVerb {
    GenerateDependencyGraph,
    SummarizeDependencySelection,
    EncodeDependencyMeta,
    DescribeModule,
    Pack,
    Overview,
    Suggest,
    Select,
    Verify,
}

impl HostVerb {
    pub const ALL: [Self; 9] = [
        Self::GenerateDependencyGraph,
        Self::SummarizeDependencySelection,
        Self::EncodeDependencyMeta,
        Self::DescribeModule,
        Self::Pack,
        Self::Overview,
        Self::Suggest,
        Self::Select,
        Self::Verify,
    ];

    /// The name that hosts use.
    pub fn name(self) -> &'static str {
        match self {
            Self::GenerateDependencyGraph => "generateDependencyGraph",
            Self::SummarizeDependencySelection => "summarizeDependencySelection",
            Self::EncodeDependencyMeta => "encodeDependencyMeta",
            Self::DescribeModule => "describeModule",
            Self::Pack => "pack",
            Self::Overview => "overview",
            Self::Suggest => "suggest",
            Self::Select => "select",
            Self::Verify => "verify",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|verb| verb.name() == name)
    }
}

/// Runs a verb. Options and answer are JSON documents.
pub fn call(
    engine: &Engine<'_>,
    environment: &HostEnvironment,
    verb: &str,
    options: &str,
) -> Result<String, HostError> {
    let known = HostVerb::from_name(verb);
    let verb = known.ok_or_else(|| HostError::usage(format!("there is no verb {verb:?}")))?;
    if options.len() > MAX_OPTIONS_BYTES {
        return Err(HostError::usage(format!("the options of {} are longer than 1 GiB", verb.name())));
    }
    match verb {
        HostVerb::GenerateDependencyGraph => dependency_graph::run(engine, environment, options),
        HostVerb::SummarizeDependencySelection => selection::run(options),
        HostVerb::EncodeDependencyMeta => meta::run(options),
        HostVerb::DescribeModule => documented::run(engine, options),
        HostVerb::Pack => verbs::pack(engine, environment, options),
        HostVerb::Overview => verbs::overview(engine, environment, options),
        HostVerb::Suggest => verbs::suggest(engine, environment, options),
        HostVerb::Select => verbs::select(engine, environment, options),
        HostVerb::Verify => verbs::verify(engine, environment, options),
    }
}

/// Parses options with a fixed set of keys.
fn read<T: DeserializeOwned>(options: &str) -> Result<T, HostError> {
    serde_json::from_str(options).map_err(|error| HostError::usage(format!("the options cannot be read: {error}")))
}

/// Parses options whose keys belong to two types: those in `names`, and the rest.
fn split<A: DeserializeOwned, B: DeserializeOwned>(options: &str, names: &[&str]) -> Result<(A, B), HostError> {
    let all: Map<String, Value> = read(options)?;
    let (first, second): (Map<_, _>, Map<_, _>) = all.into_iter().partition(|(key, _)| names.contains(&key.as_str()));
    Ok((from_fields(first)?, from_fields(second)?))
}

fn from_fields<T: DeserializeOwned>(fields: Map<String, Value>) -> Result<T, HostError> {
    serde_json::from_value(Value::Object(fields))
        .map_err(|error| HostError::usage(format!("the options cannot be read: {error}")))
}

fn written(result: &impl serde::Serialize) -> Result<String, HostError> {
    serde_json::to_string(result).map_err(|error| HostError::internal(error.to_string()))
}
