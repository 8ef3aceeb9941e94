//! Renders a pack for readers: as Markdown for a chat, or with tags for tools. Both contain less than the JSON: lists are
//! truncated, with a count of the rest. The last line has the digest of the JSON.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use stan_model::document::pack::{Pack, PackDiagnostic, PackItem, PackMissing, PackOmitted};

/// The maximum lengths of the lists in a rendering. Items are the same at every size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lists {
    /// Diagnostics with message and place; the rest are counted.
    diagnostics: usize,
    /// Lines of "left out" and of "not found"; the rest are counted.
    lines: usize,
    /// Messages are truncated to this many characters.
    message: usize,
}

impl Lists {
    /// From the default to the shortest, for budgets that the default does not fit.
    pub const SIZES: [Self; 5] = [
        Self { diagnostics: 20, lines: 30, message: 600 },
        Self { diagnostics: 10, lines: 12, message: 400 },
        Self { diagnostics: 4, lines: 5, message: 300 },
        Self { diagnostics: 1, lines: 2, message: 200 },
        Self { diagnostics: 1, lines: 0, message: 100 },
    ];
}

/// Markdown. `digest` is the SHA-256 of the JSON form.
pub fn markdown(pack: &Pack, digest: &str, lists: Lists) -> String {
    let mut out = String::new();
    heading(pack, &mut out);
    diagnostics(pack, lists, &mut out);
    let shown = || pack.items.iter().filter(|item| item.level != "line");
    for item in shown().filter(|item| item.rank == 0) {
        fence(&[item], &mut out);
    }
    for items in by_file(shown().filter(|item| item.rank > 0)) {
        fence(&items, &mut out);
    }
    let lines: Vec<&PackItem> = pack.items.iter().filter(|item| item.level == "line").collect();
    if !lines.is_empty() {
        out.push_str("\nAlso used:\n\n");
        for item in lines {
            let text = if item.kind == "file" { &item.file } else { &item.text };
            let _ = writeln!(out, "- {text}");
        }
    }
    if !pack.omitted.is_empty() {
        let _ = writeln!(out, "\nLeft out ({}):\n", pack.totals.omitted);
        let most = if pack.omitted.iter().all(is_file) { lists.lines.min(MAX_FILES) } else { lists.lines };
        cut_list(&pack.omitted, pack.totals.omitted, most, left_out, &mut out);
    }
    let missing: Vec<&PackMissing> = pack.missing.iter().filter(|one| one.reason != "global").collect();
    let (untyped, missing): (Vec<&PackMissing>, Vec<&PackMissing>) =
        missing.into_iter().partition(|one| one.reason == NEEDS_TYPES && one.near.is_empty());
    if !missing.is_empty() {
        let _ = writeln!(out, "\nNot found ({}):\n", missing.len());
        cut_list(&missing, missing.len() as u64, lists.lines, |one| not_found(one), &mut out);
    }
    if !untyped.is_empty() {
        let mut names: Vec<&str> = Vec::new();
        for one in &untyped {
            if !names.contains(&&*one.name) {
                names.push(&one.name);
            }
        }
        let more = match names.len().saturating_sub(lists.lines) {
            0 => String::new(),
            more => format!(", +{more}"),
        };
        let shown = names.iter().take(lists.lines).copied().collect::<Vec<_>>().join(", ");
        let _ = match shown.is_empty() {
            true => writeln!(out, "\nNot followed ({}): they need a type checker", names.len()),
            false => writeln!(out, "\nNot followed ({}), they need a type checker: {shown}{more}", names.len()),
        };
    }
    if let Some(cut) = &pack.truncation {
        let (before, after) = (cut.tokens_before, cut.tokens_after);
        let (dropped, demoted, budget) = (cut.dropped, cut.demoted, cut.budget);
        let _ = writeln!(
            out,
            "\nCut to {after} of {before} tokens (budget {budget}): {dropped} left out, {demoted} shortened."
        );
    }
    let _ = writeln!(out, "\n<!-- stan.pack@1 sha256:{digest} -->");
    out
}

/// The reason for names that only type inference finds. There are many and their lines are in the text, so that only the names
/// are listed.
const NEEDS_TYPES: &str = "needs-types";

/// The maximum number of listed files that were left out of a ranking: they are the least important ones.
const MAX_FILES: usize = 10;

/// Whether a whole file was left out, not a declaration.
fn is_file(one: &PackOmitted) -> bool {
    one.start_line == 1 && one.file.rsplit('/').next() == Some(&*one.name)
}

fn left_out(one: &PackOmitted) -> String {
    if is_file(one) {
        return format!("- {} ({})", one.file, one.reason);
    }
    format!("- {} — {}:{} ({})", one.name, one.file, one.start_line, one.reason)
}

fn not_found(one: &PackMissing) -> String {
    let from = one.from.as_ref().map(|from| format!(" from {from}")).unwrap_or_default();
    let near = if one.near.is_empty() { String::new() } else { format!("; near: {}", one.near.join(", ")) };
    format!("- {}{from} — {}:{} ({}{near})", one.name, one.file, one.line, one.reason)
}

fn heading(pack: &Pack, out: &mut String) {
    match &pack.focus {
        Some(focus) => {
            let column = focus.col.map(|col| format!(":{col}")).unwrap_or_default();
            let name = if focus.name.is_empty() { String::new() } else { format!(" in `{}`", focus.name) };
            let _ = writeln!(out, "# {}:{}{column}{name}", focus.file, focus.line);
        }
        None => out.push_str("# Context\n"),
    }
}

fn diagnostics(pack: &Pack, lists: Lists, out: &mut String) {
    if pack.diagnostics.is_empty() {
        return;
    }
    out.push('\n');
    let chosen = pack.focus.as_ref().and_then(|focus| focus.diagnostic).and_then(|index| usize::try_from(index).ok());
    let first = chosen.and_then(|index| pack.diagnostics.get(index).map(|one| (index, one)));
    if let Some((_, one)) = first {
        diagnostic(one, lists, out);
        if let Some(line) = frame(pack) {
            let _ = writeln!(out, "\n    {line}");
        }
    }
    let others = || pack.diagnostics.iter().enumerate().filter(|(index, _)| Some(*index) != chosen);
    let shown = lists.diagnostics - usize::from(first.is_some());
    others().take(shown).for_each(|(_, one)| diagnostic(one, lists, out));
    let mut rest: BTreeMap<&str, u64> = BTreeMap::new();
    for (_, one) in others().skip(shown) {
        *rest.entry(one.code.as_deref().unwrap_or(one.severity)).or_default() += 1;
    }
    if !rest.is_empty() {
        let counts: Vec<String> = rest.iter().map(|(code, count)| format!("{count} {code}")).collect();
        let _ = writeln!(out, "- and {}", counts.join(", "));
    }
}

fn diagnostic(one: &PackDiagnostic, lists: Lists, out: &mut String) {
    let place = match (&one.file, one.line, one.col) {
        (Some(file), Some(line), Some(col)) => format!(" {file}:{line}:{col}"),
        (Some(file), Some(line), None) => format!(" {file}:{line}"),
        (Some(file), ..) => format!(" {file}"),
        _ => String::new(),
    };
    let code = one.code.as_ref().map(|code| format!(" {code}")).unwrap_or_default();
    let stale = if one.stale { " (the log is older than the file)" } else { "" };
    let message = cut(&one.message, lists.message);
    let more = if message.len() < one.message.len() { " …" } else { "" };
    let message = message.replace('\n', "\n  ");
    let _ = writeln!(out, "- {}{code}{place}{stale}: {message}{more}", one.severity);
}

/// The first characters of a text.
fn cut(text: &str, most: usize) -> &str {
    let end = text.char_indices().nth(most).map_or(text.len(), |(at, _)| at);
    text.get(..end).unwrap_or_default()
}

/// The line of the focus, as in the file.
fn frame(pack: &Pack) -> Option<String> {
    let focus = pack.focus.as_ref()?;
    let item = pack.items.first().filter(|item| item.file == focus.file && item.elided.is_empty())?;
    let line = item.text.lines().nth(focus.line.checked_sub(item.start_line)? as usize)?;
    Some(format!("{} | {}", focus.line, line.trim_end()))
}

/// Groups items by file, in line order; files are in the order of their first item.
fn by_file<'i>(items: impl Iterator<Item = &'i PackItem>) -> Vec<Vec<&'i PackItem>> {
    let mut files: Vec<Vec<&PackItem>> = Vec::new();
    let mut at: BTreeMap<&str, usize> = BTreeMap::new();
    for item in items {
        let index = *at.entry(&item.file).or_insert_with(|| {
            files.push(Vec::new());
            files.len() - 1
        });
        if let Some(of_file) = files.get_mut(index) {
            of_file.push(item);
        }
    }
    files.iter_mut().for_each(|items| items.sort_by_key(|item| (item.start_line, item.end_line)));
    files
}

/// One code fence for items of the same file: its path, the lines of each, and the start of its digest.
fn fence(items: &[&PackItem], out: &mut String) {
    let Some(first) = items.first() else { return };
    let texts: Vec<&str> = items.iter().map(|item| item.text.as_str()).collect();
    let (mut longest, mut run) = (0, 0);
    for letter in texts.iter().flat_map(|text| text.chars()) {
        run = if letter == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let ticks = "`".repeat(longest.max(2) + 1);
    let name = first.file.rsplit('/').next().unwrap_or_default();
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    let extension: String = extension.chars().filter(char::is_ascii_alphanumeric).take(12).collect();
    let lines: Vec<String> = items.iter().map(|item| format!("{}-{}", item.start_line, item.end_line)).collect();
    let _ = writeln!(
        out,
        "\n{ticks}{extension} {}:{} ({})\n{}\n{ticks}",
        first.file,
        lines.join(","),
        first.sha256.get(..12).unwrap_or_default(),
        texts.join("\n\n")
    );
}

fn cut_list<T>(all: &[T], total: u64, most: usize, line: impl Fn(&T) -> String, out: &mut String) {
    for one in all.iter().take(most) {
        let _ = writeln!(out, "{}", line(one));
    }
    let rest = total.saturating_sub(all.len().min(most) as u64);
    if rest > 0 {
        let _ = writeln!(out, "- and {rest} more");
    }
}

/// Tags. `digest` is the SHA-256 of the JSON form.
pub fn xml(pack: &Pack, digest: &str, lists: Lists) -> String {
    let mut out = String::from("<pack schema=\"stan.pack@1\">\n");
    if let Some(focus) = &pack.focus {
        let (file, name) = (escaped(&focus.file), escaped(&focus.name));
        let _ = writeln!(out, "<focus file=\"{file}\" line=\"{}\" name=\"{name}\"/>", focus.line);
    }
    for one in pack.diagnostics.iter().take(lists.diagnostics) {
        let file = escaped(one.file.as_deref().unwrap_or_default());
        let (line, code) = (one.line.unwrap_or_default(), escaped(one.code.as_deref().unwrap_or_default()));
        let _ = writeln!(
            out,
            "<diagnostic severity=\"{}\" code=\"{code}\" file=\"{file}\" line=\"{line}\">{}</diagnostic>",
            one.severity,
            escaped(cut(&one.message, lists.message))
        );
    }
    for item in &pack.items {
        let _ = writeln!(
            out,
            "<item file=\"{}\" lines=\"{}-{}\" level=\"{}\" kind=\"{}\" name=\"{}\" sha256=\"{}\"><![CDATA[\n{}\n]]></item>",
            escaped(&item.file),
            item.start_line,
            item.end_line,
            item.level,
            escaped(&item.kind),
            escaped(&item.name),
            item.sha256.get(..12).unwrap_or_default(),
            // A CDATA section can contain anything but its own end.
            item.text.replace("]]>", "]]]]><![CDATA[>")
        );
    }
    for one in pack.omitted.iter().take(lists.lines) {
        let (file, name) = (escaped(&one.file), escaped(&one.name));
        let _ = writeln!(
            out,
            "<omitted file=\"{file}\" line=\"{}\" name=\"{name}\" reason=\"{}\"/>",
            one.start_line, one.reason
        );
    }
    for one in pack.missing.iter().filter(|one| one.reason != "global").take(lists.lines) {
        let (file, name) = (escaped(&one.file), escaped(&one.name));
        let from = one.from.as_ref().map(|from| format!(" from=\"{}\"", escaped(from))).unwrap_or_default();
        let near =
            if one.near.is_empty() { String::new() } else { format!(" near=\"{}\"", escaped(&one.near.join(", "))) };
        let _ = writeln!(
            out,
            "<missing file=\"{file}\" line=\"{}\" name=\"{name}\" reason=\"{}\"{from}{near}/>",
            one.line, one.reason
        );
    }
    let _ = writeln!(out, "<digest sha256=\"{digest}\"/>\n</pack>");
    out
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            letter => out.push(letter),
        }
    }
    out
}
