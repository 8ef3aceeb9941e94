//! Bundles in an in-memory store: what is shared, what is refused, and the effect of wrong facts.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicUsize;

use stan_model::FileFacts;
use stan_model::facts::{Binding, Bound, Scope};
use stan_repo::{StoreError, sha256};

use super::*;

/// An in-memory store that records the number of requests and the limit of the last one, and can be made unavailable.
#[derive(Clone, Default)]
struct MemoryStore(Arc<(Mutex<Values>, AtomicUsize, AtomicBool, AtomicU64)>);

type Values = BTreeMap<String, Vec<u8>>;

impl ByteStore for MemoryStore {
    fn get(&self, name: &str, limit: u64) -> Result<Option<Vec<u8>>, StoreError> {
        self.0.1.fetch_add(1, Ordering::Relaxed);
        self.0.3.store(limit, Ordering::Relaxed);
        if self.0.2.load(Ordering::Relaxed) {
            return Err(StoreError("it is down".to_owned()));
        }
        let found = self.0.0.lock().unwrap().get(name).cloned();
        assert!(found.as_ref().is_none_or(|bytes| bytes.len() as u64 <= limit));
        Ok(found)
    }

    fn put(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        self.0.0.lock().unwrap().insert(name.to_owned(), bytes.to_vec());
        Ok(())
    }
}

impl MemoryStore {
    fn edit(&self, edit: impl Fn(&mut Vec<u8>)) {
        self.0.0.lock().unwrap().values_mut().for_each(edit);
    }
}

/// Enough files that a bundle is always sampled.
const FILES: [(&str, &str); 16] = [
    ("src/a.ts", "import './b.js';\nexport const a = 1;\n"),
    ("src/b.ts", "export {};\n"),
    ("src/c.py", "import os\n"),
    ("src/f0.ts", "export const f0 = 0;\n"),
    ("src/f1.ts", "export const f1 = 1;\n"),
    ("src/f2.ts", "export const f2 = 2;\n"),
    ("src/f3.ts", "export const f3 = 3;\n"),
    ("src/f4.ts", "export const f4 = 4;\n"),
    ("src/f5.ts", "export const f5 = 5;\n"),
    ("src/f6.ts", "export const f6 = 6;\n"),
    ("src/f7.ts", "export const f7 = 7;\n"),
    ("src/f8.ts", "export const f8 = 8;\n"),
    ("src/f9.ts", "export const f9 = 9;\n"),
    ("src/f10.ts", "export const f10 = 10;\n"),
    ("src/f11.ts", "export const f11 = 11;\n"),
    ("src/f12.ts", "export const f12 = 12;\n"),
];
const COUNT: usize = FILES.len();

/// The files with a different first one.
fn with_first(first: (&'static str, &'static str)) -> [(&'static str, &'static str); COUNT] {
    let mut files = FILES;
    files[0] = first;
    files
}

/// Extracts the files through the cache. Returns the facts and the number of files extracted locally.
fn run(cache: &SharedCache, files: &[(&str, &str)]) -> (Vec<Extraction>, usize) {
    let members: Vec<Member<'_>> = files
        .iter()
        .map(|(path, text)| {
            let meta = FileMeta { digest: sha256(text.as_bytes()), size: text.len() as u64 };
            Member { path, bytes: text.as_bytes(), meta }
        })
        .collect();
    let mut extractors = stan_lang::language::Extractors::default();
    let mut count = 0;
    let options = ExtractOptions::default();
    let mut extract = |member: &Member<'_>| {
        count += 1;
        let file = stan_lang::language::SourceFile { name: member.path, bytes: member.bytes };
        extractors.extract(Languages::all(), file, &options).unwrap()
    };
    let found = match cache.bundles(Languages::all(), &options) {
        Some(bundles) => bundles.extractions(&members, &mut extract),
        None => members.iter().map(extract).collect(),
    };
    (found, count)
}

fn cache(store: &MemoryStore, secret: Option<&str>) -> SharedCache {
    SharedCache::new(Box::new(store.clone()), secret.map(|secret| secret.as_bytes().to_vec()), 7)
}

#[test]
fn facts_of_one_machine_are_reused_by_another() {
    let own = run(&SharedCache::default(), &FILES).0;
    for secret in [None, Some("s")] {
        let store = MemoryStore::default();
        let first = cache(&store, secret);
        assert_eq!(run(&first, &FILES), (own.clone(), COUNT));
        assert_eq!(first.usage().unwrap().bundles_written, 1);
        let second = cache(&store, secret);
        // Without a secret, one file is extracted again and compared.
        assert_eq!(run(&second, &FILES), (own.clone(), usize::from(secret.is_none())));
        assert_eq!(second.usage().unwrap().files_read, COUNT as u64);
        // Another secret means another cache.
        assert_eq!(run(&cache(&store, Some("other")), &FILES).1, COUNT);
        assert_eq!(run(&second, &with_first(("src/a.ts", "export const a = 2;\n"))).1, COUNT);
        // The key contains the basename but not the folder.
        assert_eq!(run(&second, &with_first(("x/a.ts", FILES[0].1))).0, own);
    }
}

#[test]
fn damaged_values_change_nothing() {
    let own = run(&SharedCache::default(), &FILES).0;
    let edits: [fn(&mut Vec<u8>); 6] = [
        |bytes| bytes.truncate(40),
        |bytes| bytes.clear(),
        |bytes| *bytes.last_mut().unwrap() ^= 1,
        |bytes| bytes[10] ^= 1,
        |bytes| bytes[45] ^= 1,
        |bytes| bytes.extend_from_slice(b"more"),
    ];
    for secret in [None, Some("s")] {
        for edit in edits {
            let store = MemoryStore::default();
            run(&cache(&store, secret), &FILES);
            store.edit(edit);
            let reader = cache(&store, secret);
            assert_eq!(run(&reader, &FILES), (own.clone(), COUNT));
            assert!(reader.usage().unwrap().problem.is_some());
            assert!(!reader.gave_wrong_facts());
        }
    }
}

/// A value with a valid checksum but wrong facts.
#[test]
fn a_forged_value_is_noticed_and_costs_a_run() {
    let own = run(&SharedCache::default(), &FILES).0;
    let forge = |bytes: &mut Vec<u8>, secret: Option<&[u8]>| {
        let name = BundleName(bytes[8..40].try_into().unwrap());
        let forged = Extraction { incomplete: true, ..Extraction::default() };
        *bytes = bundle::encode(&name, &[Some(&forged); COUNT], secret).unwrap();
    };
    let store = MemoryStore::default();
    run(&cache(&store, None), &FILES);
    store.edit(|bytes| forge(bytes, None));
    let reader = cache(&store, None);
    run(&reader, &FILES);
    assert!(reader.gave_wrong_facts());
    assert!(reader.bundles(Languages::all(), &ExtractOptions::default()).is_none(), "it is not asked again");
    // Without the secret, a forger cannot create a valid value.
    let store = MemoryStore::default();
    run(&cache(&store, Some("s")), &FILES);
    store.edit(|bytes| forge(bytes, Some(b"guess")));
    let reader = cache(&store, Some("s"));
    assert_eq!(run(&reader, &FILES), (own, COUNT));
    assert!(!reader.gave_wrong_facts());
}

#[test]
fn facts_that_no_file_can_have_are_refused() {
    let bind = |bound| Binding { name: "a".into(), bound, public: true };
    let scope = |bound| Scope { bindings: vec![bind(bound)], globs: Vec::new() };
    for facts in [
        FileFacts { stars: vec![9], ..FileFacts::default() },
        // A cycle of modules, in which the Rust resolver would never terminate.
        FileFacts { scopes: vec![scope(Bound::Scope(1)), scope(Bound::Scope(1))], ..FileFacts::default() },
    ] {
        let store = MemoryStore::default();
        run(&cache(&store, Some("s")), &FILES);
        let forged = Extraction { facts, ..Extraction::default() };
        store.edit(|bytes| {
            let name = BundleName(bytes[8..40].try_into().unwrap());
            let mut list = [None; COUNT];
            list[0] = Some(&forged);
            *bytes = bundle::encode(&name, &list, Some(b"s")).unwrap();
        });
        assert_eq!(run(&cache(&store, Some("s")), &FILES).1, COUNT, "{:?}", forged.facts);
    }
}

/// A list of 30 million empty entries took 15 GB.
#[test]
fn a_value_larger_than_its_files_allow_is_refused() {
    let own = run(&SharedCache::default(), &FILES).0;
    let store = MemoryStore::default();
    run(&cache(&store, None), &FILES);
    store.edit(|bytes| {
        let name = BundleName(bytes[8..40].try_into().unwrap());
        *bytes = bundle::encode(&name, &vec![None; 200_000], None).unwrap();
    });
    let reader = cache(&store, None);
    assert_eq!(run(&reader, &FILES), (own, COUNT));
    assert!(reader.usage().unwrap().problem.is_some());
    assert!(store.0.3.load(Ordering::Relaxed) < 300 << 10, "the server chooses how much is read");
}

#[test]
fn a_server_that_is_down_gets_one_request() {
    let store = MemoryStore::default();
    store.0.2.store(true, Ordering::Relaxed);
    let reader = cache(&store, None);
    for _ in 0..5 {
        assert_eq!(run(&reader, &FILES).1, COUNT);
    }
    assert_eq!(store.0.1.load(Ordering::Relaxed), 1);
    assert_eq!(reader.usage().unwrap().problem.as_deref(), Some("it is down"));
}

#[test]
fn files_with_secrets_are_not_sent() {
    let token = ["ghp_", "q7Rz0bXk2Lm9vTgYw3HdPs5N", "c8JfUe1Wa6Zt"].concat();
    let text = format!("/** {token} @module */\nexport const SECRET_NAME = '{token}';\n");
    let files = [("src/key.ts", text.as_str()), FILES[1]];
    let store = MemoryStore::default();
    run(&cache(&store, None), &files);
    let stored = store.0.0.lock().unwrap().values().next().unwrap().clone();
    let stored = String::from_utf8_lossy(&stored).into_owned();
    assert!(!stored.contains("ghp_") && !stored.contains("SECRET_NAME"), "{stored}");
    // The other machine extracts that file itself.
    let (found, count) = run(&cache(&store, None), &files);
    assert_eq!(found, run(&SharedCache::default(), &files).0);
    assert!((1..=2).contains(&count));
}
