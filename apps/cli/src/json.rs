//! One JSON document on stdout.

use std::io::{self, Write};

use serde::Serialize;

use crate::exit::Failure;

pub(crate) fn print(document: &impl Serialize, out: &mut dyn Write) -> Result<(), Failure> {
    serde_json::to_writer(&mut *out, document).map_err(io::Error::from)?;
    out.write_all(b"\n")?;
    out.flush()?;
    Ok(())
}
