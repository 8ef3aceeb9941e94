//! The crates that come with the compiler. Much of `std` is defined in `core` and `alloc`: a path through such a module of `std`
//! resolves to the crate that defines it, as in rustc.

/// A crate that comes with the compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standard {
    Std,
    Core,
    Alloc,
    ProcMacro,
    Test,
}

impl Standard {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Std => "std",
            Self::Core => "core",
            Self::Alloc => "alloc",
            Self::ProcMacro => "proc_macro",
            Self::Test => "test",
        }
    }
}

/// The standard crate of that name.
pub(super) fn standard_crate(name: &str) -> Option<Standard> {
    use Standard::{Alloc, Core, ProcMacro, Std, Test};
    [Std, Core, Alloc, ProcMacro, Test].into_iter().find(|known| known.name() == name)
}

/// The crate that defines a module which `std` re-exports, for `use std::*` and `use core::*`. Other names of these globs are
/// unknown.
pub(super) fn moved_module(krate: Standard, module: &str) -> Option<Standard> {
    (home(Standard::Std, module) != Standard::Std).then(|| home(krate, module))
}

/// The crate that defines a module of a standard crate.
pub(super) fn home(krate: Standard, module: &str) -> Standard {
    if krate != Standard::Std {
        return krate;
    }
    match module {
        "any" | "array" | "async_iter" | "cell" | "char" | "clone" | "cmp" | "convert" | "default" | "future"
        | "hint" | "intrinsics" | "iter" | "marker" | "mem" | "ops" | "option" | "pin" | "primitive" | "ptr"
        | "range" | "result" | "atomic" | "i8" | "i16" | "i32" | "i64" | "i128" | "isize" | "u8" | "u16" | "u32"
        | "u64" | "u128" | "usize" => Standard::Core,
        "borrow" | "boxed" | "fmt" | "format" | "rc" | "slice" | "str" | "string" | "vec" | "binary_heap"
        | "btree_map" | "btree_set" | "linked_list" | "vec_deque" => Standard::Alloc,
        _ => krate,
    }
}
