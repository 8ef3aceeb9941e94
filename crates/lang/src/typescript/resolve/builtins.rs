//! The modules of the JavaScript runtime. A fixed list for current Node: the installed Node version must not change an answer.

/// Names that are valid with and without `node:`, sorted.
const PLAIN: [&str; 68] = [
    "_http_agent",
    "_http_client",
    "_http_common",
    "_http_incoming",
    "_http_outgoing",
    "_http_server",
    "_stream_duplex",
    "_stream_passthrough",
    "_stream_readable",
    "_stream_transform",
    "_stream_wrap",
    "_stream_writable",
    "_tls_common",
    "_tls_wrap",
    "assert",
    "assert/strict",
    "async_hooks",
    "buffer",
    "child_process",
    "cluster",
    "console",
    "constants",
    "crypto",
    "dgram",
    "diagnostics_channel",
    "dns",
    "dns/promises",
    "domain",
    "events",
    "fs",
    "fs/promises",
    "http",
    "http2",
    "https",
    "inspector",
    "inspector/promises",
    "module",
    "net",
    "os",
    "path",
    "path/posix",
    "path/win32",
    "perf_hooks",
    "process",
    "punycode",
    "querystring",
    "readline",
    "readline/promises",
    "repl",
    "stream",
    "stream/consumers",
    "stream/promises",
    "stream/web",
    "string_decoder",
    "sys",
    "timers",
    "timers/promises",
    "tls",
    "trace_events",
    "tty",
    "url",
    "util",
    "util/types",
    "v8",
    "vm",
    "wasi",
    "worker_threads",
    "zlib",
];

/// Names that are valid only with `node:`.
const PREFIX_ONLY: [&str; 4] = ["sea", "sqlite", "test", "test/reporters"];

/// The node id of a builtin module; `None` if the specifier is not one.
pub(crate) fn builtin(specifier: &str) -> Option<String> {
    if let Some(name) = specifier.strip_prefix("node:") {
        return (is_plain(name) || PREFIX_ONLY.contains(&name)).then(|| specifier.to_owned());
    }
    if is_plain(specifier) {
        return Some(format!("node:{specifier}"));
    }
    let (scheme, rest) = specifier.split_once(':')?;
    (matches!(scheme, "bun" | "cloudflare" | "deno") && !rest.is_empty()).then(|| specifier.to_owned())
}

/// Whether a builtin's id belongs to Node itself.
pub(crate) fn is_node(id: &str) -> bool {
    id.starts_with("node:")
}

/// Whether the name is a builtin without any prefix.
pub(crate) fn is_plain(name: &str) -> bool {
    PLAIN.binary_search(&name).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted() {
        assert!(PLAIN.is_sorted());
    }

    #[test]
    fn builtins_are_normalised() {
        let cases = [
            ("fs", Some("node:fs")),
            ("node:fs/promises", Some("node:fs/promises")),
            ("node:test", Some("node:test")),
            ("test", None),
            ("node:nothing", None),
            ("bun:sqlite", Some("bun:sqlite")),
            ("cloudflare:workers", Some("cloudflare:workers")),
            ("fs-extra", None),
            ("", None),
        ];
        for (specifier, expected) in cases {
            assert_eq!(builtin(specifier).as_deref(), expected, "{specifier}");
        }
    }
}
