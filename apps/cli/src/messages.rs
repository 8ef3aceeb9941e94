//! What goes to stderr beside a command's output: hints, warnings, progress. Errors are in `exit`.
#![expect(clippy::print_stderr, reason = "programs talk to the terminal")]

use std::io::{IsTerminal, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use stan_engine::context::Patience;

use crate::args::Cli;
use crate::style::{Style, printable};

/// How many lines of one sort are shown; `--json` has all of them.
const SHOWN: usize = 10;

/// Stderr as this run wants it.
pub(crate) struct Messages {
    style: Style,
    quiet: bool,
}

impl Messages {
    pub(crate) fn new(cli: &Cli) -> Self {
        Self { style: Style::of_stderr(cli.color), quiet: cli.quiet }
    }

    pub(crate) fn hints(&self, hints: &[String]) {
        if !self.quiet {
            hints.iter().for_each(|hint| eprintln!("{} {}", self.style.strong("hint:"), printable(hint)));
        }
    }

    pub(crate) fn warnings(&self, warnings: &[String]) {
        self.lines(warnings, "--json lists them under `warnings`");
    }

    pub(crate) fn errors_of_graph(&self, errors: &[String]) {
        self.lines(errors, "--json lists them under `errors`");
    }

    fn lines(&self, lines: &[String], where_all_are: &str) {
        if self.quiet {
            return;
        }
        for line in lines.iter().take(SHOWN) {
            eprintln!("{} {}", self.style.warning("warning:"), printable(line));
        }
        if lines.len() > SHOWN {
            eprintln!("{} {} more; {where_all_are}", self.style.warning("warning:"), lines.len() - SHOWN);
        }
    }

    /// How this run waits for another one, and how it shows that it is at work.
    pub(crate) fn patience(&self, who: &'static str) -> TerminalPatience {
        let shows = std::io::stderr().is_terminal() && !self.quiet;
        TerminalPatience { who, quiet: self.quiet, waited: Duration::ZERO, progress: shows.then(Progress::start) }
    }
}

/// How long a run waits for another one in the same workspace.
const LONGEST_WAIT: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(50);

pub(crate) struct TerminalPatience {
    who: &'static str,
    quiet: bool,
    waited: Duration,
    progress: Option<Progress>,
}

impl Patience for TerminalPatience {
    fn holder(&self) -> (u32, String) {
        (std::process::id(), self.who.to_owned())
    }

    fn waits_for(&mut self, holder: &str) {
        if !self.quiet {
            eprintln!("waiting for another run ({holder})");
        }
    }

    fn pause(&mut self) -> bool {
        std::thread::sleep(PAUSE);
        self.waited += PAUSE;
        self.waited < LONGEST_WAIT
    }

    fn stage(&mut self, stage: &'static str) {
        if let Some(progress) = &self.progress {
            progress.set(stage);
        }
    }
}

/// Quicker runs show no progress.
const SHOW_AFTER: Duration = Duration::from_millis(500);

/// A line on the terminal that says what the run is at, drawn by a thread of its own so that long stages show too.
struct Progress {
    stage: Arc<Mutex<Option<&'static str>>>,
    drawer: Option<JoinHandle<()>>,
}

impl Progress {
    fn start() -> Self {
        let stage = Arc::new(Mutex::new(Some("starting")));
        let shared = Arc::clone(&stage);
        let drawer = std::thread::spawn(move || {
            let started = Instant::now();
            let mut shown = None;
            loop {
                let stage = *shared.lock().unwrap_or_else(PoisonError::into_inner);
                let Some(stage) = stage else { break };
                if started.elapsed() >= SHOW_AFTER && shown != Some(stage) {
                    eprint!("\r\x1b[K{stage} …");
                    let _ = std::io::stderr().flush();
                    shown = Some(stage);
                }
                std::thread::park_timeout(PAUSE);
            }
            if shown.is_some() {
                eprint!("\r\x1b[K");
            }
        });
        Self { stage, drawer: Some(drawer) }
    }

    fn set(&self, stage: &'static str) {
        *self.stage.lock().unwrap_or_else(PoisonError::into_inner) = Some(stage);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        *self.stage.lock().unwrap_or_else(PoisonError::into_inner) = None;
        if let Some(drawer) = self.drawer.take() {
            drawer.thread().unpark();
            // A drawer that panicked has nothing left to tidy up.
            let _ = drawer.join();
        }
    }
}
