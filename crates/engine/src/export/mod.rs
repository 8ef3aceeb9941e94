//! The verb `export`: writes the graph of a repository as tables, for query engines that analyse many repositories together. One
//! partition per repository and commit; an existing one is not written again.
//!
//! `rows.rs` creates the rows; `partition.rs` stores a partition so that no reader sees half of one; `stan_dataset` implements
//! the formats.

mod commit;
mod manifests;
mod packages;
mod partition;
mod rows;

use stan_dataset::SCHEMA_VERSION;
pub use stan_dataset::{Column, DatasetFormat, TABLES, TableSchema};
pub use stan_model::document::export_report::{ExportReport, ExportedRepository, ExportedTable};

use self::partition::{Partition, PartitionKey};
use crate::context::Repository;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::graph::GraphRequest;
use crate::graph::detail::detailed_graph;
use crate::tokens::Tokenizer;

/// Longer folder names may exceed the limits of file systems.
const MAX_ID_BYTES: usize = 200;

/// A repository and the dataset to write it to.
#[derive(Clone, Debug)]
pub struct ExportRequest {
    /// Absolute path of the dataset.
    pub directory: String,
    pub format: DatasetFormat,
    /// The value of the column `repo`.
    pub repo_id: String,
    /// The value of the column `commit`; `None` to find it with git.
    pub commit: Option<String>,
    /// Remove the partitions of other commits of this repository.
    pub prune: bool,
    pub tokenizer: Tokenizer,
    pub work: GraphRequest,
}

/// The schema version of the tables.
pub fn schema_version() -> u32 {
    SCHEMA_VERSION
}

/// Writes the tables of one repository into a dataset.
pub fn export(
    engine: &Engine<'_>,
    repository: &Repository<'_>,
    request: &ExportRequest,
) -> Result<ExportedRepository, EngineError> {
    check_id("--repo-id", &request.repo_id)?;
    check_place(repository, &request.directory)?;
    let mut warnings = Vec::new();
    let commit = match &request.commit {
        Some(commit) => commit.clone(),
        None => commit::current(engine, repository, &mut warnings),
    };
    check_id("--commit", &commit)?;
    let options = repository.config.graph_options(repository.root);
    let detailed = detailed_graph(engine, &options, &request.work)?;
    warnings.extend(crate::answers::unread(&detailed.errors));
    let packages = packages::Packages::find(engine, repository, &detailed);
    let key = PartitionKey::of(&detailed, &packages, request.tokenizer, repository.config);
    let partition = Partition::new(engine.system(), request, repository.root, &commit)?;
    let known = partition.find(&key);
    let unchanged = known.is_some();
    let tables = match known {
        Some(known) => {
            warnings.extend(known.warnings);
            known.tables
        }
        None => {
            let mut made = rows::Tables::gather(engine, repository, request, &detailed, &packages);
            let written = partition.write(&key, &mut made, request.format)?;
            warnings.extend(made.warnings);
            written
        }
    };
    let pruned = if request.prune { partition.prune()? } else { 0 };
    warnings.sort_unstable();
    warnings.dedup();
    Ok(ExportedRepository {
        id: request.repo_id.clone(),
        root: repository.root.to_owned(),
        commit,
        partition: partition.name().to_owned(),
        unchanged,
        pruned,
        tables,
        warnings,
    })
}

fn check_id(option: &str, id: &str) -> Result<(), EngineError> {
    if id.is_empty() {
        return Err(EngineError::input(format!("{option} is empty")).hint(format!("name one with {option}")));
    }
    if partition::encoded(id).len() > MAX_ID_BYTES {
        return Err(EngineError::input(format!("{option} is too long: `{id}`")).hint("use a shorter one"));
    }
    Ok(())
}

/// Refuses a dataset inside the repository: the next export would contain its files as nodes.
fn check_place(repository: &Repository<'_>, directory: &str) -> Result<(), EngineError> {
    let layout = repository.layout();
    let own = layout.absolute(layout.stan_path());
    let is_below = |folder: &str| stan_repo::AbsPath::new(folder).below(directory).is_some();
    let is_inside = directory == repository.root || is_below(repository.root);
    if is_inside && !is_below(&own) {
        return Err(EngineError::input("the folder of the dataset lies inside the repository that it is about")
            .hint(format!("name a folder outside of it, or one below {}", layout.stan_path())));
    }
    Ok(())
}
