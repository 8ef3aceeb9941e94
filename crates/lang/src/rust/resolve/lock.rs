//! Parses `Cargo.lock`: which version of a dependency each package uses. Parsed line by line: Cargo writes the file in a fixed
//! format, and it may be large.

use rustc_hash::FxHashMap;
use stan_model::Digest;

/// Real lock files are far smaller.
pub(super) const MAX_LOCK_BYTES: usize = 16 << 20;

type NameAndVersion = (Box<str>, Box<str>);

/// The packages of a lock file.
#[derive(Debug, Default)]
pub(super) struct Lock {
    /// Versions by name, in file order.
    versions: FxHashMap<Box<str>, Vec<Box<str>>>,
    /// The dependencies of each package, by name and version.
    dependencies: FxHashMap<NameAndVersion, Vec<NameAndVersion>>,
    /// The SHA-256 of the archives of registry packages.
    checksums: FxHashMap<NameAndVersion, Digest>,
}

impl Lock {
    pub(super) fn parse(text: &str) -> Self {
        let mut lock = Self::default();
        let mut name: Option<Box<str>> = None;
        let mut version: Option<Box<str>> = None;
        let mut in_list = false;
        for line in text.lines() {
            let line = line.trim();
            if line.starts_with('[') {
                (name, version, in_list) = (None, None, false);
            } else if in_list {
                in_list = line != "]";
                if let (true, Some(name), Some(version)) = (in_list, &name, &version) {
                    lock.add_dependency(name, version, line.trim_matches([',', '"']));
                }
            } else if let Some(value) = value(line, "name") {
                name = Some(value.into());
            } else if let Some(value) = value(line, "version") {
                if let Some(name) = &name {
                    lock.versions.entry(name.clone()).or_default().push(value.into());
                    version = Some(value.into());
                }
            } else if let Some(value) = value(line, "checksum") {
                if let (Some(name), Some(version), Some(digest)) = (&name, &version, Digest::from_hex(value)) {
                    lock.checksums.insert((name.clone(), version.clone()), digest);
                }
            } else if line.starts_with("dependencies = [") {
                in_list = !line.ends_with(']');
            }
        }
        lock
    }

    fn add_dependency(&mut self, name: &str, version: &str, dependency: &str) {
        let mut words = dependency.split(' ');
        // Cargo omits the version if there is only one of that name.
        if let (Some(package), Some(used)) = (words.next(), words.next()) {
            let key = (name.into(), version.into());
            self.dependencies.entry(key).or_default().push((package.into(), used.into()));
        }
    }

    /// The SHA-256 of a package's archive.
    pub(super) fn checksum(&self, name: &str, version: &str) -> Option<Digest> {
        self.checksums.get(&(name.into(), version.into())).copied()
    }

    /// The version of `package` that a package uses; if that is not specified, any version in the file.
    pub(super) fn version(&self, user: &str, user_version: Option<&str>, package: &str) -> Option<&str> {
        let all = self.versions.get(package)?;
        let own = user_version.and_then(|version| self.dependencies.get(&(user.into(), version.into())));
        let own = own.and_then(|own| own.iter().find(|(name, _)| **name == *package)).map(|(_, version)| &**version);
        own.or_else(|| all.last().map(|version| &**version))
    }
}

fn value<'l>(line: &'l str, key: &str) -> Option<&'l str> {
    let rest = line.strip_prefix(key)?.trim_start().strip_prefix('=')?;
    Some(rest.trim().trim_matches('"'))
}

#[cfg(test)]
mod tests {
    use super::Lock;

    #[test]
    fn versions_are_looked_up_by_the_package_that_uses_them() {
        let lock = Lock::parse(
            "version = 4\n\n[[package]]\nname = \"a\"\nversion = \"1.0.0\"\ndependencies = [\n \"b 1.0.0\",\n \"c\",\n]\n\n\
             [[package]]\nname = \"b\"\nversion = \"1.0.0\"\n\n[[package]]\nname = \"b\"\nversion = \"2.0.0\"\n\n\
             [[package]]\nname = \"c\"\nversion = \"0.3.1\"\nsource = \"registry+x\"\nchecksum = \"00000000000000000000000000000000000000000000000000000000000000ff\"\n",
        );
        assert_eq!(lock.version("a", Some("1.0.0"), "b"), Some("1.0.0"));
        assert_eq!(lock.version("x", None, "b"), Some("2.0.0"));
        assert_eq!(lock.version("a", Some("1.0.0"), "c"), Some("0.3.1"));
        assert_eq!(lock.version("a", None, "d"), None);
        assert!(lock.checksum("c", "0.3.1").is_some_and(|digest| digest.to_string().ends_with("00ff")));
        assert_eq!(lock.checksum("b", "1.0.0"), None);
    }
}
