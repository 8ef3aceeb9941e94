//! Runs a command with `sh -c`: one pipe for both outputs, its own process group, and a kill for the whole group.

#[cfg(unix)]
pub(super) use unix::run;

#[cfg(unix)]
mod unix {
    use std::io::{self, Read};
    use std::os::unix::process::{CommandExt, ExitStatusExt};
    use std::process::{Child, Command, Stdio};
    use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
    use std::time::{Duration, Instant};

    use rustix::process::{Pid, Signal, kill_process_group};

    use crate::processes::{ShellCommand, ShellEnd, ShellOutcome};

    /// How often the timeout and cancellation are polled.
    const TICK: Duration = Duration::from_millis(20);

    /// How long processes that the command left running may still write after it has ended.
    const GRACE: Duration = Duration::from_millis(300);

    pub(in super::super) fn run(
        command: &ShellCommand<'_>,
        is_cancelled: &dyn Fn() -> bool,
    ) -> io::Result<ShellOutcome> {
        let started = Instant::now();
        let (mut reader, writer) = io::pipe()?;
        let mut child = Command::new("sh")
            .arg("-c")
            .arg(command.text)
            .current_dir(command.directory)
            .stdin(Stdio::null())
            .stdout(writer.try_clone()?)
            .stderr(writer)
            .process_group(0)
            .spawn()?;
        let (sender, pieces) = sync_channel::<Vec<u8>>(64);
        // The thread ends when the pipe is closed, and is not joined: a process that left the group may hold the pipe open for a
        // long time.
        std::thread::Builder::new().spawn(move || {
            let mut buffer = vec![0; 64 << 10];
            while let Ok(count @ 1..) = reader.read(&mut buffer) {
                if sender.send(buffer.get(..count).unwrap_or_default().to_vec()).is_err() {
                    break;
                }
            }
        })?;
        let mut capture = Capture { output: Vec::new(), lost: 0, most: command.most_output };
        let end = wait(&mut child, &pieces, &mut capture, started + command.timeout, is_cancelled);
        // Even if the command ended by itself: none of its descendants may outlive it.
        kill_group(&child);
        let end = match end? {
            Some(end) => {
                child.wait()?;
                end
            }
            None => {
                let status = child.wait()?;
                status.code().map_or_else(|| ShellEnd::Signalled(status.signal().unwrap_or(0)), ShellEnd::Exited)
            }
        };
        capture.drain(&pieces, Instant::now() + GRACE);
        Ok(ShellOutcome { end, duration: started.elapsed(), output: capture.output, lost: capture.lost })
    }

    /// `None` if the command ended by itself.
    fn wait(
        child: &mut Child,
        pieces: &Receiver<Vec<u8>>,
        capture: &mut Capture,
        deadline: Instant,
        is_cancelled: &dyn Fn() -> bool,
    ) -> io::Result<Option<ShellEnd>> {
        let mut is_open = true;
        loop {
            if is_cancelled() {
                return Ok(Some(ShellEnd::Cancelled));
            }
            if Instant::now() >= deadline {
                return Ok(Some(ShellEnd::TimedOut));
            }
            if is_open {
                match pieces.recv_timeout(TICK) {
                    Ok(piece) => {
                        capture.take(&piece);
                        continue;
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => is_open = false,
                }
            } else {
                std::thread::sleep(TICK);
            }
            if child.try_wait()?.is_some() {
                // Output written before the end may still be in the pipe.
                capture.drain(pieces, Instant::now() + GRACE);
                return Ok(None);
            }
        }
    }

    fn kill_group(child: &Child) {
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        if let Some(pid) = pid {
            // Fails if all processes have ended, which is fine.
            let _ = kill_process_group(pid, Signal::KILL);
        }
    }

    struct Capture {
        output: Vec<u8>,
        lost: u64,
        most: usize,
    }

    impl Capture {
        fn take(&mut self, piece: &[u8]) {
            let room = self.most.saturating_sub(self.output.len()).min(piece.len());
            self.output.extend_from_slice(piece.get(..room).unwrap_or_default());
            self.lost += (piece.len() - room) as u64;
        }

        /// Receives output until the pipe is closed or the time is over.
        fn drain(&mut self, pieces: &Receiver<Vec<u8>>, until: Instant) {
            while let Some(left) = until.checked_duration_since(Instant::now()) {
                match pieces.recv_timeout(left) {
                    Ok(piece) => self.take(&piece),
                    Err(_) => break,
                }
            }
        }
    }
}

#[cfg(not(unix))]
pub(super) fn run(
    _: &crate::processes::ShellCommand<'_>,
    _: &dyn Fn() -> bool,
) -> std::io::Result<crate::processes::ShellOutcome> {
    Err(std::io::ErrorKind::Unsupported.into())
}

#[cfg(all(test, unix))]
mod tests {
    use std::path::Path;
    use std::time::Duration;

    use crate::processes::{Processes, ShellCommand, ShellEnd, ShellOutcome};
    use crate::{OsSystem, System};

    fn run(text: &str, directory: &Path, timeout: Duration) -> ShellOutcome {
        OsSystem.run(&ShellCommand { text, directory, timeout, most_output: 1000 }, &|| false).unwrap()
    }

    #[test]
    fn stdout_and_stderr_are_captured_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let long = Duration::from_secs(60);
        let outcome = run("echo one; echo two >&2; cat; pwd; exit 3", folder.path(), long);
        let real = folder.path().canonicalize().unwrap();
        assert_eq!(String::from_utf8(outcome.output).unwrap(), format!("one\ntwo\n{}\n", real.display()));
        assert_eq!((outcome.end, outcome.lost), (ShellEnd::Exited(3), 0));
        let outcome = run("head -c 5000 /dev/zero; kill -9 $$", folder.path(), long);
        assert_eq!((outcome.output.len(), outcome.lost, outcome.end), (1000, 4000, ShellEnd::Signalled(9)));
    }

    /// If the child of the script survived, it would create a file.
    #[test]
    fn child_processes_of_a_script_do_not_outlive_it() {
        let folder = tempfile::tempdir().unwrap();
        let script = "(sleep 3; touch late) & echo started; wait";
        let outcome = run(script, folder.path(), Duration::from_millis(400));
        assert_eq!((outcome.end, outcome.output.as_slice()), (ShellEnd::TimedOut, b"started\n".as_slice()));
        // A process that the script left running.
        let outcome = run("(sleep 3; touch late) & echo done", folder.path(), Duration::from_secs(60));
        assert_eq!(outcome.end, ShellEnd::Exited(0));
        let command = ShellCommand {
            text: "(sleep 3; touch late) & sleep 60",
            directory: folder.path(),
            timeout: Duration::from_secs(60),
            most_output: 10,
        };
        assert_eq!(OsSystem.run(&command, &|| true).unwrap().end, ShellEnd::Cancelled);
        std::thread::sleep(Duration::from_millis(3500));
        assert!(OsSystem.lstat(&folder.path().join("late")).is_err());
    }
}
