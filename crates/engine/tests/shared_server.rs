//! A server of shared facts in whole runs: the requests that it gets, and the effect of wrong answers.

mod support;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use stan_engine::graph::{GraphOptions, GraphRequest};
use stan_engine::shared::SharedCache;
use stan_repo::{ByteStore, MemorySystem, StoreError};
use support::{cold, json, run};
use xxhash_rust::xxh3::xxh3_64;

#[derive(Clone, Default)]
struct Server(Arc<Mutex<BTreeMap<String, Vec<u8>>>>);

impl ByteStore for Server {
    fn get(&self, name: &str, _: u64) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.0.lock().unwrap().get(name).cloned())
    }

    fn put(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        self.0.lock().unwrap().insert(name.to_owned(), bytes.to_vec());
        Ok(())
    }
}

/// The answer with this server, and the usage statistics.
fn asked(system: &MemorySystem, options: &GraphOptions, server: &Server) -> (String, Option<String>) {
    let shared = SharedCache::new(Box::new(server.clone()), None, 7);
    let request = GraphRequest { shared: shared.clone(), ..GraphRequest::default() };
    let answer = json(&run(system, options, &request));
    (answer, shared.usage().and_then(|usage| usage.problem))
}

fn repository() -> MemorySystem {
    let system = MemorySystem::from_fixture("//- /r/package.json\n{}\n");
    for file in 0..64 {
        let text =
            format!("import {{ v{0} }} from './f{0}';\nexport const v{file} = 'quoted words';\n", (file + 1) % 64);
        system.set_file(format!("/r/src/f{file}.ts"), text);
    }
    system
}

/// After 72 bytes of magic, name and tag: the number of files, and their facts.
#[test]
fn a_server_that_lies_changes_no_answer() {
    let (system, options, server) = (repository(), GraphOptions::new("/r"), Server::default());
    let truth = json(&cold(&system, &options));
    assert_eq!(asked(&system, &options, &server), (truth.clone(), None));
    assert_eq!(asked(&system, &options, &server), (truth.clone(), None));
    for value in server.0.lock().unwrap().values_mut() {
        let count = value[72];
        assert!((16..128).contains(&count), "one of so many files is always compared: {count}");
        // The facts of a file without imports and exports: ten empty lists, no problems, parsed.
        let mut list = vec![count];
        (0..count).for_each(|_| list.extend([1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]));
        value.truncate(40);
        value.extend(xxh3_64(&list).to_le_bytes());
        value.extend([0; 24]);
        value.extend(list);
    }
    let (answer, problem) = asked(&system, &options, &server);
    assert_eq!(answer, truth);
    assert!(problem.unwrap().contains("facts that are not those of the files"));
}

#[test]
fn neither_texts_nor_excluded_files_are_sent() {
    let (system, server) = (repository(), Server::default());
    system.set_file("/r/held/h.ts", "export const heldName = 1;\n");
    system.set_file("/r/src/g.ts", "import '../held/h';\nexport const g = 'quoted words'; // inner words\n");
    let mut options = GraphOptions::new("/r");
    options.scan.excludes = vec!["held".to_owned()];
    asked(&system, &options, &server);
    let values = server.0.lock().unwrap();
    let sent: Vec<u8> = values.values().flatten().copied().collect();
    let has = |text: &str| sent.windows(text.len()).any(|window| window == text.as_bytes());
    assert!(has("./f1") && has("v63"), "names and specifiers are sent");
    for text in ["quoted words", "inner words", "heldName"] {
        assert!(!has(text), "{text}");
    }
}
