//! The scanner on small texts, and against pulldown-cmark on random ones.

use proptest::prelude::*;
use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Parser, Tag, TagEnd};

use super::{Block, scan};

/// Blocks as one line each: `2 # words`, `3 ~info: a|b`, `4 words`, with `>` before what is quoted.
fn show(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let show_one = |block: &Block<'_>| match block {
        Block::Heading(heading) => {
            format!("{} {} {}", heading.line, "#".repeat(usize::from(heading.level)), heading.text)
        }
        Block::Fence(fence) => {
            let end = if fence.is_closed { "" } else { " (open)" };
            format!("{} ~{}: {}{end}", fence.line, fence.info, fence.lines.join("|"))
        }
        Block::Text(line) => format!("{} {}{}", line.line, if line.is_quoted { "> " } else { "" }, line.text),
    };
    scan(lines).iter().map(show_one).collect()
}

fn check(text: &str, expected: &[&str]) {
    assert_eq!(show(text), expected, "{text}");
}

#[test]
fn headings_are_found_as_commonmark_says() {
    check(
        "# a\n## b ##\n### c#\n####### d\n#e\n  ## f",
        &["1 # a", "2 ## b", "3 ### c#", "4 ####### d", "5 #e", "6 ## f"],
    );
    check("    ## code", &[]);
    check("##", &["1 ## "]);
    check("## \\#", &["1 ## \\#"]);
    check("a\n---\nb\n===", &["1 a", "3 b"]);
}

#[test]
fn fences_open_and_close_as_in_commonmark() {
    check("```diff\na\n```\nb", &["1 ~diff: a", "4 b"]);
    check("~~~~ x\n~~~\n~~~~~  \nb", &["1 ~x: ~~~", "4 b"]);
    check("```\n~~~\n```", &["1 ~: ~~~"]);
    check("````\n```\n````", &["1 ~: ```"]);
    check("   ```\n   a\n  b\n    c\n```", &["1 ~: a|b| c"]);
    check("    ```\n    a", &[]);
    check("``` a`b\nc", &["1 ``` a`b", "2 c"]);
    check("~~~ a`b\nc\n~~~", &["1 ~a`b: c"]);
    check("```\n ``` \nx", &["1 ~: ", "3 x"]);
    check("```\n    ```\nx", &["1 ~:     ```|x (open)"]);
    check("```\n``` x\n```", &["1 ~: ``` x"]);
    check("text\n```\na\n```", &["1 text", "2 ~: a"]);
    check("``\na\n``", &["1 ``", "2 a", "3 ``"]);
}

#[test]
fn fences_in_lists_and_quotes() {
    check("- ```diff\n  a\n\n  b\n  ```\n- c", &["1 ~diff: a||b", "6 c"]);
    check("1. x\n\n   ~~~\n   a\n   ~~~", &["1 x", "3 ~: a"]);
    check("- ```\n  a\nb", &["1 ~: a (open)", "3 b"]);
    check("> ```\n> a\n> ```\n> b", &["1 ~: a", "4 > b"]);
    check("> ```\n> a\nb", &["1 ~: a (open)", "3 b"]);
    check("> - ```\n>   a\n>   ```", &["1 ~: a"]);
    check("-\t```\n\ta\n\t```", &["1 ~: a"]);
    check("- a\n    ```\n    b\n    ```", &["1 a", "2 ~: b"]);
}

#[test]
fn prose_loses_its_markers() {
    check("- a\n  - b\n    * c\n+ d\n1. e\n2) f", &["1 a", "2 b", "3 c", "4 d", "5 e", "6 f"]);
    check("> a\nb\n\nc", &["1 > a", "2 > b", "4 c"]);
    check("a\n    b", &["1 a", "2 b"]);
    check("- a\nb", &["1 a", "2 b"]);
    check("-a\n*b*", &["1 -a", "2 *b*"]);
    check("- - - a", &["1 a"]);
    check("---\n* * *\n___", &[]);
    check("a\n14. b", &["1 a", "2 14. b"]);
    check("-\n\n  a", &["3 a"]);
    check("-\n  a", &["2 a"]);
}

#[test]
fn comments_and_html_are_no_text() {
    check("<!-- a -->\nb", &["2 b"]);
    check("<!-- a\n## b\n```\n-->\nc", &["5 c"]);
    check("<!-- a\n\nb", &[]);
    check("a <!-- b --> c", &["1 a  c"]);
    check("a <!-- b\nc\nd --> e\nf", &["1 a", "3 e", "4 f"]);
    check("a <!-- b\nc", &["1 a <!-- b", "2 c"]);
    check("`<!--` a `-->`", &["1 `<!--` a `-->`"]);
    check("<div>\na\n\n## b", &["1 <div>", "2 a", "4 ## b"]);
    check("<details>\n## a\n\nb", &["1 <details>", "2 ## a", "4 b"]);
    check("<script>\na\n\nb</script>\nc", &["5 c"]);
    check("<pre>\na\n</pre>", &[]);
    check("<b>\nc", &["1 <b>", "2 c"]);
    check("x\n<b>\n## c", &["1 x", "2 <b>", "3 ## c"]);
    check("- <!-- a\nb\n", &["2 b"]);
}

#[test]
fn deep_nesting_is_text_in_the_end() {
    for marker in [">", "- ", "1. "] {
        let text = marker.repeat(100_000) + "a";
        assert!(scan([text.as_str()]).len() <= 1);
    }
    let blank_lines = format!("{}a{}", "- ".repeat(40), "\n".repeat(100_000));
    assert_eq!(show(&blank_lines).len(), 1);
    // Here pulldown-cmark takes quadratic time (docs/decisions/0050-markdown-scanner.md).
    let fence = format!("{}```\n{}", "- ".repeat(500_000), "\n".repeat(1_000_000));
    assert!(show(&fence).len() <= 2);
}

/// Fences (info, contents) and headings (level) according to the oracle, without underlined headings.
fn oracle(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut fence: Option<(String, String)> = None;
    for (event, range) in Parser::new(text).into_offset_iter() {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) => {
                // The oracle decodes the info string; ours is raw.
                let opening = text[range].lines().next().unwrap_or_default();
                let info = opening.trim_start_matches(['`', '~']).trim().to_owned();
                fence = Some((info, String::new()));
            }
            Event::Text(part) => {
                if let Some((_, contents)) = &mut fence {
                    contents.push_str(&part);
                }
            }
            Event::End(TagEnd::CodeBlock) => {
                if let Some((info, contents)) = fence.take() {
                    let contents: Vec<&str> = contents.lines().collect();
                    found.push(format!("~{info}: {}", contents.join("|")));
                }
            }
            Event::Start(Tag::Heading { level, .. }) if text[range.clone()].trim_start().starts_with('#') => {
                found.push(format!("heading {}", heading_number(level)));
            }
            _ => {}
        }
    }
    found
}

fn heading_number(level: HeadingLevel) -> usize {
    level as usize
}

fn ours(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let show_one = |block: &Block<'_>| match block {
        Block::Heading(heading) => Some(format!("heading {}", heading.level)),
        Block::Fence(fence) => Some(format!("~{}: {}", fence.info, fence.lines.join("|"))),
        Block::Text(_) => None,
    };
    scan(lines).iter().filter_map(show_one).collect()
}

/// Lines made of tokens that decide block structure.
fn markdown() -> impl Strategy<Value = String> {
    let prefix = prop::sample::select(vec![
        "", "", "", " ", "  ", "   ", "    ", "> ", ">", "- ", "* ", "1. ", "2. ", "  - ", "     ",
    ]);
    let body = prop::sample::select(vec![
        "",
        "a",
        "```",
        "```x",
        "~~~",
        "~~~~",
        "````",
        "## h",
        "# h #",
        "---",
        "===",
        "***",
        "<!-- c",
        "-->",
        "<!-- c -->",
        "<div>",
        "</div>",
        "<b>",
        "<pre>",
        "</pre>",
        "`` ` ``",
        "-",
        "1.",
        "<?",
        "?>",
        "a b",
    ]);
    let line = (prop::collection::vec(prefix, 0..3), body).prop_map(|(prefixes, body)| prefixes.concat() + body);
    prop::collection::vec(line, 0..14).prop_map(|lines| lines.join("\n") + "\n")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, ..ProptestConfig::default() })]

    #[test]
    fn fences_and_headings_are_those_of_pulldown_cmark(text in markdown()) {
        prop_assert_eq!(ours(&text), oracle(&text), "{:?}", text);
    }

    #[test]
    fn any_text_can_be_scanned(text in ".{0,200}|[\\-> \\t`~#<!\n]{0,200}") {
        let count = text.lines().count();
        prop_assert!(scan(text.lines()).len() <= count);
    }
}
