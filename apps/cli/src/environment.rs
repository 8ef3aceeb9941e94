//! What a run takes from the environment: a timestamp, by the convention of reproducible builds, and this user's state and cache
//! folders. The folders affect what is remembered, never the answer.

use std::path::PathBuf;

use stan_engine::PackageCaches;

use crate::exit::Failure;

/// The timestamp of archive entries: `SOURCE_DATE_EPOCH`, or 0.
pub(crate) fn source_date_epoch() -> Result<u64, Failure> {
    let Some(value) = std::env::var_os("SOURCE_DATE_EPOCH").filter(|value| !value.is_empty()) else { return Ok(0) };
    value.to_str().and_then(|text| text.parse().ok()).ok_or_else(|| {
        Failure::input(format!("SOURCE_DATE_EPOCH is `{}`, which is not a number of seconds", value.to_string_lossy()))
            .hint("set it to whole seconds since 1970, or unset it")
    })
}

/// The user's state folder, by the XDG convention; `None` if the environment does not name one.
pub(crate) fn state_directory() -> Option<String> {
    own_folder("XDG_STATE_HOME", ".local/state")
}

/// The user's cache folder, by the same convention.
pub(crate) fn cache_directory() -> Option<String> {
    own_folder("XDG_CACHE_HOME", ".cache")
}

fn own_folder(variable: &str, below_home: &str) -> Option<String> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = absolute(variable).or_else(|| absolute("HOME").map(|home| home.join(below_home)))?;
    base.join("stan").to_str().map(str::to_owned)
}

/// The download folders of this user's package managers.
pub(crate) fn package_caches() -> PackageCaches {
    PackageCaches::from_environment(|name| std::env::var_os(name)?.into_string().ok())
}
