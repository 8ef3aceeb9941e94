//! The facts of every form. Each area has a file with its own `check`.

mod blocks;
mod broken;
mod describe;
mod exports;
mod requests;
mod stack;

use std::fmt::Write as _;

use crate::typescript::form::Form;

use super::{ExtractOptions, Extraction, Extractor};
use stan_model::facts::{ExportSource, FileFacts};

fn extract(path: &str, source: &str) -> Extraction {
    Extractor::new().extract(path, source.as_bytes(), &ExtractOptions::default())
}

/// Facts as readable lines: one per request with its imported names, then globs, exports, stars.
fn render(facts: &FileFacts) -> String {
    let mut out = String::new();
    for (index, request) in facts.requests.iter().enumerate() {
        let (form, mode) = Form::decode(request.form);
        let _ = write!(out, "{}: {} {} {form:?}", request.line, request.specifier, request.kind.as_str());
        if let Some(mode) = mode {
            let _ = write!(out, " as {mode:?}");
        }
        for name in facts.imports.iter().filter(|name| name.request as usize == index) {
            let _ = write!(out, " {{{} {}}}", name.name, name.kind.as_str());
        }
        out.push('\n');
    }
    for glob in &facts.globs {
        let _ = writeln!(out, "{}: glob {}", glob.line, glob.patterns.join(" "));
    }
    let specifier = |index: u32| &*facts.requests[index as usize].specifier;
    for export in &facts.exports {
        let _ = match &export.source {
            ExportSource::Local => writeln!(out, "export {}", export.name),
            ExportSource::Name { request, name } => {
                writeln!(out, "export {} = {name} of {}", export.name, specifier(*request))
            }
            ExportSource::Namespace { request } => {
                writeln!(out, "export {} = all of {}", export.name, specifier(*request))
            }
        };
    }
    for star in &facts.stars {
        let _ = writeln!(out, "export * = {}", specifier(*star));
    }
    out
}
