//! Short grammars: GitHub's annotations, Maven, Kotlin, PHP, Ruby, Java stack traces.

use super::lines::{Lines, severity};
use crate::{Diagnostic, Frame, LogPosition, Severity, is_foreign, place};

/// `::error file=a.ts,line=1,col=2,title=x::message`.
pub(super) fn github(lines: &Lines<'_>, at: usize, found: &mut Vec<Diagnostic>) -> usize {
    let Some(rest) = lines.get(at).trim_start().strip_prefix("::") else { return 0 };
    let Some((severity, rest)) =
        severity(rest).or_else(|| rest.strip_prefix("notice").map(|rest| (Severity::Info, rest)))
    else {
        return 0;
    };
    let Some((properties, message)) = rest.split_once("::") else { return 0 };
    let (mut file, mut line, mut col, mut title) = (None, None, None, None);
    for property in properties.trim().split(',') {
        let Some((key, value)) = property.trim().split_once('=') else { continue };
        match key {
            "file" => file = place::clean_path(value),
            "line" => line = value.parse().ok(),
            "col" => col = value.parse().ok(),
            "title" => title = Some(value).filter(|title| !title.contains(' ')),
            _ => {}
        }
    }
    let (Some(file), Some(line)) = (file, line) else { return 0 };
    let message = message.replace("%0A", "\n").replace("%0D", "").replace("%25", "%");
    // Some tools repeat the position in the message.
    let text = match place::colon(&message) {
        Some((place, rest)) if place.file == file && place.line == line => rest.trim_start_matches([':', ' ']),
        _ => message.as_str(),
    };
    found.push(Diagnostic::new("github", LogPosition { file, line, col }, severity, text.trim_end()).with_code(title));
    1
}

/// `[ERROR] /srv/app/Foo.java:[3,5] message`.
pub(super) fn maven(lines: &Lines<'_>, at: usize, found: &mut Vec<Diagnostic>) -> usize {
    let Some(rest) = lines.get(at).trim_start().strip_prefix('[') else { return 0 };
    let Some((severity, rest)) = severity(rest) else { return 0 };
    let Some((path, rest)) = rest.strip_prefix("] ").and_then(|rest| rest.split_once(":[")) else { return 0 };
    let Some((line, rest)) = place::number(rest) else { return 0 };
    let Some((col, rest)) = rest.strip_prefix(',').and_then(place::number) else { return 0 };
    let Some(message) = rest.strip_prefix(']') else { return 0 };
    let Some(file) = place::clean_path(path) else { return 0 };
    found.push(Diagnostic::new("maven", LogPosition { file, line, col: Some(col) }, severity, message.trim()));
    1
}

/// `e: file:///srv/app/a.kt:3:5 message`, or with `(3, 5): ` after the path in older compilers.
pub(super) fn kotlin(lines: &Lines<'_>, at: usize, found: &mut Vec<Diagnostic>) -> usize {
    let line = lines.get(at);
    let (severity, rest) = match (line.strip_prefix("e: "), line.strip_prefix("w: ")) {
        (Some(rest), _) => (Severity::Error, rest),
        (_, Some(rest)) => (Severity::Warning, rest),
        _ => return 0,
    };
    let Some((place, message)) = place::colon(rest) else { return 0 };
    found.push(Diagnostic::new("kotlin", place, severity, message.trim_start_matches(':').trim()));
    1
}

/// `PHP Fatal error:  message in /srv/app/a.php on line 3`, also `… in /srv/app/a.php:3`.
pub(super) fn php(lines: &Lines<'_>, at: usize, found: &mut Vec<Diagnostic>) -> usize {
    let line = lines.get(at);
    let line = line.strip_prefix("PHP ").unwrap_or(line);
    let severity = match line.split_once(':').map(|(head, _)| head) {
        Some("Fatal error" | "Parse error" | "Recoverable fatal error") => Severity::Error,
        Some("Warning" | "Deprecated" | "Notice") => Severity::Warning,
        _ => return 0,
    };
    let Some((message, rest)) = line.rsplit_once(" in ") else { return 0 };
    let place = match rest.split_once(" on line ") {
        Some((path, number)) => place::clean_path(path)
            .zip(place::number(number))
            .map(|(file, (line, _))| LogPosition { file, line, col: None }),
        None => place::colon(rest).map(|(place, _)| place),
    };
    let Some(place) = place else { return 0 };
    let message = message.split_once(':').map_or(message, |(_, message)| message).trim();
    found.push(Diagnostic::new("php", place, severity, message));
    1
}

/// ``a.rb:3:in `f': message (NoMethodError)`` and `\tfrom b.rb:4:in …` below it.
pub(super) fn ruby(lines: &Lines<'_>, at: usize, found: &mut Vec<Diagnostic>) -> usize {
    let line = lines.get(at);
    let Some((place, rest)) = place::colon(line).filter(|(place, _)| place.file.ends_with(".rb")) else { return 0 };
    let Some((name, message)) = rest.strip_prefix(":in ").and_then(|rest| rest.split_once("': ")) else { return 0 };
    let mut frames = vec![Frame { place, name: Some(name.trim_matches(['`', '\'']).to_owned()) }];
    let mut consumed = 1;
    for (_, next) in lines.after(at) {
        let Some(rest) = next.trim_start().strip_prefix("from ") else { break };
        if let Some((place, _)) = place::colon(rest) {
            frames.push(Frame { place, name: None });
        }
        consumed += 1;
    }
    frames.retain(|frame| !is_foreign(&frame.place.file));
    let Some(place) = frames.first().map(|frame| frame.place.clone()) else { return consumed };
    let mut diagnostic = Diagnostic::new("ruby", place, Severity::Error, message.trim());
    diagnostic.frames = frames;
    found.push(diagnostic);
    consumed
}

/// `Exception in thread "main" java.lang.X: message`, `\tat pkg.Class.m(File.java:12)`. Only the basename of the file is known.
pub(super) fn java(lines: &Lines<'_>, at: usize, found: &mut Vec<Diagnostic>) -> usize {
    let frame = |line: &str| -> Option<Frame> {
        let rest = line.trim_start().strip_prefix("at ")?;
        let (name, inner) = rest.trim_end().strip_suffix(')')?.rsplit_once('(')?;
        let (place, rest) = place::colon(inner)?;
        let foreign = ["java.", "jdk.", "sun.", "org.junit.", "kotlin.", "scala.", "org.gradle."]
            .iter()
            .any(|begin| name.starts_with(begin));
        (rest.is_empty() && place.col.is_none() && !foreign).then(|| Frame { place, name: Some(name.to_owned()) })
    };
    let is_frame =
        |line: &str| line.trim_start().starts_with("at ") && line.trim_end().ends_with(')') && line.contains('(');
    if is_frame(lines.get(at))
        || !is_frame(lines.get(at + 1))
        || !(lines.get(at + 1).contains(".java:") || lines.get(at + 1).contains(".kt:"))
    {
        return 0;
    }
    let mut consumed = 1;
    let mut frames = Vec::new();
    // Needs no bound: each line read is consumed.
    while is_frame(lines.get(at + consumed)) {
        frames.extend(frame(lines.get(at + consumed)));
        consumed += 1;
    }
    let Some(place) = frames.first().map(|frame| frame.place.clone()) else { return consumed };
    let message = lines.get(at).trim();
    let message = message.strip_prefix("Exception in thread \"main\" ").unwrap_or(message);
    let mut diagnostic = Diagnostic::new("java", place, Severity::Error, message);
    diagnostic.frames = frames;
    found.push(diagnostic);
    consumed
}
