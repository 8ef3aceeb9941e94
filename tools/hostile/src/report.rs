//! The verdict over all trees, as a table for docs/reliability.md.

use std::collections::BTreeMap;

use super::play::Played;
use super::process::Machine;

/// Prints the table. Returns true if every promise was kept and everything could be checked.
pub(super) fn print(played: &[Played], machine: &Machine) -> bool {
    println!("\n| tree | commands | runs | exit codes | slowest | memory | breaches |");
    println!("|---|--:|--:|---|--:|--:|--:|");
    for one in played {
        let codes: Vec<String> = one.codes.iter().map(|(code, count)| format!("{code}: {count}")).collect();
        println!(
            "| {} | {} | {} | {} | {:.2} s | {} MB | {} |",
            one.name,
            one.commands,
            one.runs,
            codes.join(", "),
            one.slowest.as_secs_f64(),
            one.peak_bytes >> 20,
            one.breaches.len()
        );
    }
    let sum = |part: fn(&Played) -> usize| played.iter().map(part).sum::<usize>();
    let breaches = sum(|one| one.breaches.len());
    let panics = played.iter().flat_map(|one| &one.breaches).filter(|(_, breach)| breach.contains("panicked")).count();
    println!(
        "\n{} trees, {} commands, {} runs, {} archives extracted: {breaches} breaches, {panics} panics",
        played.len(),
        sum(|one| one.commands),
        sum(|one| one.runs),
        sum(|one| one.archives),
    );
    for one in played {
        one.skipped.iter().for_each(|skipped| println!("skipped in {}: {skipped}", one.name));
    }
    played.iter().for_each(print_breaches);
    if !machine.has_strace {
        println!("NOT TRACED: strace is not installed, so opened files were not observed");
    }
    breaches == 0 && machine.has_strace
}

/// Prints each breach once, with the first command that caused it and the number of others.
fn print_breaches(one: &Played) {
    let mut commands: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (command, breach) in &one.breaches {
        commands.entry(breach).or_default().push(command);
    }
    for (breach, commands) in commands {
        let others = match commands.len() {
            1 => String::new(),
            count => format!(" and {} others", count - 1),
        };
        println!("BREACH in {}: {breach} [{}{others}]", one.name, commands.first().unwrap_or(&""));
    }
}
