//! The text of `stan --help`: commands grouped by purpose, and examples. clap cannot group commands, so the list is written here;
//! a test below compares it with the existing commands.

/// The template of the help text.
pub(super) const TEMPLATE: &str = "\
{about}

{usage-heading} {usage}

Understand a repository:
  map          Print an overview for a model, within a token budget
  view         Write an overview for a person: one HTML page that works offline
  deps         List what files import, with the imported names
  dependents   List what imports files, with the imported names
  cycles       List import cycles, the largest first
  graph        Print the whole graph: counts, JSON, dot or Mermaid
  outline      List the declarations of files with their signatures
  symbol       Show where a name is declared and used
  find         Search names, paths and lines

Context for a task or an error:
  pack         Collect the declarations or files that explain it, ready to paste
  suggest      Propose the files that a task needs, as a selection
  read         Print files or declarations: in full, as signatures or as one line

A thread with an assistant:
  init         Set up the repository: configuration, instructions, ignore rules
  run          Write the archive, and the diff archive of what changed
  select       Show what the selection contains, and why
  state        Check the selection file, or rewrite it in the current form
  check        Check a reply before you act on it
  apply        Apply a reply, all or nothing; or undo the last one
  snap         Manage the snapshots that diffs are relative to
  verify       Compare an archive or a pack with the files on disk

For programs:
  mcp          Serve the commands as tools over the Model Context Protocol
  export       Write the graph as tables for DuckDB, Spark and others
  completions  Print the completion script for a shell
  man          Print the manual pages

Examples:
  stan map --budget 8k                              what is in this repository
  tsc | stan pack - --copy                          the code that explains this error
  stan pack --about \"login loops\" --budget 16k      the code that this task needs
  stan dependents src/user.ts                       what may break if this changes
  stan apply REPLY.md                               apply the assistant's changes

Options:
{options}

`stan COMMAND --help` describes a command.
";

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::TEMPLATE;

    #[test]
    fn every_command_is_in_a_group_and_every_listed_command_exists() {
        let groups = TEMPLATE.split("Examples:").next().unwrap_or_default();
        let listed = groups.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
        let listed: BTreeSet<String> = listed.map(ToOwned::to_owned).collect();
        let definition = crate::stan_command();
        let commands = definition.get_subcommands().filter(|command| !command.is_hide_set());
        let commands: BTreeSet<String> = commands.map(|command| command.get_name().to_owned()).collect();
        assert_eq!(listed, commands);
    }
}
