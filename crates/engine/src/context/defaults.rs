//! The files that an archive leaves out unless the configuration includes them or the selection names them (spec 30 §2): lock
//! files, bundles, drawings and large texts. They cost many tokens and say little. Decides by name and size, and for some files
//! by their first bytes.

use std::path::Path;

use stan_repo::{PathGlobs, System, SystemExt as _, with_contents};

use super::allow::Rules;

/// Larger texts are left out.
const MAX_TEXT_BYTES: u64 = 256 << 10;
/// Smaller scripts are not checked for being bundles.
const MIN_BUNDLE_BYTES: u64 = 16 << 10;
/// How many bytes of a file are read to judge it.
const LOOK: usize = 8 << 10;
/// Scripts with a longer average line are considered generated.
const LONG_LINE: usize = 500;

const LOCK_FILES: &[&str] = &[
    ".pnp.cjs",
    ".pnp.loader.mjs",
    ".terraform.lock.hcl",
    "Cargo.lock",
    "Cartfile.resolved",
    "Chart.lock",
    "Gemfile.lock",
    "MODULE.bazel.lock",
    "Package.resolved",
    "Pipfile.lock",
    "Podfile.lock",
    "buildscript-gradle.lockfile",
    "bun.lock",
    "bun.lockb",
    "cabal.project.freeze",
    "composer.lock",
    "conda-lock.yml",
    "deno.lock",
    "flake.lock",
    "gems.locked",
    "go.sum",
    "go.work.sum",
    "gradle.lockfile",
    "mix.lock",
    "npm-shrinkwrap.json",
    "package-lock.json",
    "packages.lock.json",
    "paket.lock",
    "pdm.lock",
    "pixi.lock",
    "pnpm-lock.yaml",
    "poetry.lock",
    "pubspec.lock",
    "pylock.toml",
    "rebar.lock",
    "renv.lock",
    "shard.lock",
    "stack.yaml.lock",
    "uv.lock",
    "yarn.lock",
];

const SCRIPTS: &[&str] = &["cjs", "css", "js", "mjs"];

/// The default rules, and the files that the configuration includes nevertheless.
pub(super) struct Defaults {
    includes: Option<PathGlobs>,
}

impl Defaults {
    pub(super) fn new(rules: &Rules<'_>) -> Self {
        // Always succeeds: the globs were validated when the configuration was read.
        let includes = PathGlobs::new(&with_contents(&rules.scan.includes)).ok();
        Self { includes: includes.filter(|_| !rules.scan.includes.is_empty()) }
    }

    /// Why a file is left out; `real` is the path of its bytes.
    pub(super) fn reason(&self, rules: &Rules<'_>, path: &str, real: &str) -> Option<&'static str> {
        // The workspace's own folders have separate rules.
        if rules.layout.below_stan_path(path).is_some() {
            return None;
        }
        let reason = by_name(path).or_else(|| by_size(rules, path, real))?;
        (!self.includes(path)).then_some(reason)
    }

    /// Whether the configuration includes a file, so that no default rule leaves it out.
    pub(super) fn includes(&self, path: &str) -> bool {
        self.includes.as_ref().is_some_and(|globs| globs.is_match(path))
    }
}

const BUNDLE: &str = "it is a minified or generated bundle";

fn by_name(path: &str) -> Option<&'static str> {
    let name = path.rsplit('/').next().unwrap_or(path);
    if LOCK_FILES.binary_search(&name).is_ok() {
        return Some("it is a lock file");
    }
    let lower = name.to_ascii_lowercase();
    let (stem, extension) = lower.rsplit_once('.').unwrap_or((&lower, ""));
    match extension {
        "svg" | "svgz" => Some("it is an SVG drawing"),
        "map" if stem.contains('.') => Some(BUNDLE),
        _ if SCRIPTS.contains(&extension) && stem.ends_with(".min") => Some(BUNDLE),
        _ if SCRIPTS.contains(&extension) && (stem.ends_with(".bundle") || stem.ends_with("-bundle")) => Some(BUNDLE),
        _ => None,
    }
}

fn by_size(rules: &Rules<'_>, path: &str, real: &str) -> Option<&'static str> {
    let absolute = rules.layout.absolute(real);
    let size = rules.system.lstat(Path::new(&absolute)).ok()?.size;
    if size < MIN_BUNDLE_BYTES {
        return None;
    }
    let is_script = path.rsplit_once('.').is_some_and(|(_, extension)| SCRIPTS.contains(&extension));
    if is_script && has_long_lines(&start(rules.system, &absolute)) {
        return Some(BUNDLE);
    }
    if size <= MAX_TEXT_BYTES {
        return None;
    }
    (!is_binary(rules.system, &absolute)).then_some("it is a text of more than 256 KiB")
}

/// Whether a NUL byte in the first bytes marks a file as binary. Binaries have separate rules.
pub(super) fn is_binary(system: &dyn System, absolute: &str) -> bool {
    start(system, absolute).contains(&0)
}

fn start(system: &dyn System, path: &str) -> Vec<u8> {
    let mut bytes = vec![0; LOOK];
    match system.read_range(Path::new(path), 0, &mut bytes) {
        Ok(()) => bytes,
        Err(_) => Vec::new(),
    }
}

fn has_long_lines(text: &[u8]) -> bool {
    let lines = text.iter().filter(|byte| **byte == b'\n').count() + 1;
    text.len() / lines > LONG_LINE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_left_out() {
        assert!(LOCK_FILES.is_sorted());
        for (path, expected) in [
            ("pnpm-lock.yaml", true),
            ("packages/a/Cargo.lock", true),
            ("go.sum", true),
            ("go.mod", false),
            ("logo.SVG", true),
            ("a.min.js", true),
            ("a.min.ts", false),
            ("main.js.map", true),
            ("site.map", false),
            ("app.bundle.css", true),
            ("bundle.ts", false),
            ("src/minify.js", false),
        ] {
            assert_eq!(by_name(path).is_some(), expected, "{path}");
        }
        assert!(has_long_lines(&[b'a'; 4000]) && !has_long_lines(b"a\nb\n"));
    }
}
