//! git's index: one reader of its format (`file`, with the bitmaps of split indexes in `ewah`) and two views: names of tracked
//! files (`tracked`, for each scan), and whole entries (`entries`, to find changes).

pub(crate) mod entries;
mod ewah;
pub(crate) mod file;
pub(crate) mod tracked;
