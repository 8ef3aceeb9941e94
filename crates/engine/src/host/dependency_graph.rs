//! `generateDependencyGraph` of stan-context 0.6: its options and its result. The graph is that of `stan graph --json` for the
//! folder without a configuration file: hosts read their own configuration.

use serde::Deserialize;
use stan_graph::{Stats, Summary, write_json};

use super::loose_graph::{HashSizeEnforcement, LooseGraph, size_missing};
use super::place::{CacheChoice, folder, with_threads, work};
use super::previous_graph::compare;
use super::specifier_ids::{rewritten, without_descriptions};
use super::{HostEnvironment, HostError, read};
use crate::engine::Engine;
use crate::graph::GraphOptions;
use crate::graph::detail::detailed_graph;
use crate::not_analysed::not_analysed;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GraphCallOptions {
    cwd: String,
    config: Option<Globs>,
    previous_graph: Option<LooseGraph>,
    hash_size_enforcement: Option<HashSizeEnforcement>,
    node_description_limit: Option<f64>,
    node_description_tags: Option<Vec<String>>,
    max_errors: Option<f64>,
    /// Options that stan-context does not have: stan's own folder, a cache, the number of threads, and the audience of the graph.
    stan_path: Option<String>,
    cache: Option<CacheChoice>,
    threads: Option<u16>,
    #[serde(default)]
    form: GraphForm,
}

#[derive(Default, Deserialize)]
struct Globs {
    includes: Option<Vec<String>>,
    excludes: Option<Vec<String>>,
}

/// The audience of the graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum GraphForm {
    /// Callers of stan-context 0.6, see `specifier_ids.rs`.
    #[default]
    StanContext,
    /// The graph that `stan graph --json` prints.
    Program,
}

const USUAL_ERRORS: f64 = 50.0;

pub(super) fn run(engine: &Engine<'_>, environment: &HostEnvironment, options: &str) -> Result<String, HostError> {
    let asked: GraphCallOptions = read(options)?;
    let root = folder(engine.system(), &asked.cwd)?;
    let usual = GraphOptions::new(root.clone());
    let mut graph_options = GraphOptions { max_errors: 0, ..usual };
    graph_options.stores = environment.package_caches.stores(engine.system());
    let globs = asked.config.unwrap_or_default();
    graph_options.scan.includes = checked_globs(globs.includes)?;
    graph_options.scan.excludes = checked_globs(globs.excludes)?;
    if let Some(stan_path) = asked.stan_path {
        graph_options.scan.stan_path = stan_path;
    }
    let limit = asked.node_description_limit.unwrap_or(graph_options.extract.description_limit as f64);
    if limit >= 1.0 {
        graph_options.extract.description_limit = limit as usize;
    }
    let tags = known_tags(asked.node_description_tags.unwrap_or_default());
    if !tags.is_empty() {
        graph_options.extract.description_tags = tags;
    }
    let cache = asked.cache.unwrap_or(CacheChoice::On(false));
    let usual_cache = format!("{}/{}/cache", root.trim_end_matches('/'), graph_options.scan.stan_path);
    let request = work(&cache, &root, usual_cache, environment);
    let engine = &with_threads(engine, asked.threads);
    let detailed = detailed_graph(engine, &graph_options, &request)?;
    let describe = limit >= 1.0;
    let changed = match asked.form {
        GraphForm::StanContext => Some(rewritten(engine.system(), &detailed, &graph_options, describe)?),
        GraphForm::Program if !describe => Some(without_descriptions(&detailed.graph)?),
        GraphForm::Program => None,
    };
    let graph = changed.as_ref().unwrap_or(&detailed.graph);
    let mut errors = Vec::new();
    let mut dirty = detailed.dirty;
    if let Some(previous) = &asked.previous_graph {
        let comparison = compare(previous, graph, graph_options.languages);
        dirty = comparison.dirty;
        match asked.hash_size_enforcement.unwrap_or_default() {
            HashSizeEnforcement::Error if !comparison.without_size.is_empty() => {
                return Err(size_missing(&comparison.without_size));
            }
            HashSizeEnforcement::Warn => {
                let warning = |id: &&str| format!("warning: metadata.size missing for hashed node {id}");
                errors.extend(comparison.without_size.iter().map(warning));
            }
            HashSizeEnforcement::Error | HashSizeEnforcement::Ignore => {}
        }
    }
    errors.extend(detailed.errors.iter().cloned());
    let errors = capped(errors, asked.max_errors.unwrap_or(USUAL_ERRORS));
    let left_out = not_analysed(Summary::of(graph).programming());
    let mut out = Vec::new();
    write_json(graph, &Stats::of(graph, dirty as u64), &errors, &left_out, &mut out)
        .map_err(|error| HostError::internal(error.to_string()))?;
    String::from_utf8(out).map_err(|error| HostError::internal(error.to_string()))
}

fn checked_globs(globs: Option<Vec<String>>) -> Result<Vec<String>, HostError> {
    let globs: Vec<String> = globs.unwrap_or_default().into_iter().filter(|glob| !glob.is_empty()).collect();
    for glob in &globs {
        stan_repo::PathGlobs::check(glob)
            .map_err(|error| HostError::usage(format!("the glob `{}` cannot be used: {}", error.glob, error.reason)))?;
    }
    Ok(globs)
}

/// The well-formed tags, without duplicates.
pub(super) fn known_tags(tags: Vec<String>) -> Vec<String> {
    let is_tag = |tag: &str| {
        tag.strip_prefix('@').is_some_and(|name| {
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        })
    };
    let mut known: Vec<String> = Vec::new();
    for tag in tags.iter().map(|tag| tag.trim()).filter(|tag| is_tag(tag)) {
        if known.iter().all(|other| other != tag) {
            known.push(tag.to_owned());
        }
    }
    known
}

/// At most `most` lines, of which the last states how many were cut; none if `most` is 0.
pub(super) fn capped(mut errors: Vec<String>, most: f64) -> Vec<String> {
    let (most, total) = (most.max(0.0) as usize, errors.len());
    match most {
        0 => Vec::new(),
        most if total <= most => errors,
        1 => vec![format!("errors truncated: {total} total")],
        most => {
            errors.truncate(most - 1);
            errors.push(format!("errors truncated: showing {} of {total}", most - 1));
            errors
        }
    }
}
