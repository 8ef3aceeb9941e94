//! Decides which files a generated repository has, and their sizes: only arithmetic, nothing is written here.
//!
//! A workspace of typical packages: a manifest, a configuration, a barrel, modules in folders, assets, and one large text per
//! package.

/// The requested size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// Files outside `node_modules`.
    pub(super) files: u64,
    /// Their total size, to within a few per cent.
    pub(super) bytes: u64,
}

/// One package of the workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Package {
    pub(super) number: u64,
    pub(super) modules: u64,
    pub(super) assets: u64,
    /// The mean size of a module.
    pub(super) module_bytes: u64,
    pub(super) asset_bytes: u64,
    pub(super) large_bytes: u64,
}

/// Files in the root: `.gitignore`, `package.json`, `tsconfig.json`, `README.md`.
pub(super) const ROOT_FILES: u64 = 4;

/// Files of a package besides modules and assets: manifest, configuration, read-me, barrel, large text.
pub(super) const PACKAGE_FILES: u64 = 5;

const MODULES_PER_FOLDER: u64 = 50;

impl Shape {
    pub(super) fn packages(self) -> Vec<Package> {
        let count = (self.files / 2000).clamp(3, 100);
        let files = self.files.saturating_sub(ROOT_FILES);
        let bytes = self.bytes / count;
        (0..count)
            .map(|number| {
                let own = files / count + u64::from(number < files % count);
                let contents = own.saturating_sub(PACKAGE_FILES);
                let assets = contents / 12;
                let modules = contents - assets;
                let large_bytes = bytes / 20;
                let asset_bytes = (bytes / 10).checked_div(assets).unwrap_or(0);
                let module_bytes = (bytes - large_bytes - bytes / 10).checked_div(modules).unwrap_or(0);
                Package { number, modules, assets, module_bytes, asset_bytes, large_bytes }
            })
            .collect()
    }
}

impl Package {
    pub(super) fn folder(&self) -> String {
        format!("packages/package-{:03}", self.number)
    }

    pub(super) fn name(&self) -> String {
        format!("@load/package-{:03}", self.number)
    }

    pub(super) fn module(&self, module: u64) -> String {
        format!("{}/src/{}", self.folder(), module_below_src(module))
    }

    pub(super) fn asset(&self, asset: u64) -> String {
        format!("{}/assets/{}", self.folder(), asset_name(asset))
    }
}

pub(super) fn module_below_src(module: u64) -> String {
    format!("area-{:03}/module-{module:05}.ts", module / MODULES_PER_FOLDER)
}

/// Text, pictures as text, data, and binary files.
pub(super) fn asset_name(asset: u64) -> String {
    let extension = ["svg", "json", "css", "md", "png"].get((asset % 5) as usize).copied().unwrap_or("txt");
    format!("asset-{asset:05}.{extension}")
}

#[cfg(test)]
mod tests {
    use super::{PACKAGE_FILES, ROOT_FILES, Shape};

    #[test]
    fn the_layout_has_exactly_the_requested_number_of_files() {
        for (files, bytes) in [(60, 1 << 20), (5_000, 50_000_000), (200_000, 2_000_000_000), (199_999, 2_000_000_001)] {
            let packages = Shape { files, bytes }.packages();
            let count: u64 = packages.iter().map(|package| package.modules + package.assets + PACKAGE_FILES).sum();
            assert_eq!(count + ROOT_FILES, files);
            let planned: u64 = packages
                .iter()
                .map(|package| {
                    package.modules * package.module_bytes + package.assets * package.asset_bytes + package.large_bytes
                })
                .sum();
            assert!(planned <= bytes && planned > bytes / 10 * 9, "{planned} of {bytes}");
        }
    }
}
