//! `stan` as users run it: arguments in; stdout, stderr, exit code and files out. A single test program, so that it links once.
#![expect(clippy::disallowed_methods, reason = "these tests build real directories")]
#![expect(clippy::disallowed_macros, reason = "tests may print what they like")]
#![expect(clippy::print_stdout, reason = "a test says what it skips on this machine")]

mod answers;
#[cfg(unix)]
mod apply;
mod apply_more;
mod archives;
mod at_once;
mod check;
mod completions;
mod context;
mod docs;
mod errors;
mod errors_maps;
mod errors_workspace;
#[cfg(unix)]
mod examples;
mod export;
mod first_minute;
mod formats;
#[cfg(unix)]
mod full_disk;
mod graph;
#[cfg(unix)]
mod hostile_text;
mod init;
mod integrity;
#[cfg(unix)]
mod killed;
#[cfg(unix)]
mod limits;
mod mcp;
mod mcp_client;
mod mcp_hostile;
mod mcp_soak;
mod outline;
mod outside;
mod pack;
mod privacy;
mod project;
#[cfg(unix)]
mod reply_kinds;
mod reproducible;
mod root_files;
mod sarif;
mod schemas;
#[cfg(unix)]
mod scripts;
mod secrets;
mod seeds;
#[cfg(feature = "s3")]
mod shared_bucket;
mod shared_cache;
mod snapshots;
mod suggest;
mod support;
#[cfg(unix)]
mod view;
mod writers;
