//! Files that contain credentials according to their names, whatever their contents.

/// Files of exactly these names.
const NAMES: [&str; 30] = [
    ".dockercfg",
    ".git-credentials",
    ".htpasswd",
    ".my.cnf",
    ".mylogin.cnf",
    ".netrc",
    ".pgpass",
    ".pypirc",
    ".s3cfg",
    ".boto",
    ".terraformrc",
    ".vault-token",
    "_netrc",
    "application_default_credentials.json",
    "credentials.json",
    "credentials.tfrc.json",
    "gha-creds.json",
    "id_dsa",
    "id_ecdsa",
    "id_ecdsa_sk",
    "id_ed25519",
    "id_ed25519_sk",
    "id_rsa",
    "kubeconfig",
    "master.key",
    "pgpass.conf",
    "secring.gpg",
    "terraform.rc",
    "wallet.dat",
    ".credentials",
];

/// Suffixes of key stores and similar files.
const ENDS: [&str; 11] = [
    ".jks",
    ".kdb",
    ".kdbx",
    ".keystore",
    ".kubeconfig",
    ".p12",
    ".pfx",
    ".pkcs12",
    ".ppk",
    ".psafe3",
    ".agilekeychain",
];

/// Files recognised together with their folder.
const PLACES: [&str; 7] = [
    ".aws/credentials",
    ".docker/config.json",
    ".kube/config",
    ".cargo/credentials.toml",
    ".cargo/credentials",
    ".gem/credentials",
    ".config/gh/hosts.yml",
];

/// Parts of a dotenv file's name that mark it as a template.
const PATTERNS: [&str; 9] =
    ["example", "sample", "template", "dist", "tpl", "schema", "defaults", "examples", "samples"];

/// The rule that a file name matches: `dotenv-file`, `key-store` or `credential-file`.
pub fn credential_file(path: &str) -> Option<&'static str> {
    let lower = path.to_ascii_lowercase();
    let name = lower.rsplit('/').next().unwrap_or(&lower);
    if is_dotenv(name) {
        return Some("dotenv-file");
    }
    if ENDS.iter().any(|end| name.ends_with(end) && name.len() > end.len()) {
        return Some("key-store");
    }
    let is_place = PLACES
        .iter()
        .any(|place| lower.strip_suffix(place).is_some_and(|folder| folder.is_empty() || folder.ends_with('/')));
    let is_service_account = name.ends_with(".json")
        && ["service-account", "service_account", "serviceaccount", "client_secret"]
            .iter()
            .any(|start| name.starts_with(start));
    (NAMES.contains(&name) || is_place || is_service_account).then_some("credential-file")
}

/// `.env`, `.env.production`, `prod.env`; not `.env.example`.
fn is_dotenv(name: &str) -> bool {
    let is_named = name == ".env" || name.starts_with(".env.") || (name.ends_with(".env") && name.len() > 4);
    is_named && !name.split(['.', '-', '_']).any(|part| PATTERNS.contains(&part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_credential_files_have_a_rule() {
        for (path, rule) in [
            (".env", "dotenv-file"),
            ("a/.env.production", "dotenv-file"),
            (".ENV.Local", "dotenv-file"),
            ("deploy/prod.env", "dotenv-file"),
            ("a/release.jks", "key-store"),
            ("x.P12", "key-store"),
            (".ssh/id_ed25519", "credential-file"),
            (".aws/credentials", "credential-file"),
            ("home/.docker/config.json", "credential-file"),
            ("service-account-prod.json", "credential-file"),
            (".git-credentials", "credential-file"),
        ] {
            assert_eq!(credential_file(path), Some(rule), "{path}");
        }
        for path in [
            ".env.example",
            ".env.local.sample",
            "src/env.ts",
            "config.json",
            "docker/config.json",
            "id_rsa.pub",
            "src/credentials.ts",
            ".envrc",
            ".npmrc",
            "x.aws/credentials",
            ".jks",
            "environment",
            "example.env",
        ] {
            assert_eq!(credential_file(path), None, "{path}");
        }
    }
}
