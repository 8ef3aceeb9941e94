//! Symlinks in place of stan's own documents: their targets are neither read nor shown. `cargo xtask hostile` tests this on real
//! disks, with all accessed paths traced.

mod support;

use stan_engine::Engine;
use stan_engine::config::Config;
use stan_engine::context::{Repository, StateSource, check_state, verify};
use stan_repo::MemorySystem;
use support::ROOT;

#[test]
fn documents_behind_links_are_refused() {
    for links in [
        "//- link /r/.stan/context/dependency.state.json -> /out/dependency.state.json\n//- link /r/.stan/output/archive.tar -> /out/archive.tar\n",
        "//- link /r/.stan/context -> /out\n//- link /r/.stan/output -> /out\n",
        "//- link /r/.stan -> /out/stan\n",
    ] {
        let system = MemorySystem::from_fixture(&format!("//- /r/a.ts\n{links}"));
        for folder in ["/out", "/out/stan/context", "/out/stan/output"] {
            system.set_file(format!("{folder}/dependency.state.json"), "{\"v\":2,\"i\":[\"secret\"]}");
            system.set_file(format!("{folder}/archive.tar"), "secret");
        }
        let config = Config::default();
        let repository = Repository { root: ROOT, config: &config };
        let state =
            check_state(&Engine::new(&system), &repository, &StateSource::Workspace).expect_err("it is behind a link");
        let archive = verify(&Engine::new(&system), &repository, None).expect_err("it is behind a link");
        for refusal in [state, archive] {
            let shown = refusal.to_string();
            assert!(shown.contains("link") && !shown.contains("secret"), "{links}{shown}");
        }
    }
}
