//! The fleet: twenty published packages, ten from npm and ten from PyPI, pinned by version and by the archive's hash. No code of
//! a package is run.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Result;
use crate::corpus::{Package, package};
use crate::fetch::{Store, make_repository, sha256_of, succeed, unpack};

/// By npm.
const NPM: &[Package] = &[
    package("@tanstack/query-core", "5.90.2", "e64f205c927de2e109b9bb3ec76834f5d3486f7c46d2e4d872ca3453ca80d454"),
    package("antd", "5.27.6", "d88df637d85be026a39d5e0e271b8d9bd8e64b39406623d660b8b1d79aa1135d"),
    package("date-fns", "4.4.0", "eb106d1e9276213d6144b221c103e4abb7d92186734f7505f5a3860427b41a06"),
    package("effect", "3.18.4", "3a713d2f3dbd6d2153b691cdd3134b6655ee5f588e7326ee80081b167ff96e35"),
    package("eslint", "9.37.0", "59735db66beb117b74951de8001857bfa233587a6201172d27ba9a76fc1c03a7"),
    package("openai", "6.3.0", "320ee0dbac7723349461bab493af30cc1196b6a5dbcc1e4a94383a844efcf438"),
    package("rxjs", "7.8.2", "2312f8ffd9726ffd7bd53ea12c5f13663d09a3dc3326f448c70b88f5ef6fac82"),
    package("svelte", "5.39.0", "26a6543f5d851d8e0330154fa9cf1fd46d2a071fd4ea5cbe4d2d7351af29ecd2"),
    package("three", "0.180.0", "ad66d724565ee29a2467277fa84daa5ed0211d6b8d446e9ef29f6bae0cd14144"),
    package("zod", "4.1.12", "2ef9d7a7d822b059c9bd21f87caa4fdc48220d437353678984df942fb67b43fa"),
];

/// Wheels without native code, by pip.
const PYPI: &[Package] = &[
    package("ansible-core", "2.19.3", "7d312c2b76a3cea19e6dc2648b4ca4eb13233e58a58539fd80ecbb3a77881e72"),
    package("click", "8.3.0", "9b9f285302c6e3064f4330c05f05b81945b2a39544279343e6e7c5f27a9baddc"),
    package("django", "5.2.7", "59a13a6515f787dec9d97a0438cd2efac78c8aca1c80025244b0fe507fe0754b"),
    package("fastapi", "0.119.0", "90a2e49ed19515320abb864df570dd766be0662c5d577688f1600170f7f73cf2"),
    package("flask", "3.1.2", "ca1d8112ec8a6158cc29ea4858963350011b5c846a414cdb7a954aa9e967d03c"),
    package("networkx", "3.5", "0030d386a9a06dee3565298b4a734b68589749a544acbb6c412dc9e2489ec6ec"),
    package("pydantic", "2.12.0", "f6a1da352d42790537e95e83a8bdfb91c7efbae63ffd0b86fa823899e807116f"),
    package("rich", "14.2.0", "76bc51fe2e57d2b1be1f96c524b890b816e334ab4c1e45888799bfaab0021edd"),
    package("sqlalchemy", "2.0.44", "19de7ca1246fbef9f9d1bff8f1ab25641569df226364a0e40457dc5457c54b05"),
    package("sympy", "1.14.0", "e091cc3e99d2141a0ba2847328f5479b05d94a6635cb96148ccb3f34671bd8f5"),
];

/// The folders of the fleet, complete and as published.
pub(super) fn fetch(store: &Store) -> Result<Vec<PathBuf>> {
    let npm = NPM.iter().map(|package| one(store, package, from_npm));
    let pypi = PYPI.iter().map(|package| one(store, package, from_pypi));
    npm.chain(pypi).collect()
}

/// Puts the files of a package into an existing folder.
type Fetch = fn(&Store, &Package, &Path) -> Result<()>;

fn one(store: &Store, package: &Package, fetch: Fetch) -> Result<PathBuf> {
    let name = package.name.rsplit('/').next().unwrap_or(package.name);
    let folder = store.folder("fleet").join(name);
    let marker = store.folder("fleet").join(format!(".{name}.complete"));
    if std::fs::read_to_string(&marker).is_ok_and(|text| text == package.sha256) {
        return Ok(folder);
    }
    eprintln!("fetch {} {}", package.name, package.version);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder)?;
    fetch(store, package, &folder)?;
    make_repository(&folder)?;
    std::fs::write(marker, package.sha256)?;
    Ok(folder)
}

fn from_npm(store: &Store, package: &Package, folder: &Path) -> Result<()> {
    unpack(&store.archive(package)?, folder)
}

fn from_pypi(store: &Store, package: &Package, folder: &Path) -> Result<()> {
    let incoming = store.scratch("incoming");
    let _ = std::fs::remove_dir_all(&incoming);
    std::fs::create_dir_all(&incoming)?;
    // A platform-independent wheel, so that nothing is built.
    let arguments =
        ["-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:"];
    let platform = ["--python-version=3.13", "--implementation=py", "--abi=none", "--platform=any", "--dest=."];
    let pin = format!("{}=={}", package.name, package.version);
    succeed(Command::new("python3").args(arguments).args(platform).arg(pin).current_dir(&incoming))?;
    let Some(entry) = std::fs::read_dir(&incoming)?.next() else {
        return Err(format!("pip brought nothing for {}", package.name).into());
    };
    let wheel = entry?.path();
    let found = sha256_of(&wheel)?;
    if found != package.sha256 {
        return Err(format!("{} {} has the hash {found}, not the pinned one", package.name, package.version).into());
    }
    succeed(Command::new("python3").args(["-m", "zipfile", "-e"]).arg(wheel).arg(folder))
}
