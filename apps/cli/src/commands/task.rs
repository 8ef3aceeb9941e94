//! Turns the arguments about a task into an engine request: focus, changes, log and text.

use stan_engine::relevance::{RankQuery, Since};

use crate::args::TaskArgs;
use crate::commands::input;
use crate::exit::Failure;
use crate::messages::Messages;
use crate::workspace::Workspace;

/// The query of the arguments.
pub(crate) fn query(workspace: &Workspace<'_>, messages: &Messages, args: &TaskArgs) -> Result<RankQuery, Failure> {
    Ok(RankQuery {
        focus: args
            .focus
            .iter()
            .map(|typed| workspace.focus_file(workspace.engine, typed))
            .collect::<Result<_, _>>()?,
        changed: args.changed.clone().map(|revision| revision.map_or(Since::Index, Since::Revision)),
        log: args.log.as_deref().map(|file| input::read_log(workspace, messages, file)).transpose()?,
        about: about(workspace, &args.about)?,
    })
}

/// All texts, joined.
fn about(workspace: &Workspace<'_>, typed: &[String]) -> Result<Option<String>, Failure> {
    let texts = typed.iter().map(|typed| input::text_of(workspace, typed)).collect::<Result<Vec<String>, Failure>>()?;
    let all = texts.join("\n");
    if !typed.is_empty() && all.trim().is_empty() {
        return Err(Failure::input("the text of --about is empty").hint("say in words what the task is"));
    }
    Ok((!typed.is_empty()).then_some(all))
}
