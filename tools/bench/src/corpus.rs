//! The corpora: npm packages with real module graphs, pinned by version and by the archive's hash.
//!
//! Only the list; [`super::fetch`] downloads the files.

/// One archive in the registry.
pub(super) struct Package {
    pub(super) name: &'static str,
    pub(super) version: &'static str,
    /// SHA-256 of the archive, in hex.
    pub(super) sha256: &'static str,
}

/// How the archives are arranged in a repository.
pub(super) enum Layout {
    /// The package is the repository.
    Single,
    /// As `Single`, with its dependencies installed from this lock file.
    Installed { lock: &'static str },
    /// Every package is a member of one workspace, under `packages/`.
    SideBySide,
}

/// The module that one-file edits change, and what it imports afterwards.
pub(super) struct Edit {
    pub(super) file: &'static str,
    pub(super) specifier: &'static str,
    pub(super) name: &'static str,
}

pub(super) struct Corpus {
    pub(super) name: &'static str,
    pub(super) layout: Layout,
    pub(super) packages: &'static [Package],
    pub(super) edit: Edit,
}

impl Corpus {
    /// Changes whenever the files would change.
    pub(super) fn fingerprint(&self) -> String {
        let lock = match self.layout {
            Layout::Installed { lock } => lock,
            Layout::Single => "single",
            Layout::SideBySide => "side by side",
        };
        let pins: Vec<String> = self
            .packages
            .iter()
            .map(|package| format!("{}@{} {}", package.name, package.version, package.sha256))
            .collect();
        format!("{}\n{lock}\n", pins.join("\n"))
    }
}

pub(super) const fn package(name: &'static str, version: &'static str, sha256: &'static str) -> Package {
    Package { name, version, sha256 }
}

const DATE_FNS: Package =
    package("date-fns", "4.4.0", "eb106d1e9276213d6144b221c103e4abb7d92186734f7505f5a3860427b41a06");
const ANTD: Package = package("antd", "5.27.6", "d88df637d85be026a39d5e0e271b8d9bd8e64b39406623d660b8b1d79aa1135d");

/// In the order of the report.
pub(super) const CORPORA: &[Corpus] = &[
    Corpus {
        name: "date-fns",
        layout: Layout::Single,
        packages: &[DATE_FNS],
        edit: Edit { file: "toDate.js", specifier: "./constants.js", name: "millisecondsInDay" },
    },
    Corpus {
        name: "antd-installed",
        layout: Layout::Installed { lock: include_str!("../data/antd.package-lock.json") },
        packages: &[ANTD],
        edit: Edit { file: "es/theme/useToken.js", specifier: "../version/index.js", name: "default" },
    },
    Corpus {
        name: "icons",
        layout: Layout::Single,
        packages: &[package(
            "@mui/icons-material",
            "7.3.4",
            "c10a6a4677dddd2e6d268eca284644c4b8d06af03f11729dc2bf62d2c5f0a459",
        )],
        edit: Edit { file: "esm/utils/createSvgIcon.js", specifier: "../Abc.js", name: "default" },
    },
    Corpus {
        name: "monorepo",
        layout: Layout::SideBySide,
        packages: MONOREPO,
        edit: Edit { file: "packages/date-fns/toDate.js", specifier: "./constants.js", name: "millisecondsInDay" },
    },
];

/// Together 40,000 modules and 200 MB of source; several import each other by name.
const MONOREPO: &[Package] = &[
    DATE_FNS,
    ANTD,
    package("@elastic/eui", "107.0.0", "9f5737175ad8dc0b408c59f63615cee55ce38670bff40eafe7258c90c32e98ee"),
    package(
        "@fluentui/foundation-legacy",
        "8.4.29",
        "30c858a438bf2eae009a9c204cde263d2e5ac0cda1e88e1fbadf99667216d031",
    ),
    package("@fluentui/merge-styles", "8.6.14", "db6e1e42403feb943c7b145158f61625e2d9e8845c41e7cbf861b328e4311a87"),
    package("@fluentui/react", "8.125.7", "5351285c29994bc7f4e4ee628f3d158077f188fdccc780974625ddb3f750abdf"),
    package("@fluentui/react-focus", "8.9.27", "5f1d84356a8258fee0f1b214482f67264b6d4c9661addcc595b6129db3b1fb0f"),
    package("@fluentui/style-utilities", "8.12.3", "1a3da3961f9692649c7d4df38e4c616dece8b7fa6e65f960ea9ea67dd4cbb314"),
    package("@fluentui/theme", "2.7.1", "6e3dac465874bc01841b64a9a0564a723c24cf22a0dff467b7af3101201b5557"),
    package("@fluentui/utilities", "8.17.1", "c0fa8b8ae32cab004f0003b83898e4dd7302604050b64a5d9f8addd053ff47b0"),
    package("@mui/material", "7.3.4", "d9d9538ba9f0c0baf115b92d38408df5d45a0a704e545c70823c2d157fa767d0"),
    package("@mui/private-theming", "7.3.3", "33835002e266e85a79dd386742b5364e3e4cd7c0cd4fd97dcc482143afaba16b"),
    package("@mui/styled-engine", "7.3.3", "58caefcff7db35ceff8d0105fc0882111915d559d2e0c57feb4950d1f9f641ad"),
    package("@mui/system", "7.3.3", "cc9155418a61b2c243c7693c5d8dc9d62e4cab4d85d8908b15371f925ccd436e"),
    package("@mui/types", "7.4.7", "6a63ab371386ef7c9a6cbd0fce734e4d7a8398cb0013ca36f9fef923d4b71922"),
    package("@mui/utils", "7.3.3", "85f526de280c90f52de735b473ed1085365501db5109a1aa090451e5e8b9ad41"),
    package("aws-cdk-lib", "2.220.0", "4db9d4a6179d01538de27fada972efa6b1b4fa2e95e747a6e207c203cf586a18"),
    package("cloudflare", "5.2.0", "16f2ab36827c79aaaba761f6388dc46d81ae12ee9da231f492537824428525f5"),
    package("core-js", "3.46.0", "c6b1d2c519ed028730f11ec022ecfc70c465e0d9ebd14c2a36a37e43d539c973"),
    package("effect", "3.18.4", "3a713d2f3dbd6d2153b691cdd3134b6655ee5f588e7326ee80081b167ff96e35"),
    package("rxjs", "7.8.2", "2312f8ffd9726ffd7bd53ea12c5f13663d09a3dc3326f448c70b88f5ef6fac82"),
];

#[cfg(test)]
mod tests {
    use super::CORPORA;

    #[test]
    fn every_pin_is_exact() {
        for package in CORPORA.iter().flat_map(|corpus| corpus.packages) {
            let exact =
                package.version.split('.').count() >= 3 && package.version.starts_with(|c: char| c.is_ascii_digit());
            assert!(exact, "{} {}", package.name, package.version);
            assert!(
                package.sha256.len() == 64 && package.sha256.chars().all(|c| c.is_ascii_hexdigit()),
                "{}",
                package.name
            );
        }
    }

    #[test]
    fn fingerprints_tell_corpora_apart() {
        let mut fingerprints: Vec<String> = CORPORA.iter().map(super::Corpus::fingerprint).collect();
        fingerprints.sort();
        fingerprints.dedup();
        assert_eq!(fingerprints.len(), CORPORA.len());
    }
}
