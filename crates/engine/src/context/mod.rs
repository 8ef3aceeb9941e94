//! Context mode: the map, the selection and the files beyond the repository that go with them.

mod externals;

pub use externals::locate_externals;
