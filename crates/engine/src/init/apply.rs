//! Executes a plan: folders, then files, each file atomically. If a step fails, the previous ones are rolled back. The contents
//! were decided in the plan; here it is only checked that nothing changed since.

use std::io;
use std::path::PathBuf;

use stan_repo::{EntryKind, WritableSystem, advice, remove_leftovers};

use super::path_state::{self, PathState};
use super::{InitError, InitPlan, Write};

/// Executes a plan. After an error everything is rolled back; the error lists the paths for which that failed.
pub(super) fn write_planned(system: &dyn WritableSystem, plan: &InitPlan) -> Result<(), InitError> {
    plan.actions.iter().for_each(|action| clear(system, plan, &action.path));
    let mut work = InitRun { system, plan, made: Vec::new(), written: Vec::new() };
    let result = work.run();
    result.map_err(|(path, reason)| InitError::Failed { path, reason, left: work.roll_back() })
}

/// Removes the temporary files that a killed `stan init` left beside the file.
fn clear(system: &dyn WritableSystem, plan: &InitPlan, path: &str) {
    let name = path.rsplit('/').next().unwrap_or(path);
    remove_leftovers(system, &path_state::absolute(&plan.root, path_state::folder_of(path)), &[name]);
}

struct InitRun<'a> {
    system: &'a dyn WritableSystem,
    plan: &'a InitPlan,
    /// Folders created so far, parents first.
    made: Vec<&'a str>,
    written: Vec<&'a Write>,
}

impl<'a> InitRun<'a> {
    fn run(&mut self) -> Result<(), (String, String)> {
        let plan = self.plan;
        for folder in &plan.folders {
            self.create_folder(folder)
                .map_err(|error| (folder.clone(), format!("the folder cannot be made: {}", advice(&error))))?;
        }
        for write in &plan.writes {
            self.write(write).map_err(|reason| (write.path.clone(), reason))?;
        }
        Ok(())
    }

    /// Its parent exists, because the plan lists parents first.
    fn create_folder(&mut self, folder: &'a str) -> io::Result<()> {
        let path = self.absolute(folder);
        match self.system.lstat(&path) {
            Ok(stat) if stat.kind == EntryKind::Dir => Ok(()),
            Ok(_) => Err(io::Error::other("something else took its place meanwhile")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.system.create_dir_all(&path)?;
                self.made.push(folder);
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    fn write(&mut self, write: &'a Write) -> Result<(), String> {
        path_state::missing_folders(self.system, &self.plan.root, path_state::folder_of(&write.path))
            .map_err(|refusal| refusal.message)?;
        let unchanged = match path_state::inspect(self.system, &self.plan.root, &write.path) {
            PathState::Nothing => write.before.is_none(),
            PathState::File(now) => write.before.as_deref() == Some(now.as_slice()),
            _ => false,
        };
        if !unchanged {
            return Err("it changed while stan was at work; run `stan init` again".to_owned());
        }
        self.write_or_remove(write, write.after.as_deref())
            .map_err(|error| format!("it cannot be written: {}", advice(&error)))?;
        self.written.push(write);
        let folder = path_state::folder_of(&write.path);
        if write.after.is_none() && !folder.is_empty() {
            // A folder that was created only for this file is removed with it; one with other contents stays.
            let _ = self.system.remove_dir(&self.absolute(folder));
        }
        Ok(())
    }

    fn write_or_remove(&self, write: &Write, bytes: Option<&[u8]>) -> io::Result<()> {
        let path = self.absolute(&write.path);
        match bytes {
            // Users' own texts must survive a power cut; a new file can be created again.
            Some(bytes) if write.before.is_some() => self.system.write_atomic_durable(&path, bytes),
            Some(bytes) => self.system.write_atomic(&path, bytes),
            None => self.system.remove_file(&path),
        }
    }

    /// Undoes all steps, the last one first, and returns the paths that could not be restored.
    fn roll_back(&mut self) -> Vec<String> {
        let mut left = Vec::new();
        while let Some(write) = self.written.pop() {
            if self.write_or_remove(write, write.before.as_deref()).is_err() {
                left.push(write.path.clone());
            }
        }
        while let Some(folder) = self.made.pop() {
            if self.system.remove_dir(&self.absolute(folder)).is_err() {
                left.push(format!("{folder}/"));
            }
        }
        left.sort();
        left
    }

    fn absolute(&self, path: &str) -> PathBuf {
        path_state::absolute(&self.plan.root, path)
    }
}
