//! The crates that come with the compiler. Much of `std` is defined in `core` and `alloc`: a path that begins with such
//! a module resolves to it, as it does for rustc.

/// The crate of that name, if the compiler brings it.
pub(super) fn standard_crate(name: &str) -> Option<&'static str> {
    ["std", "core", "alloc", "proc_macro", "test"].into_iter().find(|known| *known == name)
}

/// The crate that defines a module which `std` has from another crate, for `use std::*` and `use core::*`. Other names of these globs are
/// not known.
pub(super) fn moved_module(krate: &'static str, module: &str) -> Option<&'static str> {
    (home("std", module) != "std").then(|| home(krate, module))
}

/// The crate that defines a module of a standard crate.
pub(super) fn home(krate: &'static str, module: &str) -> &'static str {
    if krate == "alloc" {
        return krate;
    }
    match module {
        "any" | "array" | "async_iter" | "cell" | "char" | "clone" | "cmp" | "convert" | "default" | "future"
        | "hint" | "intrinsics" | "iter" | "marker" | "mem" | "ops" | "option" | "pin" | "primitive" | "ptr"
        | "range" | "result" | "atomic" | "i8" | "i16" | "i32" | "i64" | "i128" | "isize" | "u8" | "u16" | "u32"
        | "u64" | "u128" | "usize"
            if krate == "std" =>
        {
            "core"
        }
        "borrow" | "boxed" | "fmt" | "format" | "rc" | "slice" | "str" | "string" | "vec" | "binary_heap"
        | "btree_map" | "btree_set" | "linked_list" | "vec_deque"
            if krate == "std" =>
        {
            "alloc"
        }
        _ => krate,
    }
}
