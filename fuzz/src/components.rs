//! The laws of the parser of Vue, Svelte and Astro files: which parts are code.

use stan_lang::typescript::extract::script_blocks;

use crate::extract::check;
use crate::room::with_room;

const NAMES: [&str; 3] = ["a.vue", "a.svelte", "a.astro"];

/// The first byte selects the kind of file. Code blocks are in order and separate, and all properties of extraction hold.
pub fn law(bytes: &[u8]) {
    let Some((&kind, contents)) = bytes.split_first() else { return };
    let name = NAMES[usize::from(kind) % NAMES.len()];
    if let Ok(text) = std::str::from_utf8(contents) {
        let mut end = 0;
        for (start, source) in script_blocks(name, text) {
            assert!(start >= end, "a block starts at {start}, the one before it ends at {end}");
            end = start + source.len();
            assert_eq!(text.get(start..end), Some(source), "a block lies where it says");
            let tag = source.to_ascii_lowercase();
            let ends_script = tag.contains("</script>");
            assert!(!ends_script || name == "a.astro", "a closing tag ends a block: {source:?}");
        }
    }
    with_room(|| {
        let extraction = check(name, contents);
        let offers_itself = extraction.facts.exports.iter().any(|export| &*export.name == "default");
        assert!(offers_itself || extraction.problems.iter().any(|problem| problem.message.contains("not text")));
    });
}
