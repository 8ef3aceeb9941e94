//! What files are wanted for, from the command line to the engine: focus, changes, log and text.

use stan_engine::relevance::{FocusFile, RankQuery, Since};

use crate::args::TaskArgs;
use crate::commands::input;
use crate::exit::Failure;
use crate::messages::Messages;
use crate::workspace::Workspace;

/// The question that the arguments ask.
pub(crate) fn query(workspace: &Workspace<'_>, messages: &Messages, args: &TaskArgs) -> Result<RankQuery, Failure> {
    Ok(RankQuery {
        focus: args.focus.iter().map(|typed| focus_file(workspace, typed)).collect::<Result<_, _>>()?,
        changed: args.changed.clone().map(|revision| revision.map_or(Since::Index, Since::Revision)),
        log: args.log.as_deref().map(|file| input::read_log(workspace, messages, file)).transpose()?,
        about: about(workspace, &args.about)?,
    })
}

/// All texts, one after the other.
fn about(workspace: &Workspace<'_>, typed: &[String]) -> Result<Option<String>, Failure> {
    let text = |typed: &String| match typed.strip_prefix('@') {
        None => Ok(typed.clone()),
        Some(file) => Ok(String::from_utf8_lossy(&input::read(workspace, file)?.bytes).into_owned()),
    };
    let texts = typed.iter().map(text).collect::<Result<Vec<String>, Failure>>()?;
    let all = texts.join("\n");
    if !typed.is_empty() && all.trim().is_empty() {
        return Err(Failure::input("the text of --about is empty").hint("say in words what the task is"));
    }
    Ok((!typed.is_empty()).then_some(all))
}

/// `FILE` or `FILE:DEPTH`; a file whose own name ends like that is meant when it is there.
fn focus_file(workspace: &Workspace<'_>, typed: &str) -> Result<FocusFile, Failure> {
    let (file, depth) = match typed.rsplit_once(':') {
        Some((file, depth))
            if !file.is_empty() && !depth.is_empty() && depth.bytes().all(|byte| byte.is_ascii_digit()) =>
        {
            // Larger numbers than this can hold mean the same: everything.
            (file, depth.parse().unwrap_or(u32::MAX))
        }
        _ => (typed, 0),
    };
    let node_id = workspace.node_id(file).ok_or_else(|| Failure::input(format!("the path `{file}` is not UTF-8")))?;
    Ok(FocusFile { shown: file.to_owned(), node_id, depth })
}
