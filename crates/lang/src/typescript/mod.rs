//! TypeScript and JavaScript, and the script blocks of Vue, Svelte and Astro files.

pub mod declare;
pub mod extract;
pub mod globs;
pub mod resolve;
pub mod tsconfig;
pub mod workspaces;
