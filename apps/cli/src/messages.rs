//! Messages on stderr beside a command's output: hints, warnings, progress. Errors are in `exit`.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use stan_engine::context::reports::{NotAnalysedFiles, not_analysed_line};
use stan_engine::context::{Progress, ScriptEvent, script_line};

use crate::args::{Cli, WaitArgs};
use crate::script_table::ScriptTable;
use crate::terminal::{Style, Text, Untrusted, redraw, stderr_is_terminal, style_of_stderr, tell, text};

/// How many messages of one kind are shown; `--json` has all.
const MAX_SHOWN: usize = 10;
const MAX_SHOWN_BESIDE_GRAPH: usize = 5;

/// Writes to stderr, with the verbosity of this run.
pub(crate) struct Messages {
    style: Style,
    quiet: bool,
    verbose: bool,
}

impl Messages {
    pub(crate) fn new(cli: &Cli) -> Self {
        Self { style: style_of_stderr(cli.global.color), quiet: cli.global.quiet, verbose: cli.global.verbose }
    }

    pub(crate) fn hints(&self, hints: &[String]) {
        if !self.quiet {
            hints.iter().for_each(|hint| tell(&text!("{} {}", self.style.strong("hint:"), Untrusted::new(hint))));
        }
    }

    /// Prints something useful to know that is not an error.
    pub(crate) fn note(&self, note: &Text) {
        if !self.quiet {
            tell(&text!("{} {}", self.style.strong("note:"), note));
        }
    }

    /// Prints which files are known only by name, because their language is not analysed.
    pub(crate) fn not_analysed(&self, files: &[NotAnalysedFiles]) {
        if let Some(line) = not_analysed_line(files) {
            self.note(&text!("{}", Untrusted::new(&line)));
        }
    }

    /// Prints how the answer was computed, if requested.
    pub(crate) fn explain(&self, line: &Text) {
        tell(line);
    }

    pub(crate) fn warnings(&self, warnings: &[String]) {
        self.lines(warnings, MAX_SHOWN, "--json lists them under `warnings`");
    }

    /// Prints what a graph could not read or resolve. `are_known`: an earlier run reported the same, and nothing has changed
    /// since.
    pub(crate) fn errors_of_graph(&self, errors: &[String], are_known: bool) {
        self.errors(errors, are_known, MAX_SHOWN, "`-v` shows them, --json lists them under `errors`");
    }

    /// As `errors_of_graph`, for output formats that do not contain these errors.
    pub(crate) fn errors_beside_graph(&self, errors: &[String], are_known: bool) {
        let all = "`-v` shows them, `stan graph --json` lists them under `errors`";
        self.errors(errors, are_known, MAX_SHOWN_BESIDE_GRAPH, all);
    }

    /// Errors are listed once: a run without new ones prints only their number.
    fn errors(&self, errors: &[String], are_known: bool, shown: usize, where_all_are: &'static str) {
        if self.verbose {
            return self.lines(errors, usize::MAX, where_all_are);
        }
        match (are_known, errors.len()) {
            (true, 1..) => {
                let count = match errors.len() {
                    1 => "1 warning".to_owned(),
                    more => format!("{more} warnings"),
                };
                self.note(&text!("{} as before; {}", Untrusted::new(&count), where_all_are));
            }
            _ => self.lines(errors, shown, where_all_are),
        }
    }

    fn lines(&self, lines: &[String], shown: usize, where_all_are: &'static str) {
        if self.quiet {
            return;
        }
        let label = self.style.warning("warning:");
        for line in lines.iter().take(shown) {
            tell(&text!("{} {}", label, Untrusted::new(line)));
        }
        if lines.len() > shown {
            tell(&text!("{} {} more; {}", label, lines.len() - shown, where_all_are));
        }
    }

    /// How this run waits for another one, and how it shows progress.
    pub(crate) fn progress(&self, who: &'static str, wait: &WaitArgs) -> TerminalProgress {
        let shows = stderr_is_terminal() && !self.quiet;
        let progress = if shows { ProgressLine::start() } else { None };
        let longest_wait = if wait.no_wait { Duration::ZERO } else { Duration::from_secs(wait.wait.into()) };
        TerminalProgress {
            who,
            style: self.style,
            quiet: self.quiet,
            longest_wait,
            waits_since: None,
            progress,
            table: None,
        }
    }
}

const PAUSE: Duration = Duration::from_millis(50);

pub(crate) struct TerminalProgress {
    who: &'static str,
    style: Style,
    quiet: bool,
    /// The maximum wait for another run in the same workspace.
    longest_wait: Duration,
    waits_since: Option<Instant>,
    progress: Option<ProgressLine>,
    /// Drawn while scripts run on a terminal.
    table: Option<ScriptTable>,
}

impl Progress for TerminalProgress {
    fn holder(&self) -> (u32, String) {
        (std::process::id(), self.who.to_owned())
    }

    fn waits_for(&mut self, holder: &str) {
        if !self.quiet {
            tell(&text!("waiting for another run ({})", Untrusted::new(holder)));
        }
    }

    fn pause(&mut self) -> bool {
        // Measured with the clock: on a busy machine, a sleep takes longer than requested.
        let left = self.longest_wait.saturating_sub(self.waits_since.get_or_insert_with(Instant::now).elapsed());
        std::thread::sleep(PAUSE.min(left));
        !left.is_zero()
    }

    fn notice(&mut self, line: &str) {
        if !self.quiet {
            if self.progress.is_some() {
                // Clears the progress line; its thread draws it again below the note.
                redraw("", "");
            }
            tell(&text!("{} {}", self.style.strong("note:"), Untrusted::new(line)));
        }
    }

    fn script(&mut self, event: ScriptEvent<'_>) {
        match (event, &self.table) {
            (ScriptEvent::Planned(names), _) if self.progress.is_some() => {
                // Only one of the two may draw.
                self.table = ScriptTable::start(names);
                if self.table.is_some() {
                    self.progress = None;
                }
            }
            (ScriptEvent::Started(name), Some(table)) => table.started(name),
            (ScriptEvent::Ended(report), Some(table)) => {
                let was_last = table.ended(report);
                if was_last {
                    self.table = None;
                    self.progress = ProgressLine::start();
                }
            }
            (ScriptEvent::Ended(report), None) => self.notice(&script_line(report)),
            _ => {}
        }
    }

    fn stage(&mut self, stage: &'static str) {
        if let Some(progress) = &self.progress {
            progress.set(stage);
        }
    }
}

/// Faster runs show no progress.
const SHOW_AFTER: Duration = Duration::from_millis(500);

/// A line on the terminal with the current stage. Drawn by its own thread, so that it also appears during long stages.
struct ProgressLine {
    stage: Arc<Mutex<Option<&'static str>>>,
    drawer: Option<JoinHandle<()>>,
}

impl ProgressLine {
    /// `None` if no thread can be started.
    fn start() -> Option<Self> {
        let stage = Arc::new(Mutex::new(Some("starting")));
        let shared = Arc::clone(&stage);
        let drawer = std::thread::Builder::new().spawn(move || {
            let started = Instant::now();
            let mut shown = None;
            loop {
                let stage = *shared.lock().unwrap_or_else(PoisonError::into_inner);
                let Some(stage) = stage else { break };
                if started.elapsed() >= SHOW_AFTER && shown != Some(stage) {
                    redraw(stage, " …");
                    shown = Some(stage);
                }
                std::thread::park_timeout(PAUSE);
            }
            if shown.is_some() {
                redraw("", "");
            }
        });
        Some(Self { stage, drawer: Some(drawer.ok()?) })
    }

    fn set(&self, stage: &'static str) {
        *self.stage.lock().unwrap_or_else(PoisonError::into_inner) = Some(stage);
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        *self.stage.lock().unwrap_or_else(PoisonError::into_inner) = None;
        if let Some(drawer) = self.drawer.take() {
            drawer.thread().unpark();
            // If the drawing thread panicked, there is nothing to clean up.
            let _ = drawer.join();
        }
    }
}
