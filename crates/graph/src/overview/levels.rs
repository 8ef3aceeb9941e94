//! Coarser overviews: folders or packages instead of files. Each unit becomes a file of the overview, so that lines, fitting and
//! reading need no changes.

use rustc_hash::{FxHashMap, FxHashSet};

use super::references::split;
use super::{OverviewFile, OverviewImport, OverviewInput};

/// The number of exported names of a unit.
const MAX_NAMES: usize = 12;

/// A folder with one line for all code files in it, except those in units below it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unit {
    /// Root-relative, without the trailing slash; empty for the root.
    pub folder: String,
    pub description: Option<Box<str>>,
}

/// The repository by units. Files outside of all units belong to the root.
pub fn aggregate(input: &OverviewInput, units: &[Unit]) -> OverviewInput {
    let mut units: Vec<Unit> = units.to_vec();
    units.push(Unit::default());
    units.sort_by(|one, other| one.folder.cmp(&other.folder));
    units.dedup_by(|one, other| one.folder == other.folder);
    let by_folder: FxHashMap<&str, u32> = (0u32..).zip(&units).map(|(index, unit)| (&*unit.folder, index)).collect();
    let mut known: FxHashMap<&str, u32> = FxHashMap::default();
    let mut unit_of = Vec::with_capacity(input.files.len());
    for file in &input.files {
        let folder = split(&file.path).0;
        let unit = *known.entry(folder).or_insert_with(|| nearest(&by_folder, folder));
        unit_of.push(unit);
    }
    let mut files: Vec<OverviewFile> = units
        .iter()
        .map(|unit| OverviewFile {
            path: if unit.folder.is_empty() { ".".to_owned() } else { unit.folder.clone() },
            description: unit.description.clone(),
            ..OverviewFile::default()
        })
        .collect();
    let mut edges: FxHashSet<(u32, u32)> = FxHashSet::default();
    for (file, unit) in input.files.iter().zip(&unit_of).filter(|(file, _)| file.is_code) {
        let Some(place) = files.get_mut(*unit as usize) else { continue };
        place.is_code = true;
        place.size += file.size;
        place.tokens += file.tokens;
        place.exports.extend(file.exports.iter().filter(|(_, uses)| *uses > 0).cloned());
        let targets = file.imports.iter().filter_map(|import| unit_of.get(import.target as usize));
        edges.extend(targets.filter(|target| *target != unit).map(|target| (*unit, *target)));
    }
    let mut edges: Vec<(u32, u32)> = edges.into_iter().collect();
    edges.sort_unstable();
    for (from, to) in edges {
        if let Some(file) = files.get_mut(from as usize) {
            file.imports.push(OverviewImport { target: to, names: Vec::new() });
        }
        if let Some(file) = files.get_mut(to as usize) {
            file.importers += 1;
        }
    }
    for file in &mut files {
        file.exports.sort_by(|one, other| other.1.cmp(&one.1).then(one.0.cmp(&other.0)));
        file.exports.dedup_by(|one, other| one.0 == other.0);
        file.exports.truncate(MAX_NAMES);
    }
    OverviewInput { files, packages: input.packages.clone(), header: input.header.clone(), folders: Vec::new() }
}

fn nearest(units: &FxHashMap<&str, u32>, folder: &str) -> u32 {
    let mut at = folder;
    loop {
        if let Some(unit) = units.get(at) {
            return *unit;
        }
        if at.is_empty() {
            return 0;
        }
        at = split(at).0;
    }
}
