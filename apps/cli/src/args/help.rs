//! The text of `stan --help`: commands in groups by what people want, and examples. clap has no groups of commands, so the
//! list is written out here; the test below holds it to the commands that there are.

/// The template of the help text.
pub(super) const TEMPLATE: &str = "\
{about}

{usage-heading} {usage}

Understand a repository:
  map          The overview that a model reads, within a budget of tokens
  view         A picture of the repository: one HTML page that works offline
  deps         What files depend on, with the names that they take
  dependents   What depends on files
  cycles       Import cycles, the largest first
  graph        The whole graph: counts, JSON, dot or Mermaid
  outline      The declarations of files with their signatures
  symbol       Where a name is declared and who uses it
  find         Words in names, paths and lines

Context for a task or an error:
  pack         The declarations or files that explain it, ready to paste
  suggest      The files that a task needs, as a selection
  read         Files or declarations: whole, as signatures or as one line

A thread with an assistant:
  init         Set the repository up: configuration, instructions, ignore rules
  run          Write the archive, and the archive of what changed
  select       What the selection holds, and why
  state        Check the selection file, or rewrite it in the current form
  check        Check a reply before acting on it
  apply        Apply a reply, all of it or nothing; or take the last one back
  snap         The snapshots that diffs are made against
  verify       Compare an archive or a pack with the tree

For programs:
  mcp          Serve the commands as tools over the Model Context Protocol
  export       Tables of the graph for DuckDB, Spark and the like
  completions  The completion script for a shell
  man          The manual pages

Examples:
  stan map --budget 8k                              what is in here
  tsc | stan pack - --copy                          what explains this error
  stan pack --about \"login loops\" --budget 16k      what this task needs
  stan dependents src/user.ts                       what breaks if this changes
  stan apply REPLY.md                               make the assistant's changes

Options:
{options}

`stan COMMAND --help` says more about a command.
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
