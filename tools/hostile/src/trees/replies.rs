//! Files of `apply`, `snap` and `run -s` as a hostile repository would commit them: records of replies that were never applied,
//! histories of baselines, scripts with unusual names.

use std::io;

use super::Tree;
use crate::site::Site;

pub(super) fn trees() -> Vec<Tree> {
    let mut trees = vec![
        Tree::new(
            "patch-records",
            "a committed record is undone, and writes files that no reply of this user changed",
            |site| {
                site.project()?;
                record(site, "00000001", "src/cart.ts")?;
                record(site, "00000002", "../secret.txt")
            },
        )
        .fresh(),
        Tree::new("patch-odd", "odd things among the records are followed, or end the command badly", |site| {
            site.project()?;
            site.link("repo/.stan/patch/00000003", "../../../vault")?;
            site.fifo("repo/.stan/patch/00000004")?;
            site.file("repo/.stan/patch/00000005/record.json", "[".repeat(100_000))?;
            site.link("repo/.stan/patch/00000006/record.json", "../../../../vault/key.pem")?;
            site.link("repo/.stan/patch/00000006/seal", "../../../../secret.txt")?;
            site.file("repo/.stan/patch/99999999/seal", "seal\n")?;
            site.directory("repo/.stan/patch/new-00000007/inner")
        })
        .fresh(),
        Tree::new("reply-targets", "a reply is written through links of the repository", |site| {
            site.project()?;
            std::fs::remove_file(site.path("repo/src/cart.ts"))?;
            site.link("repo/src/cart.ts", "../../secret.txt")?;
            site.link("repo/src/made", "../../vault")?;
            site.link("repo/up", "..")?;
            for (name, path) in
                [("up", "up/secret.txt"), ("made", "src/made/key.pem"), ("git", ".git/config"), ("case", ".GIT/config")]
            {
                site.file(&format!("given/reply-{name}.md"), format!("### File: {path}\n\n```\nx\n```\n"))?;
            }
            Ok(())
        })
        .fresh(),
        Tree::new("scripts", "a script runs that the command line does not name", |site| {
            site.project()?;
            let names = [
                "../evidence",
                "evidence ",
                "Evidence",
                "a b",
                "-s",
                "--",
                "$(touch x)",
                "\\u0000",
                "*",
                "",
                "build.sh;id",
            ];
            let scripts: String =
                names.iter().map(|name| format!("    \"{name}\": touch ../escaped; cat ../secret.txt\n")).collect();
            site.file(
                "repo/stan.config.yml",
                format!("stan-core:\n  stanPath: .stan\nstan-cli:\n  scripts:\n{scripts}"),
            )?;
            site.file(
                "repo/package.json",
                r#"{"name":"shop","scripts":{"evidence":"touch ../escaped","build":"touch ../escaped"}}"#,
            )
        }),
        Tree::new("history", "a committed history of baselines leads outside, or takes too much", |site| {
            site.project()?;
            let hash = "0".repeat(64);
            let text = format!(
                r#"{{"v":1,"files":{{"../secret.txt":"{hash}","/etc/passwd":"{hash}","src/main.ts":"{hash}"}}}}"#
            );
            for kind in ["plain", "context"] {
                for number in ["00000001", "00000002", "99999999", "00000000", "x", "../1"] {
                    site.file(&format!("repo/.stan/diff/history/{kind}/{}.json", number.replace('/', "-")), &text)?;
                }
                site.link(
                    &format!("repo/.stan/diff/history/{kind}/00000003.json"),
                    "../../../../../vault/.archive.snapshot.json",
                )?;
                site.fifo(&format!("repo/.stan/diff/history/{kind}/00000004.json"))?;
            }
            Ok(())
        })
        .fresh(),
    ];
    trees.extend(ORDERS.map(|(name, text)| {
        Tree::new(
            name,
            "the order of baselines names one outside, or ends the command badly",
            move |site: &mut Site| {
                site.project()?;
                site.file("repo/.stan/diff/history/plain/00000001.json", r#"{"v":1,"files":{}}"#)?;
                site.file("repo/.stan/diff/history/plain.json", text)?;
                site.file("repo/.stan/diff/history/context.json", text)
            },
        )
        .fresh()
    }));
    trees.extend(PENDING.map(|(name, text)| {
        Tree::new(name, "a committed note of a reply under way makes the next command write", move |site: &mut Site| {
            site.project()?;
            record(site, "00000001", "src/cart.ts")?;
            site.file("repo/.stan/patch/pending.json", text)
        })
        .fresh()
    }));
    trees
}

const ORDERS: [(&str, &str); 3] = [
    ("history-number", r#"{"v":1,"current":18446744073709551615}"#),
    ("history-path", r#"{"v":1,"current":"../../../../vault/.archive.snapshot"}"#),
    ("history-bytes", "\u{0}\u{1b}["),
];

const PENDING: [(&str, &str); 4] = [
    ("pending-undo", r#"{"folder":"00000001","kind":"undo"}"#),
    ("pending-apply", r#"{"folder":"00000001","kind":"apply"}"#),
    ("pending-outside", r#"{"folder":"../../../vault","kind":"apply"}"#),
    ("pending-bytes", "{\"folder\":\"\u{1b}[31m"),
];

/// A record as written by `apply`, except for the seal, which is from another machine.
fn record(site: &mut Site, folder: &str, path: &str) -> io::Result<()> {
    let place = format!("repo/.stan/patch/{folder}");
    let side = |size: u32| format!(r#"{{"size":{size},"sha256":"{}","mode":420}}"#, "0".repeat(64));
    site.file(&format!("{place}/seal"), "seal\n")?;
    site.file(&format!("{place}/old-0"), "planted\n")?;
    site.file(&format!("{place}/new-0"), "planted\n")?;
    site.file(
        &format!("{place}/record.json"),
        format!(
            r#"{{"v":1,"seal":{{"inode":1,"time":1}},"files":[{{"path":"{path}","old":{},"new":{}}}],"madeFolders":["../made"],"removedFolders":[]}}"#,
            side(8),
            side(8)
        ),
    )
}
