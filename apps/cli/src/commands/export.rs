//! `stan export`: writes the tables of one or many repositories into one dataset.

use std::collections::BTreeMap;

use stan_engine::Engine;
use stan_engine::export::{ExportReport, ExportRequest, ExportedRepository, export, schema_version};
use stan_engine::tokens::Tokenizer;

use crate::args::{Cli, ExportArgs};
use crate::exit::Failure;
use crate::messages::Messages;
use crate::terminal::{Output, Untrusted, counted, grouped, say};
use crate::workspace::{Workspace, real_place};

/// An open repository, and its name in the dataset.
struct Opened<'e> {
    typed: String,
    id: String,
    workspace: Workspace<'e>,
}

pub(crate) fn run(cli: &Cli, engine: &Engine<'_>, args: &ExportArgs) -> Result<(), Failure> {
    let messages = Messages::new(cli);
    check(args)?;
    let directory = real_place(cli, &args.dataset)
        .ok_or_else(|| Failure::input(format!("the folder `{}` cannot be named", args.dataset)))?;
    let mut failed = Vec::new();
    let opened = open(cli, engine, args, &mut failed)?;
    let mut report = ExportReport {
        directory: args.dataset.clone(),
        format: stan_engine::export::DatasetFormat::from(args.format).name().to_owned(),
        schema_version: schema_version(),
        tokenizer: Tokenizer::from(args.tokens).name().to_owned(),
        repositories: Vec::new(),
    };
    for Opened { typed, id, workspace } in opened {
        messages.hints(&workspace.hints);
        let request = ExportRequest {
            directory: directory.clone(),
            format: args.format.into(),
            repo_id: id,
            commit: args.commit.clone(),
            prune: args.prune,
            tokenizer: args.tokens.into(),
            work: workspace.graph_request(&args.graph)?,
        };
        // A broken repository must not prevent the export of the others.
        match export(engine, &workspace.repository(), &request) {
            Ok(exported) => report.repositories.push(ExportedRepository { root: typed, ..exported }),
            Err(error) if args.roots.len() < 2 => return Err(error.into()),
            Err(error) => failed.push(format!("{typed}: {error}")),
        }
    }
    let mut out = Output::new(cli.global.color);
    if args.json {
        out.json(&report)?;
    } else {
        for one in &report.repositories {
            let rows: u64 = one.tables.iter().map(|table| table.rows).sum();
            let bytes: u64 = one.tables.iter().map(|table| table.bytes).sum();
            let size = (counted(rows, "row"), grouped(bytes));
            let state = if one.unchanged { "unchanged" } else { "written" };
            let place = Untrusted::new(&one.partition);
            say!(out, "{}  {}: {} in {} tables, {} bytes", place, state, size.0, one.tables.len(), size.1)?;
        }
    }
    out.finish()?;
    let several = report.repositories.len() > 1;
    let warnings = report.repositories.iter().flat_map(|one| {
        one.warnings.iter().map(move |warning| if several { format!("{}: {warning}", one.id) } else { warning.clone() })
    });
    messages.warnings(&warnings.collect::<Vec<_>>());
    if failed.is_empty() {
        return Ok(());
    }
    let count =
        if failed.len() == 1 { "1 repository was".to_owned() } else { format!("{} repositories were", failed.len()) };
    Err(Failure::input(format!("{count} not exported")).details(failed))
}

fn check(args: &ExportArgs) -> Result<(), Failure> {
    let roots = args.roots.len().max(1);
    if args.repo_id.len() > roots || (!args.repo_id.is_empty() && args.repo_id.len() < roots) {
        let ids = args.repo_id.len();
        return Err(Failure::usage(format!("{roots} roots, but {ids} --repo-id"))
            .hint("name one for each root, in the same order, or none"));
    }
    if roots > 1 && args.commit.is_some() {
        return Err(Failure::usage("--commit names the state of one repository, and there are several")
            .hint("export them one after the other"));
    }
    if roots > 1 && args.graph.cache_dir.is_some() {
        return Err(Failure::usage("--cache-dir holds the cache of one repository, and there are several")
            .hint("leave it out: each repository has its own"));
    }
    Ok(())
}

/// Opens all repositories before anything is written, so that duplicate names are detected first.
fn open<'e>(
    cli: &Cli,
    engine: &'e Engine<'e>,
    args: &ExportArgs,
    failed: &mut Vec<String>,
) -> Result<Vec<Opened<'e>>, Failure> {
    let mut opened: Vec<Opened<'e>> = Vec::new();
    let mut known: BTreeMap<String, String> = BTreeMap::new();
    let typed = if args.roots.is_empty() { vec![".".to_owned()] } else { args.roots.clone() };
    for (index, typed) in typed.into_iter().enumerate() {
        let found = match args.roots.is_empty() {
            true => Workspace::find(cli, engine),
            false => Workspace::find_below(cli, engine, &typed),
        };
        let workspace = match found {
            Ok(workspace) => workspace,
            Err(failure) if args.roots.len() < 2 => return Err(failure),
            Err(failure) => {
                failed.push(format!("{typed}: {}", failure.message()));
                continue;
            }
        };
        let name = workspace.root.rsplit('/').next().filter(|name| !name.is_empty());
        let id = args.repo_id.get(index).cloned().or_else(|| name.map(str::to_owned));
        let id = id.ok_or_else(|| Failure::input("the root has no name").hint("name it with --repo-id"))?;
        if let Some(first) = known.insert(id.clone(), typed.clone()) {
            return Err(Failure::input(format!("`{first}` and `{typed}` are both `{id}` in the dataset"))
                .hint("give each a name of its own with --repo-id"));
        }
        opened.push(Opened { typed, id, workspace });
    }
    Ok(opened)
}
