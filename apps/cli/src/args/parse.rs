//! Parsing the command line without building the parsers of commands that are not called.

use std::ffi::OsString;

use clap::{Args, Command, FromArgMatches as _, Parser as _};

use super::{
    ApplyArgs, CheckArgs, Cli, CompletionsArgs, CyclesArgs, ExportArgs, FindArgs, GlobalArgs, GraphArgs, InitArgs,
    ManArgs, MapArgs, McpArgs, NeighboursArgs, OutlineArgs, PackArgs, ReadArgs, RunArgs, SelectArgs, SnapArgs,
    StateArgs, SuggestArgs, SymbolArgs, VerifyArgs, ViewArgs,
};

/// The name of a command, and the function that adds its arguments.
type Entry = (&'static str, fn(Command) -> Command);

/// Every command, as in [`super::Command`].
const COMMANDS: [Entry; 24] = [
    ("graph", GraphArgs::augment_args),
    ("run", RunArgs::augment_args),
    ("select", SelectArgs::augment_args),
    ("snap", SnapArgs::augment_args),
    ("state", StateArgs::augment_args),
    ("suggest", SuggestArgs::augment_args),
    ("map", MapArgs::augment_args),
    ("view", ViewArgs::augment_args),
    ("export", ExportArgs::augment_args),
    ("deps", NeighboursArgs::augment_args),
    ("dependents", NeighboursArgs::augment_args),
    ("cycles", CyclesArgs::augment_args),
    ("outline", OutlineArgs::augment_args),
    ("symbol", SymbolArgs::augment_args),
    ("pack", PackArgs::augment_args),
    ("read", ReadArgs::augment_args),
    ("find", FindArgs::augment_args),
    ("verify", VerifyArgs::augment_args),
    ("mcp", McpArgs::augment_args),
    ("init", InitArgs::augment_args),
    ("check", CheckArgs::augment_args),
    ("apply", ApplyArgs::augment_args),
    ("completions", CompletionsArgs::augment_args),
    ("man", ManArgs::augment_args),
];

impl Cli {
    /// Building the parsers of all commands, each with its copies of the global options, takes as long as everything else at
    /// start-up. So only the called command is tried first. If the arguments do not parse that way, they are parsed again with
    /// all commands, which makes help, messages and suggestions complete.
    pub(crate) fn parse_arguments(arguments: &[OsString]) -> Result<Self, clap::Error> {
        Self::parse_alone(arguments).map_or_else(|| Self::try_parse_from(arguments), Ok)
    }

    fn parse_alone(arguments: &[OsString]) -> Option<Self> {
        let called = |(name, _): &&Entry| arguments.get(1).is_some_and(|argument| argument == name);
        let entry = COMMANDS.iter().find(called)?;
        let matches = with_command(entry).try_get_matches_from(arguments).ok()?;
        Self::from_arg_matches(&matches).ok()
    }
}

/// `stan` with the global options and this command alone.
fn with_command((name, augment): &Entry) -> Command {
    GlobalArgs::augment_args(Command::new("stan")).subcommand_required(true).subcommand(augment(Command::new(*name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The arguments of a command, with all properties that affect parsing.
    fn arguments_of(program: &Command, name: &str) -> Vec<String> {
        let mut program = program.clone();
        program.build();
        let command = program.find_subcommand(name).unwrap_or_else(|| panic!("no command {name}"));
        let nested = command.get_subcommands().flat_map(Command::get_arguments);
        let all = command.get_arguments().chain(nested);
        // Parsing these two always ends in an error, which clap prints as help or version.
        let parsed = all.filter(|argument| !matches!(argument.get_id().as_str(), "help" | "version"));
        parsed.map(|argument| format!("{argument:?}")).collect()
    }

    #[test]
    fn a_command_alone_has_the_arguments_that_it_has_among_all() {
        let all = crate::stan_command();
        let names: Vec<&str> = COMMANDS.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, all.get_subcommands().map(Command::get_name).collect::<Vec<_>>());
        for entry in &COMMANDS {
            let alone = arguments_of(&with_command(entry), entry.0);
            assert!(!alone.is_empty(), "{}", entry.0);
            assert_eq!(alone, arguments_of(&all, entry.0), "{}", entry.0);
        }
    }

    #[test]
    fn arguments_parse_alone_as_they_do_among_all_commands() {
        let check = |typed: &str, is_alone: bool| {
            let arguments: Vec<OsString> = typed.split(' ').map(OsString::from).collect();
            assert_eq!(Cli::parse_alone(&arguments).is_some(), is_alone, "{typed}");
            let all = Cli::try_parse_from(&arguments).map(|_| ()).map_err(|error| error.to_string());
            let parsed = Cli::parse_arguments(&arguments).map(|_| ()).map_err(|error| error.to_string());
            assert_eq!(parsed, all, "{typed}");
        };
        check("stan graph --stats -C dir", true);
        check("stan suggest --focus a.ts --budget 8k -q", true);
        check("stan state migrate", true);
        check("stan -C dir graph", false);
        check("stan graph --stat", false);
        check("stan graph --help", false);
        check("stan graph --version", false);
        check("stan grpah", false);
        check("stan help graph", false);
        check("stan state", false);
        check("stan", false);
    }
}
