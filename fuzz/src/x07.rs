//! The laws of the x07 parser, its pointers and the slicer.

use serde_json::Value;
use stan_lang::x07::{X07, read_module, read_project};
use stan_model::document::x07::{Closure, Enclosure};
use stan_model::json::JsonTree;
use stan_model::module::SourceModule;
use stan_slice::{ApplyError, Diagnostics, PointerSpace, Slice, SliceError, SliceRequest};

/// Any bytes as a module, a manifest and a diagnostics file. The canonical form of a valid module can be parsed again and is
/// stable.
pub fn read(bytes: &[u8]) {
    let _ = read_project(bytes);
    let _ = Diagnostics::read(bytes);
    let Ok(module) = read_module(bytes) else { return };
    let whole = request_of("module all file - - ");
    // Only fails for a number that canonical JSON cannot represent. A fraction that becomes whole when rounded may be such a
    // number the second time.
    let Ok(canonical) = stan_slice::slice(&module, &X07, &whole) else { return };
    let again = read_module(&canonical.ast).expect("a canonical module is a module");
    let Ok(again) = stan_slice::slice(&again, &X07, &whole) else { return };
    let [canonical, again] = [&canonical.ast, &again.ast].map(|bytes| String::from_utf8_lossy(bytes));
    assert_eq!(canonical, again, "the canonical form stays when it is read again");
}

/// A line with the request, then the file: `ENCLOSURE CLOSURE READING MAX_NODES MAX_BYTES POINTER`; `-` for no bound.
pub fn slice(bytes: &[u8]) {
    let end = bytes.iter().position(|&byte| byte == b'\n').unwrap_or(bytes.len());
    let (line, file) = bytes.split_at(end);
    let Ok(line) = std::str::from_utf8(line) else { return };
    let Ok(module) = read_module(file) else { return };
    let request = request_of(line);
    match stan_slice::slice(&module, &X07, &request) {
        Ok(slice) => {
            check_slice(&request, &slice);
            let exact = SliceRequest { max_bytes: Some(slice.ast.len() as u64), ..request };
            let again = stan_slice::slice(&module, &X07, &exact).expect("its own length can be had");
            assert!(again.ast == slice.ast, "what fits is cut further");
            check_way_back(&module, &slice);
        }
        Err(SliceError::CannotTruncate { max_bytes, minimum }) => {
            assert!(minimum > max_bytes, "{minimum} bytes could have been had");
            let smallest = SliceRequest { max_bytes: Some(minimum), ..request };
            let slice = stan_slice::slice(&module, &X07, &smallest).expect("the reported minimum size is enough");
            check_slice(&smallest, &slice);
            assert_eq!(slice.ast.len() as u64, minimum, "the smallest slice has the reported size");
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// Applying an unedited slice changes nothing. Only fails for numbers that canonical JSON cannot represent.
fn check_way_back(module: &SourceModule<'_>, slice: &Slice) {
    let cut = read_module(&slice.ast).expect("a slice is a module");
    let Ok(canonical) = stan_slice::canonical_document(module, &X07) else { return };
    let applied = match stan_slice::apply(module, &cut, &cut, &X07) {
        Err(ApplyError::NotCanonical(_)) => return,
        applied => applied.expect("nothing was edited"),
    };
    assert!(applied.changed.is_empty(), "nothing was edited");
    let merged = read_module(&applied.document).expect("an applied slice is a module");
    let merged = stan_slice::canonical_document(&merged, &X07).expect("it was canonical before");
    let [canonical, merged] = [&canonical, &merged].map(|bytes| String::from_utf8_lossy(bytes));
    assert_eq!(canonical, merged, "nothing was edited");
}

fn check_slice(request: &SliceRequest, slice: &Slice) {
    assert!(slice.ast.len() as u64 <= request.max_bytes.unwrap_or(u64::MAX), "above the bound of bytes");
    let ast: Value = serde_json::from_slice(&slice.ast).expect("a slice is JSON");
    let tree = JsonTree::parse(&slice.ast).expect("a slice is JSON to us as well");
    let mut canonical = Vec::new();
    tree.write_canonical(tree.root(), &mut canonical);
    let [canonical, written] = [&canonical, &slice.ast].map(|bytes| String::from_utf8_lossy(bytes));
    assert_eq!(canonical, written, "a slice is canonical JSON");
    let decls = ast["decls"].as_array().map_or(0, Vec::len) as u64;
    assert!(decls <= request.max_nodes.unwrap_or(u64::MAX), "above the bound of declarations");
    assert!(read_module(&slice.ast).is_ok(), "a slice is a module");
    assert_eq!(slice.meta.truncated, !slice.diagnostics.is_empty(), "a cut is reported, and only a cut");
    let remap = slice.meta.ptr_remap.first();
    if let Some(remap) = remap.filter(|_| !slice.meta.truncated) {
        assert!(ast.pointer(&remap.to).is_some(), "the focus is lost");
    }
}

fn request_of(line: &str) -> SliceRequest {
    let mut words = line.splitn(6, ' ');
    let mut word = || words.next().unwrap_or_default();
    SliceRequest {
        enclosure: match word() {
            "decl" => Enclosure::Decl,
            "defn" => Enclosure::Defn,
            _ => Enclosure::Module,
        },
        closure: match word() {
            "locals" => Closure::Locals,
            "types" => Closure::Types,
            "imports" => Closure::Imports,
            _ => Closure::All,
        },
        pointer_space: match word() {
            "toolchain" => PointerSpace::Toolchain,
            "file" => PointerSpace::File,
            _ => PointerSpace::Canonical,
        },
        max_nodes: word().parse().ok(),
        max_bytes: word().parse().ok(),
        pointer: word().to_owned(),
    }
}
