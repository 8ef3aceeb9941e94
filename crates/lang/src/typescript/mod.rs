//! TypeScript and JavaScript, and the script blocks of Vue, Svelte and Astro files.

pub mod declare;
pub mod extract;
pub mod globs;
mod package_map;
mod path_table;
pub mod resolve;
mod star_patterns;
pub mod tsconfig;
mod workspace_patterns;
pub mod workspaces;
