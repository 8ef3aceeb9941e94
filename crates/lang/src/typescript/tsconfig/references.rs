//! The projects that the `references` of a configuration resolve to, and which of them owns a file.

use std::collections::VecDeque;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use stan_repo::Files;

use super::membership::FileSet;
use super::pattern_set::{MAX_FOUND, PatternSet};
use super::patterns::Usage;
use super::{Config, Configs, Project};

/// How many indirectly referenced projects are read. Each of very many projects may refer to all others.
const MAX_INDIRECT: usize = 1_024;
/// How many references of referenced projects are read to find them.
const MAX_READ: usize = 1 << 16;
/// Fewer references are searched linearly.
const FEW: usize = 16;

/// Projects in TypeScript's order: breadth first.
pub(super) struct Reachable {
    projects: Vec<(Arc<Config>, Arc<FileSet>)>,
    /// The number of directly referenced projects, which come first.
    direct: usize,
    index: Option<Index>,
}

/// Finds the directly referenced projects that may own a file.
struct Index {
    /// By path in `files`.
    literal: FxHashMap<String, Vec<u32>>,
    include: PatternSet,
}

impl Configs<'_> {
    pub(super) fn reachable(&self, project: &Project) -> Reachable {
        let mut seen: FxHashSet<String> = project.config.file.iter().cloned().collect();
        let mut queue: VecDeque<String> =
            project.references.iter().filter(|path| seen.insert((*path).clone())).cloned().collect();
        let direct = queue.len();
        let mut projects = Vec::with_capacity(direct);
        let (mut indirect, mut read) = (0, 0);
        let mut is_cut = false;
        while let Some(path) = queue.pop_front() {
            let found = self.project(&path);
            projects.push((Arc::clone(&found.config), Arc::clone(&found.files)));
            for path in &found.references {
                read += 1;
                if seen.contains(path) {
                    is_cut |= read > MAX_READ;
                } else if indirect == MAX_INDIRECT {
                    is_cut = true;
                } else {
                    indirect += 1;
                    seen.insert(path.clone());
                    queue.push_back(path.clone());
                }
                if is_cut {
                    break;
                }
            }
        }
        if is_cut {
            let file = project.config.file.as_deref().unwrap_or(&project.config.directory);
            let message = format!(
                "`references` reaches more than {MAX_INDIRECT} projects that it does not name itself; the rest is left out"
            );
            self.problems.report(file, None, &message);
        }
        let index = (direct > FEW).then(|| Index::new(&projects[..direct]));
        Reachable { projects, direct, index }
    }
}

impl Reachable {
    /// The first project that owns the file.
    pub(super) fn owner(&self, files: &dyn Files, path: &str) -> Option<&Arc<Config>> {
        let includes = |place: &usize| self.projects.get(*place).is_some_and(|(_, set)| set.includes(files, path));
        let direct = match &self.index {
            Some(index) => index.places(path).into_iter().find(includes),
            None => (0..self.direct).find(includes),
        };
        let place = direct.or_else(|| (self.direct..self.projects.len()).find(includes))?;
        self.projects.get(place).map(|(config, _)| config)
    }
}

impl Index {
    fn new(projects: &[(Arc<Config>, Arc<FileSet>)]) -> Self {
        let mut literal: FxHashMap<String, Vec<u32>> = FxHashMap::default();
        for (place, (_, set)) in (0u32..).zip(projects) {
            #[expect(clippy::iter_over_hash_type, reason = "each path has a list of its own")]
            for path in &set.literal {
                literal.entry(path.clone()).or_default().push(place);
            }
        }
        let specs = (0u32..).zip(projects).flat_map(|(place, (_, set))| {
            set.specs.iter().map(move |spec| (spec.as_str(), set.directory.as_str(), place))
        });
        Self { literal, include: PatternSet::new(specs, Usage::Include) }
    }

    /// The projects that may own the file, ascending; only the first ones if there are very many.
    fn places(&self, path: &str) -> Vec<usize> {
        let mut places = self.include.all(path);
        places.extend(self.literal.get(path).into_iter().flatten().take(MAX_FOUND));
        places.sort_unstable();
        places.dedup();
        places.into_iter().map(|place| place as usize).collect()
    }
}
