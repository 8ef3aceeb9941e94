//! The code of Vue, Svelte and Astro files.

use super::{extract, render};
use crate::typescript::extract::script_blocks;

#[track_caller]
fn check(path: &str, source: &str, expected: &str) {
    let extraction = extract(path, source);
    assert_eq!(extraction.problems, [], "{source}");
    assert_eq!(render(&extraction.facts).trim_end().replace('\n', "; "), expected, "{source}");
}

#[test]
fn scripts_of_vue_files_are_read() {
    check("a.vue", "<template><b/></template>\n<script>\nimport 'x'\n</script>", "3: x runtime Static; export default");
    check(
        "a.vue",
        "<script lang=\"ts\">let a = <T>b</script><script setup lang='ts'>\nimport {A} from 'x'</script>",
        "2: x runtime Static {A runtime}; export default",
    );
    check("a.vue", "\n<script src='./x.js'></script>", "2: ./x.js runtime Static; export default");
    check("a.vue", "<script src=\"https://h/x.js\"></script>", "export default");
    check(
        "a.vue",
        "<!-- <script>import 'x'</script> -->\n<SCRIPT>import 'y'</SCRIPT >",
        "2: y runtime Static; export default",
    );
    check(
        "a.vue",
        "<a b='<script>' c=\"</script>\"/><script d='>'>import 'x'</script>",
        "1: x runtime Static; export default",
    );
    check(
        "a.vue",
        "<style>a > b { c: '<script>' }</style><script type='application/json'>import 'x'</script>",
        "export default",
    );
    check("a.vue", "<script>import 'x'", "1: x runtime Static; export default");
    check("a.vue", "", "export default");
}

/// Found by fuzzing: the end of such a tag was after the end of the file.
#[test]
fn an_unclosed_quote_extends_to_the_end_of_the_file() {
    for text in ["<script a='", "<script a=\"b", "<p>ä</p><script lang='ts", "<script a=\""] {
        for (start, source) in script_blocks("a.vue", text) {
            assert_eq!((start, source), (text.len(), ""), "{text}");
        }
        check("a.vue", text, "export default");
    }
}

#[test]
fn html_ends_scripts_by_text() {
    check("a.vue", "<script>import 'x'; // </script> import 'y'", "1: x runtime Static; export default");
}

#[test]
fn scripts_of_svelte_files_are_read() {
    check(
        "a.svelte",
        "<script context='module'>export const a = import('x')</script>\n<script lang=ts>\nimport 'y'</script>",
        "1: x dynamic DynamicImport; 3: y runtime Static; export a; export default",
    );
    check("a.svelte", "<a b={c > '}'}><script>import 'x'</script></a>", "1: x runtime Static; export default");
}

#[test]
fn frontmatter_and_scripts_of_astro_files_are_read() {
    check(
        "a.astro",
        "---\nimport A from './A.astro';\nconst a: B = <A/>;\nreturn\n---\n<A/><script>import 'x'</script>",
        "2: ./A.astro runtime Static {default runtime}; 6: x runtime Static; export default",
    );
    check("a.astro", "<script is:inline>import 'x'</script>", "1: x runtime Static; export default");
}
