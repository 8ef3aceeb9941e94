//! TypeScript and JavaScript, and the script blocks of Vue, Svelte and Astro files.

pub mod tsconfig;
pub mod workspaces;
