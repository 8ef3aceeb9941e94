//! Analyse with a shared cache: files are read in the groups of the bundles, instead of in batches that fit the processor's caches.
//! Everything else is as in `analyse.rs`.

use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use super::analyse::{ThreadState, forget_requests};
use super::{AnalysedChunks, CompileRun};
use crate::graph::analyse::{Analysed, analyse_shared};
use crate::graph::compile::Keep;
use crate::graph::stages::resolve::ThreadResolver;
use crate::shared::{Bundles, groups};

impl CompileRun<'_> {
    /// As `analyse_universe`, for a run without results of an earlier one.
    pub(super) fn analyse_in_groups(&self, bundles: &Bundles, keep: Keep) -> (AnalysedChunks, usize) {
        let files = &self.universe.files;
        let large = Mutex::new(Vec::new());
        let groups = groups(files, self.options.languages);
        let analysed: Vec<Vec<Analysed>> = rayon::scope(|scope| {
            let analysed = groups.into_par_iter().with_max_len(1).map_init(
                || self.thread_state(keep),
                |state, group| {
                    let start = group.start;
                    let paths = files.get(group).unwrap_or_default();
                    self.analyse_group(state, paths, bundles, keep, |at| {
                        let large = &large;
                        scope.spawn(move |_| {
                            let path = paths.get(at);
                            let file = path.map(|path| self.analyse_large_shared(path, bundles, keep));
                            let found = (start + at, file.unwrap_or_default());
                            large.lock().unwrap_or_else(PoisonError::into_inner).push(found);
                        });
                    })
                },
            );
            analysed.collect()
        });
        let mut chunks = AnalysedChunks::of(analysed.into_iter().flatten());
        for (index, file) in large.into_inner().unwrap_or_else(PoisonError::into_inner) {
            chunks.put(index, file, Vec::new());
        }
        (chunks, files.len())
    }

    fn analyse_group<'p>(
        &self,
        state: &mut ThreadState<'p>,
        paths: &'p [Box<str>],
        bundles: &Bundles,
        keep: Keep,
        on_large: impl Fn(usize),
    ) -> Vec<Analysed> {
        let mut files = Vec::with_capacity(paths.len());
        let root = self.nodes.root_prefix();
        let mut absolute = root.clone();
        while files.len() < paths.len() {
            let start = files.len();
            state.analyser.analyse_group(&root, &paths[start..], bundles, |file| {
                files.push(file.unwrap_or_else(|| {
                    on_large(files.len());
                    Analysed::default()
                }));
            });
            for (file, path) in files[start..].iter_mut().zip(&paths[start..]) {
                absolute.truncate(root.len());
                absolute.push_str(path);
                self.resolve_own(&absolute, file, &mut state.resolver);
                if keep == Keep::Nothing {
                    forget_requests(file);
                }
            }
        }
        files
    }

    fn analyse_large_shared(&self, path: &str, bundles: &Bundles, keep: Keep) -> Analysed {
        let absolute = self.nodes.absolute_of(path);
        let mut file = analyse_shared(self.system, &absolute, path, self.options, bundles);
        self.resolve_own(&absolute, &mut file, &mut ThreadResolver::new(self.resolvers, self.nodes));
        if keep == Keep::Nothing {
            forget_requests(&mut file);
        }
        file
    }
}
