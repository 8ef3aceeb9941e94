//! Checks the owner of a configuration. A configuration that another user put into a parent folder could decide what is read with this
//! user's rights, and where the result is written.

use std::path::Path;

use stan_repo::{Owner, System, relative_path};

use super::error::ConfigError;
use super::join;

/// Returns the folder and name of a found configuration, unless one of them belongs to another user.
pub(super) fn checked(
    system: &dyn System,
    found: Option<(String, String)>,
    directory: &str,
) -> Result<Option<(String, String)>, ConfigError> {
    let Some((root, name)) = found else { return Ok(None) };
    let path = join(&root, &name);
    let shown = relative_path(directory, &path);
    for (what, owned) in [("it", path.as_str()), ("its folder", root.as_str())] {
        // A path that cannot be stat'ed is reported when it is read.
        if matches!(system.owner(Path::new(owned)), Ok(Owner::Other)) {
            let message = format!(
                "the configuration is not used, because {what} belongs to another user; if you trust it, name it: \
                 --config {shown}"
            );
            return Err(ConfigError::new(shown, message));
        }
    }
    Ok(Some((root, name)))
}
