//! A table of the scripts of a run, redrawn on the terminal while they run: which are waiting, which one is running and for how
//! long, and how the others ended. Not used if stderr is not a terminal.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use stan_engine::context::reports::ScriptReport;
use stan_engine::context::script_end;

use crate::terminal::{Text, Untrusted, redraw_rows, text};

/// More rows than this may not fit on the screen, and then the cursor cannot return to the first one.
const MAX_ROWS: usize = 16;

/// Longer names are truncated, so that a row is one line.
const MAX_NAME_CHARS: usize = 32;

const PAUSE: Duration = Duration::from_millis(200);

pub(crate) struct ScriptTable {
    rows: Arc<Mutex<Rows>>,
    drawer: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Rows {
    rows: Vec<(String, RowState)>,
    /// How many lines are on the screen.
    drawn: usize,
    is_over: bool,
}

enum RowState {
    Waiting,
    Running(Instant),
    Ended(String),
}

impl ScriptTable {
    /// `None` if there are too many rows, or no thread can be started.
    pub(crate) fn start(names: &[String]) -> Option<Self> {
        if names.is_empty() || names.len() > MAX_ROWS {
            return None;
        }
        let rows = names.iter().map(|name| (name.clone(), RowState::Waiting)).collect();
        let rows = Arc::new(Mutex::new(Rows { rows, ..Rows::default() }));
        let shared = Arc::clone(&rows);
        let drawer = std::thread::Builder::new().spawn(move || {
            loop {
                let mut rows = lock(&shared);
                rows.draw();
                if rows.is_over {
                    return;
                }
                drop(rows);
                std::thread::park_timeout(PAUSE);
            }
        });
        Some(Self { rows, drawer: Some(drawer.ok()?) })
    }

    pub(crate) fn started(&self, name: &str) {
        self.set(name, RowState::Running(Instant::now()));
    }

    /// Marks a script as ended. Returns true if it was the last one.
    pub(crate) fn ended(&self, report: &ScriptReport) -> bool {
        self.set(&report.name, RowState::Ended(script_end(report)));
        lock(&self.rows).rows.iter().all(|(_, state)| matches!(state, RowState::Ended(_)))
    }

    fn set(&self, name: &str, new: RowState) {
        if let Some((_, state)) = lock(&self.rows).rows.iter_mut().find(|(known, _)| known == name) {
            *state = new;
        }
    }
}

impl Drop for ScriptTable {
    fn drop(&mut self) {
        lock(&self.rows).is_over = true;
        if let Some(drawer) = self.drawer.take() {
            drawer.thread().unpark();
            // If the drawing thread panicked, there is nothing left to draw.
            let _ = drawer.join();
        }
    }
}

impl Rows {
    fn draw(&mut self) {
        let widest = self.rows.iter().map(|(name, _)| name.len().min(MAX_NAME_CHARS)).max().unwrap_or_default();
        let lines: Vec<Text> = self.rows.iter().map(|(name, state)| line(name, state, widest, self.is_over)).collect();
        redraw_rows(&lines, self.drawn);
        self.drawn = lines.len();
    }
}

fn line(name: &str, state: &RowState, widest: usize, is_over: bool) -> Text {
    let name: String = name.chars().take(MAX_NAME_CHARS).collect();
    let name = format!("{name:widest$}");
    let state = match state {
        RowState::Waiting if is_over => "did not run".to_owned(),
        RowState::Waiting => "waiting".to_owned(),
        RowState::Running(_) if is_over => "interrupted".to_owned(),
        RowState::Running(since) => format!("running, {} s", since.elapsed().as_secs()),
        RowState::Ended(how) => how.clone(),
    };
    text!("script {}  {}", Untrusted::new(&name), Untrusted::new(&state))
}

fn lock(rows: &Mutex<Rows>) -> MutexGuard<'_, Rows> {
    rows.lock().unwrap_or_else(PoisonError::into_inner)
}
