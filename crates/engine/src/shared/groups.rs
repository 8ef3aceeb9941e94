//! Decides which files share a bundle. Groups end at files whose name hashes match a pattern (content-defined chunking), so that
//! all machines form the same groups, and adding a file changes only the group around it.

use std::ops::Range;

use stan_lang::Languages;
use xxhash_rust::xxh3::xxh3_64;

/// The mean number of files with facts in a group. A request costs about as much as extracting one file, but one edited file
/// makes the whole bundle useless.
const MEAN_GROUP: u64 = 96;
/// Smaller groups are not worth a request.
const MIN_GROUP: usize = 16;
/// A hard limit, because file names may be chosen so that no hash matches.
const MAX_GROUP: usize = 512;
/// The most files without facts in a group.
const MAX_FILES: usize = 8192;

/// Ranges of `files`, in order and contiguous.
pub(crate) fn groups(files: &[Box<str>], languages: Languages) -> Vec<Range<usize>> {
    let mut groups = Vec::new();
    let (mut start, mut count) = (0, 0);
    for (index, file) in files.iter().enumerate() {
        if !languages.claim(file) {
            if index - start >= MAX_FILES {
                groups.push(start..index);
                (start, count) = (index, 0);
            }
            continue;
        }
        let is_end =
            count >= MAX_GROUP || (count >= MIN_GROUP && xxh3_64(tail(file).as_bytes()).is_multiple_of(MEAN_GROUP));
        if is_end {
            groups.push(start..index);
            (start, count) = (index, 0);
        }
        count += 1;
    }
    if start < files.len() {
        groups.push(start..files.len());
    }
    groups
}

/// The basename with its parent folder: many files are called `index.ts`, and folders are moved.
fn tail(path: &str) -> &str {
    let end = path.rfind('/').unwrap_or(0);
    let start = path.get(..end).and_then(|above| above.rfind('/')).map_or(0, |at| at + 1);
    path.get(start..).unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(count: usize) -> Vec<Box<str>> {
        (0..count).map(|index| format!("src/{:03}/f{index:05}.ts", index / 20).into()).collect()
    }

    #[test]
    fn groups_cover_all_files_in_order() {
        for count in [0, 1, 15, 100, 5000] {
            let files = files(count);
            let groups = groups(&files, Languages::all());
            let ends: Vec<usize> = groups.iter().flat_map(|group| [group.start, group.end]).collect();
            assert!(ends.is_sorted() && groups.windows(2).all(|pair| pair[0].end == pair[1].start));
            assert_eq!(groups.iter().map(ExactSizeIterator::len).sum::<usize>(), count);
        }
        let many = groups(&files(5000), Languages::all());
        assert!((20..120).contains(&many.len()), "{}", many.len());
    }

    #[test]
    fn a_new_file_changes_the_group_around_it_alone() {
        let files = files(5000);
        let mut more = files.clone();
        more.insert(2500, "src/125/f02499b.ts".into());
        let sets = |files: &[Box<str>]| -> std::collections::BTreeSet<Vec<Box<str>>> {
            groups(files, Languages::all()).into_iter().map(|group| files[group].to_vec()).collect()
        };
        let (before, after) = (sets(&files), sets(&more));
        assert!(before.difference(&after).count() <= 2, "{}", before.difference(&after).count());
    }

    #[test]
    fn names_that_are_all_alike_and_files_without_facts_are_cut_too() {
        let alike: Vec<Box<str>> = (0..3000).map(|_| "a/index.ts".into()).collect();
        assert!(groups(&alike, Languages::all()).iter().all(|group| group.len() <= MAX_GROUP));
        let pictures: Vec<Box<str>> = (0..20_000).map(|index| format!("{index}.png").into()).collect();
        assert!(groups(&pictures, Languages::all()).iter().all(|group| group.len() <= MAX_FILES));
    }
}
