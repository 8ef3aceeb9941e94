//! What the environment says and a run takes into account: one variable, by the convention of reproducible builds.

use crate::exit::Failure;

/// The time that archives give their entries: `SOURCE_DATE_EPOCH`, or 0.
pub(crate) fn source_date_epoch() -> Result<u64, Failure> {
    let Some(value) = std::env::var_os("SOURCE_DATE_EPOCH").filter(|value| !value.is_empty()) else { return Ok(0) };
    value.to_str().and_then(|text| text.parse().ok()).ok_or_else(|| {
        Failure::input(format!("SOURCE_DATE_EPOCH is `{}`, which is no time", value.to_string_lossy()))
            .hint("set it to whole seconds since 1970, or unset it")
    })
}
