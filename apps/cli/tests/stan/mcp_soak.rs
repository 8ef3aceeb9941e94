//! `stan mcp` over a long time: every answer is current, and memory does not grow.
#![cfg(target_os = "linux")]

use serde_json::json;

use crate::mcp_client::{Client, one_call_of_each, repository, with_branches};
use crate::support::Repository;

/// The memory of a process in kilobytes.
fn memory(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// The number of open files and threads of a process.
fn open_files(process: u32) -> usize {
    let count = |folder: &str| std::fs::read_dir(format!("/proc/{process}/{folder}")).map_or(0, Iterator::count);
    count("fd") + count("task")
}

/// Interference: edits of equal size within a moment, branch switches, a temporary worktree, many calls at once.
struct Meanwhile<'r> {
    repository: &'r Repository,
    has_git: bool,
    branch: &'static str,
}

impl Meanwhile<'_> {
    fn edit(&self, number: usize, client: &mut Client) {
        self.repository.write("src/b.ts", &format!("export const b = {number:08};\n"));
        let text = client.text("read", json!({ "files": ["src/b.ts"] }));
        assert!(text.contains(&format!("b = {number:08};")), "call {number}: {text}");
        let name = format!("found{number:08}");
        self.repository.write("src/m1.ts", &format!("import './b.js';\nexport const {name} = 1;\n"));
        let text = client.text("find", json!({ "symbol": name }));
        assert!(text.starts_with("src/m1.ts:2"), "call {number}: {text}");
    }

    fn switch(&mut self, number: usize, client: &mut Client) {
        if !self.has_git {
            return;
        }
        self.branch = if self.branch == "main" { "other" } else { "main" };
        self.repository.git(&["checkout", "-qf", self.branch]);
        let users = json!({ "relation": "dependents", "files": ["src/b.ts"], "budget": 0 });
        let text = client.text("related", users);
        assert_eq!(text.contains("src/only.ts"), self.branch == "other", "call {number} on {}", self.branch);
    }

    fn worktree(&self, number: usize, client: &mut Client) {
        if !self.has_git {
            return;
        }
        let folder = self.repository.root().parent().unwrap().join(format!("tree{number}"));
        let path = folder.to_str().unwrap();
        self.repository.git(&["worktree", "add", "-q", "--detach", path, "other"]);
        std::fs::write(folder.join("src/b.ts"), "export const b = 'of the worktree';\n").unwrap();
        let mut other = Client::start(self.repository, &["--root", path]);
        let asked = json!({ "files": ["src/b.ts"] });
        assert!(other.text("read", asked.clone()).contains("of the worktree"), "call {number}");
        assert!(!client.text("read", asked).contains("of the worktree"), "call {number}");
        assert_eq!(other.close(), 0);
        self.repository.git(&["worktree", "remove", "--force", path]);
    }
}

fn many_at_once(first: usize, client: &mut Client) {
    let of_each = one_call_of_each();
    for id in first..first + 40 {
        let (tool, arguments) = &of_each[id % of_each.len()];
        let params = json!({ "name": tool, "arguments": arguments });
        client.send(&json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }).to_string());
    }
    let mut answered: Vec<u64> = (0..40).map(|_| client.next()["id"].as_u64().unwrap()).collect();
    answered.sort_unstable();
    assert_eq!(answered, (first as u64..first as u64 + 40).collect::<Vec<_>>());
}

fn soak(calls: usize) {
    let repository = repository();
    for number in 0..200 {
        repository.write(&format!("src/m{number}.ts"), &format!("import './b.js';\nexport const m{number} = 1;\n"));
    }
    let has_git = with_branches(&repository).is_some();
    let mut meanwhile = Meanwhile { repository: &repository, has_git, branch: "main" };
    let mut client = Client::start(&repository, &[]);
    let (mut early, mut open) = (0, 0);
    for number in 0..calls {
        match number % 400 {
            0 | 50 | 100 | 150 | 250 | 300 | 350 => meanwhile.edit(number, &mut client),
            200 => meanwhile.switch(number, &mut client),
            220 => many_at_once(1_000_000 + number, &mut client),
            390 => meanwhile.worktree(number, &mut client),
            _ => {}
        }
        let (tool, mut arguments) = one_call_of_each().swap_remove(number % one_call_of_each().len());
        if number % 7 == 0 {
            arguments["since"] = json!("0123456789abcdef");
        }
        let answer = client.call(number as u64, tool, arguments);
        assert_eq!(answer["id"], number, "{answer}");
        if number == calls / 5 {
            (early, open) = (memory(client.child.id()), open_files(client.child.id()));
        }
    }
    let (late, still_open) = (memory(client.child.id()), open_files(client.child.id()));
    println!("{calls} calls: {early} kB, {open} open after a fifth of them, {late} kB, {still_open} open at the end");
    assert!(late < early + early / 4 + 8_192, "memory grew from {early} kB to {late} kB");
    assert!(still_open <= open + 2, "{open} files and threads were open, then {still_open}");
    assert_eq!(client.close(), 0);
}

#[test]
fn memory_stays_flat_over_a_few_hundred_calls() {
    soak(420);
}

#[test]
#[ignore = "takes minutes"]
fn memory_stays_flat_over_ten_thousand_calls() {
    soak(10_000);
}
