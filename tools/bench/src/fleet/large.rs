//! A generated repository of a million files: time and memory must grow linearly with the number of files.

use std::path::Path;
use std::time::Duration;

use crate::Result;
use crate::fetch::{Store, git};
use crate::process::{ProcessOutcome, ProcessRun, Usage};

/// The target for a million files.
pub(super) const MAX_BYTES: u64 = 1_500_000_000;
/// Doubling the files may double the time, with some tolerance for a busy machine.
pub(super) const MAX_GROWTH: f64 = 2.5;
/// The number of runs per size; the minimum processor time counts.
const ROUNDS: usize = 3;

/// The cost of sizes that double.
pub(super) struct Large(pub(super) Vec<(usize, Usage)>);

impl Large {
    /// The ratios of processor time and memory between each size and the previous one.
    pub(super) fn growth(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        self.0.windows(2).filter_map(|pair| {
            let [(_, before), (_, after)] = pair else { return None };
            let time = after.cpu.as_secs_f64() / before.cpu.as_secs_f64().max(1e-9);
            Some((time, after.peak_bytes as f64 / before.peak_bytes.max(1) as f64))
        })
    }

    pub(super) fn holds(&self) -> bool {
        self.0.iter().all(|(_, usage)| usage.peak_bytes <= MAX_BYTES)
            && self.growth().all(|(time, memory)| time <= MAX_GROWTH && memory <= MAX_GROWTH)
    }
}

/// Measures a quarter, a half and all folders of one repository, which is removed at the end.
pub(super) fn measure(store: &Store, stan: &Path, files: usize) -> Result<Large> {
    let folder = tempfile::tempdir_in(store.folder("scratch"))?;
    eprintln!("generate {files} files");
    // Its own work tree: the enclosing repository ignores this folder, and ignored files are not analysed.
    git(folder.path(), &["init", "--quiet"])?;
    let (half, whole) = (folder.path().join("half"), folder.path());
    let quarter = half.join("quarter");
    generate(&quarter, files / 4)?;
    generate(&half.join("other"), files / 2 - files / 4)?;
    generate(&whole.join("other"), files - files / 2)?;
    let sizes = [(files / 4, quarter.as_path()), (files / 2, half.as_path()), (files, whole)];
    let measured = sizes.into_iter().map(|(files, place)| {
        eprintln!("measure {files} files");
        Ok((files, least(store, stan, place, files)?))
    });
    Ok(Large(measured.collect::<Result<_>>()?))
}

fn least(store: &Store, stan: &Path, place: &Path, files: usize) -> Result<Usage> {
    let (complaints, output) = (store.scratch("complaints"), store.scratch("answer"));
    let run = ProcessRun::new(stan, &["graph", "--stats", "--no-cache"], place).output_to(&output);
    let mut least = Usage { wall: Duration::MAX, cpu: Duration::MAX, peak_bytes: 0 };
    for _ in 0..ROUNDS {
        match run.measure(&complaints)? {
            ProcessOutcome::Done(usage) => {
                least.wall = least.wall.min(usage.wall);
                least.cpu = least.cpu.min(usage.cpu);
                // The maximum memory, because the limit is on the maximum.
                least.peak_bytes = least.peak_bytes.max(usage.peak_bytes);
            }
            ProcessOutcome::TimedOut(_) => return Err("it took too long".into()),
            ProcessOutcome::Failed(why) => return Err(why.into()),
        }
        let answer = std::fs::read_to_string(&output)?;
        if !answer.split_whitespace().any(|word| word.replace(',', "") == files.to_string()) {
            return Err(format!("not all of {files} files are analysed:\n{answer}").into());
        }
    }
    Ok(least)
}

/// Packages of a hundred files that import each other and the previous package.
fn generate(folder: &Path, files: usize) -> Result<()> {
    for package in 0..files.div_ceil(100) {
        let own = folder.join(format!("g{}/p{package}/src", package / 100));
        std::fs::create_dir_all(&own)?;
        let before = package.saturating_sub(1);
        for file in 0..100.min(files - package * 100) {
            let next = (file + 1) % 100;
            let text = format!(
                "/** File {file} of package {package}. @module */\nimport {{ v{next} }} from './f{next}.js';\n\
                 import {{ v0 as base }} from '../../../g{}/p{before}/src/f0.js';\n\
                 export const v{file} = (x: number): number => (x > {package} ? v{next}(x - 1) : base(x));\n\
                 export interface Shape{file} {{ name: string; size: number }}\n",
                before / 100
            );
            std::fs::write(own.join(format!("f{file}.ts")), text)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn large(sizes: &[(u64, u64)]) -> Large {
        let usage = |(ms, bytes): &(u64, u64)| Usage {
            wall: Duration::ZERO,
            cpu: Duration::from_millis(*ms),
            peak_bytes: *bytes,
        };
        Large(sizes.iter().map(|size| (0, usage(size))).collect())
    }

    #[test]
    fn growth_and_memory_are_judged() {
        assert!(large(&[(100, 10), (200, 20), (410, 41)]).holds());
        assert!(!large(&[(100, 10), (260, 20)]).holds());
        assert!(!large(&[(100, 10), (200, 30)]).holds());
        assert!(!large(&[(100, MAX_BYTES + 1)]).holds());
    }
}
