//! How a verb waits for another run in the same workspace, and tells what it is at. The program supplies the clock
//! and the terminal; libraries have neither.

/// The program's side of waiting and progress.
pub trait Progress {
    /// The process and the command, for those who wait for this run.
    fn holder(&self) -> (u32, String);

    /// Another run, described by its own words, is in the way.
    fn waits_for(&mut self, holder: &str);

    /// Sleeps a little; `false` when it has waited long enough.
    fn pause(&mut self) -> bool;

    /// What the run is at now.
    fn stage(&mut self, stage: &'static str);

    /// Something that the user must know before anything is written.
    fn notice(&mut self, _line: &str) {}
}

/// Does not wait and says nothing: for tests and for callers that run alone.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoProgress;

impl Progress for NoProgress {
    fn holder(&self) -> (u32, String) {
        (0, "a library call".to_owned())
    }

    fn waits_for(&mut self, _holder: &str) {}

    fn pause(&mut self) -> bool {
        false
    }

    fn stage(&mut self, _stage: &'static str) {}
}
