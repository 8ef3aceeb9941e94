//! What the programs are made of: `cargo xtask supply` judges it, `sbom` lists it, `reproducible` proves that it gives the
//! same bytes everywhere.
//!
//! The policy is in `deny.toml`, where cargo-deny finds it too. Known vulnerabilities are not looked up here: their database
//! is elsewhere.

mod judge;
mod metadata;
mod policy;
pub(crate) mod reproducible;
mod sbom;
mod spdx;
mod unsafe_code;

use std::path::Path;

use metadata::Workspace;
use policy::Policy;

use crate::Result;

/// The workspaces: the product, the fuzzers beside it, and the addon of Node.
const MANIFESTS: [&str; 3] = ["Cargo.toml", "fuzz/Cargo.toml", ADDON];

/// The only workspace in which unsafe code is generated.
const ADDON: &str = "packages/node/native/Cargo.toml";

/// The answer is whether nothing breaks the policy.
pub(crate) fn run(root: &Path) -> Result<bool> {
    let policy = Policy::parse(&std::fs::read_to_string(root.join("deny.toml"))?)?;
    let mut broken = 0;
    for manifest in MANIFESTS {
        let workspace = Workspace::load(&root.join(manifest))?;
        let mut findings = judge::findings(&workspace, &policy);
        findings.extend(unsafe_findings(root, &workspace)?);
        for finding in &findings {
            eprintln!("{manifest}: {finding}");
        }
        println!("supply: {manifest}: {} packages, {} findings", workspace.packages.len(), findings.len());
        broken += findings.len();
    }
    Ok(broken == 0)
}

fn unsafe_findings(root: &Path, workspace: &Workspace) -> Result<Vec<String>> {
    let shown = |path: &Path| path.strip_prefix(root).unwrap_or(path).to_path_buf();
    let manifest = workspace.root.join("Cargo.toml");
    let mut findings: Vec<String> =
        unsafe_code::workspace_fault(&shown(&manifest), &std::fs::read_to_string(&manifest)?).into_iter().collect();
    for package in workspace.packages.values().filter(|package| package.source.is_none()) {
        let text = std::fs::read_to_string(&package.manifest)?;
        findings.extend(unsafe_code::member_fault(&shown(&package.manifest), &text));
    }
    if shown(&manifest) == Path::new(ADDON) {
        for name in ["build.rs", "src/lib.rs"] {
            let file = workspace.root.join(name);
            findings.extend(unsafe_code::unsafe_lines(&shown(&file), &std::fs::read_to_string(&file)?));
        }
    }
    Ok(findings)
}

#[derive(clap::Args)]
pub(crate) struct SbomOptions {
    /// Write target/stan.cdx.json instead of printing.
    #[arg(long)]
    write: bool,
}

/// Prints or writes the bill of materials.
pub(crate) fn sbom(root: &Path, options: &SbomOptions) -> Result<bool> {
    let text = sbom::document(&Workspace::load(&root.join("Cargo.toml"))?)?;
    if !options.write {
        print!("{text}");
        return Ok(true);
    }
    let folder = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), Into::into);
    let file = folder.join("stan.cdx.json");
    std::fs::create_dir_all(&folder)?;
    std::fs::write(&file, text)?;
    println!("wrote {}", file.display());
    Ok(true)
}
