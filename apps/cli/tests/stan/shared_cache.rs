//! The shared cache: answers are the same with and without it, whatever the server does.

use std::process::Output;
use std::time::{Duration, Instant};

use expect_test::expect;
use stan_testkit::{HttpServer, Random, Reply};

use crate::support::Repository;

/// Enough files for a few bundles, including a large one, a broken one and one with a secret.
pub(crate) fn repository() -> Repository {
    let repository = Repository::new(&[
        ("package.json", "{\"name\":\"app\",\"type\":\"module\"}\n"),
        ("src/broken.ts", "import {\n"),
        ("py/tool.py", "import os\r\nfrom . import other\r\n"),
        ("py/other.py", "X = 1\n"),
        ("README.md", "# App\n"),
    ]);
    for index in 0..150 {
        let next = (index * 7 + 3) % 150;
        repository.write(
            &format!("src/m{}/f{index}.ts", index / 10),
            &format!(
                "/** File {index}. @module */\nimport {{ v{next} }} from '../m{}/f{next}.js';\nexport const v{index} = v{next};\n",
                next / 10
            ),
        );
    }
    let many: String =
        (0..4000).map(|index| format!("export const name{index} = {index}; // {}\n", "x".repeat(20))).collect();
    repository.write("src/large.ts", &many);
    let token = ["ghp_", "q7Rz0bXk2Lm9vTgYw3HdPs5N", "c8JfUe1Wa6Zt"].concat();
    repository.write("src/key.ts", &format!("export const KEY_NAME = '{token}';\n"));
    repository
}

pub(crate) fn graph(repository: &Repository, url: &str, environment: &[(&str, &str)]) -> Output {
    repository.output(&["graph", "--json", "--no-cache", "--cache-url", url], environment)
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_filled_cache_is_read_and_answers_are_the_same() {
    let (repository, server) = (repository(), HttpServer::start());
    let expected = repository.output(&["graph", "--json", "--no-cache"], &[]).stdout;
    let verbose = |arguments: &[&str], environment: &[(&str, &str)]| {
        let url = server.url();
        let all = [&["graph", "--json", "--no-cache", "-v", "--cache-url", url.as_str()], arguments].concat();
        let output = repository.output(&all, environment);
        assert_eq!(output.stdout, expected);
        stderr(&output)
    };
    let filling = verbose(&[], &[]);
    assert!(filling.contains("shared cache: 0 files from 0 bundles"), "{filling}");
    let stored = server.values();
    assert!(stored.len() >= 3, "{}", stored.len());
    for value in stored.values() {
        let text = String::from_utf8_lossy(value);
        assert!(!text.contains("ghp_") && !text.contains("KEY_NAME"), "a file with a secret was sent");
    }
    let reading = verbose(&["--threads", "1"], &[]);
    // All files except the one with the secret.
    assert!(reading.contains("shared cache: 154 files from ") && reading.contains(" 0 bundles missing"), "{reading}");
    assert_eq!(server.values(), stored);
    // A different key gives separate entries on the same server.
    let keyed = verbose(&[], &[("STAN_CACHE_KEY", "k")]);
    assert!(keyed.contains("shared cache: 0 files from 0 bundles"), "{keyed}");
    // The environment can name the server too, and `--no-cache` disables it.
    server.take_requests();
    let url = server.url();
    let named = [("STAN_CACHE_URL", url.as_str()), ("STAN_CACHE_AUTHORIZATION", "Bearer t0ken")];
    assert_eq!(repository.output(&["graph", "--json", "--no-cache"], &named).stdout, expected);
    assert!(server.take_requests().is_empty());
    assert_eq!(repository.output(&["graph", "--json"], &named).stdout, expected);
    let requests = server.take_requests();
    assert!(!requests.is_empty() && requests.iter().all(|one| one.authorization.as_deref() == Some("Bearer t0ken")));
    // The cache of the checkout has precedence.
    assert_eq!(repository.output(&["graph", "--json"], &named).stdout, expected);
    assert!(server.take_requests().is_empty());
}

fn fault(random: &mut Random, elsewhere: &str) -> Reply {
    match random.below(16) {
        0 => Reply::Status(500),
        1 => Reply::Status(401),
        2 => Reply::Redirect(elsewhere.to_owned()),
        3 => Reply::Close,
        4 => Reply::Garbage,
        5 | 6 => Reply::BitFlip(random.below(1 << 20)),
        7 => Reply::Truncated,
        8 => Reply::Short,
        9 => Reply::Other,
        10 => Reply::Huge,
        11 => Reply::Empty,
        12 => Reply::LongHeader,
        13 => Reply::Slow(Duration::from_millis(random.below_u64(60))),
        14 => Reply::Status(404),
        _ => Reply::Right,
    }
}

/// The value of `--cache-url`, and environment variables.
pub(crate) type CacheAddress = (String, Vec<(&'static str, String)>);

/// Each run has one or more faults. The server must not be able to change an answer or to redirect the client. `place` returns
/// the address, with `t0ken` as the credential.
pub(crate) fn faults(count: u64, place: impl Fn(&HttpServer) -> CacheAddress) {
    let (repository, server, elsewhere) = (repository(), HttpServer::start(), HttpServer::start());
    let expected = repository.output(&["graph", "--json", "--no-cache"], &[]).stdout;
    let (url, variables) = place(&server);
    let variables: Vec<(&str, &str)> = variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
    graph(&repository, &url, &variables);
    let filled = server.values();
    assert!(!filled.is_empty());
    let mut met = 0;
    let mut seed = 0;
    while met < count {
        seed += 1;
        if seed % 3 == 0 {
            server.set_values(filled.clone());
        }
        let (mut random, target) = (Random::new(seed), elsewhere.url());
        let (sender, faults) = std::sync::mpsc::channel();
        server.plan(move |_| {
            let reply = fault(&mut random, &target);
            if reply != Reply::Right {
                let _ = sender.send(());
            }
            reply
        });
        let key: &[(&str, &str)] = if seed % 2 == 0 { &[] } else { &[("STAN_CACHE_KEY", "k")] };
        let environment = [key, &[("STAN_CACHE_TIMEOUT", "2")], &variables].concat();
        let output = graph(&repository, &url, &environment);
        assert_eq!(output.status.code(), Some(0), "seed {seed}: {}", stderr(&output));
        assert_eq!(output.stdout, expected, "seed {seed}: {}", stderr(&output));
        assert!(!stderr(&output).contains("t0ken"), "seed {seed}");
        met += faults.try_iter().count() as u64;
    }
    assert!(elsewhere.take_requests().is_empty(), "a redirect was followed");
}

fn authorized(server: &HttpServer) -> CacheAddress {
    (server.url(), vec![("STAN_CACHE_AUTHORIZATION", "Bearer t0ken".to_owned())])
}

#[test]
fn faults_of_the_server_change_no_answer() {
    faults(50, authorized);
}

/// The long form: `cargo xtask long shared`.
#[test]
#[ignore = "takes minutes"]
fn a_thousand_faults_of_the_server_change_no_answer() {
    faults(1000, authorized);
}

#[test]
fn a_server_that_is_down_or_slow_costs_one_time_out() {
    let (repository, server) = (repository(), HttpServer::start());
    let expected = repository.output(&["graph", "--json", "--no-cache"], &[]).stdout;
    let down = format!("http://127.0.0.1:{}/", free_port());
    let output = graph(&repository, &down, &[]);
    assert_eq!(output.stdout, expected);
    let said = stderr(&output);
    assert_eq!(said.matches("warning: the shared cache: ").count(), 1, "{said}");
    assert!(!said.contains("127.0.0.1"), "{said}");
    server.plan(|_| Reply::Slow(Duration::from_secs(20)));
    let started = Instant::now();
    let output = graph(&repository, &server.url(), &[("STAN_CACHE_TIMEOUT", "0.3")]);
    assert_eq!(output.stdout, expected);
    assert!(stderr(&output).contains("warning: the shared cache: it did not answer in time"), "{}", stderr(&output));
    assert!(started.elapsed() < Duration::from_secs(15), "many time-outs instead of one");
}

/// A port without a listener.
fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

#[test]
fn a_cache_that_may_only_be_read_is_read() {
    let (repository, server) = (repository(), HttpServer::start());
    let expected = graph(&repository, &server.url(), &[]).stdout;
    repository.write("src/m0/f0.ts", "import { v3 } from '../m0/f3.js';\nexport const v0 = v3;\n");
    server.plan(|request| if request.method == "PUT" { Reply::Status(403) } else { Reply::Right });
    let output = repository.output(&["graph", "--json", "--no-cache", "-v", "--cache-url", &server.url()], &[]);
    assert_ne!(output.stdout, expected);
    assert_eq!(output.stdout, repository.output(&["graph", "--json", "--no-cache"], &[]).stdout);
    let said = stderr(&output);
    assert!(said.contains("nothing was stored in it, because it refuses the request (403)"), "{said}");
    assert!(!said.contains("shared cache: 0 files"), "an edit makes one bundle useless, not all: {said}");
}

#[test]
fn no_file_of_a_repository_names_a_server() {
    let server = HttpServer::start();
    let config = format!(
        "{{\"stan-core\":{{\"cacheUrl\":\"{0}\"}},\"cacheUrl\":\"{0}\",\"cache-url\":\"{0}\"}}\n",
        server.url()
    );
    let repository =
        Repository::new(&[("src/a.ts", "export {};\n"), (".env", &format!("STAN_CACHE_URL={}\n", server.url()))]);
    repository.output(&["graph", "--json"], &[]);
    repository.write("stan.config.json", &config);
    repository.output(&["graph", "--json"], &[]);
    assert!(server.take_requests().is_empty());
}

#[test]
fn addresses_and_credentials_are_checked_and_not_shown() {
    let repository = Repository::new(&[("a.ts", "export {};\n")]);
    let said = |url: &str, environment: &[(&str, &str)]| {
        let output = repository.output(&["graph", "--stats", "--cache-url", url], environment);
        format!("exit {}\n{}", output.status.code().unwrap_or(-1), stderr(&output))
    };
    expect![[r#"
        exit 1
        error: the address of the shared cache holds a user or a password
          help: put it into the environment: STAN_CACHE_AUTHORIZATION='Basic …' or 'Bearer …'
    "#]]
    .assert_eq(&said("https://user:hunter2@cache.example", &[]));
    expect![[r#"
        exit 1
        error: a credential for the shared cache is sent over https:// alone, or to this machine
          help: use https://, or unset STAN_CACHE_AUTHORIZATION
    "#]]
    .assert_eq(&said("http://cache.example", &[("STAN_CACHE_AUTHORIZATION", "Bearer hunter2")]));
    expect![[r#"
        exit 1
        error: STAN_CACHE_TIMEOUT is `soon`, which is not a number of seconds
          help: set it to seconds, such as 5
    "#]]
    .assert_eq(&said("http://cache.example", &[("STAN_CACHE_TIMEOUT", "soon")]));
    expect![[r#"
        exit 1
        error: the address of the shared cache holds a key
          help: set AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and, for temporary keys, AWS_SESSION_TOKEN
    "#]]
    .assert_eq(&said("s3://AKID:hunter2@bucket/x", &[]));
    expect![[r#"
        exit 1
        error: the address of the shared cache is not that of a bucket
          help: name it as s3://bucket/folder, with letters, digits, `-`, `.` and `_` alone
    "#]]
    .assert_eq(&said("s3://Bucket", &[]));
    assert!(said("", &[("STAN_CACHE_URL", "nonsense")]).starts_with("exit 0\n"), "an empty address means none");
}

#[cfg(not(feature = "s3"))]
#[test]
fn a_build_without_buckets_says_how_to_get_them() {
    let repository = Repository::new(&[("a.ts", "export {};\n")]);
    let key = [("AWS_ACCESS_KEY_ID", "AKID"), ("AWS_SECRET_ACCESS_KEY", "hunter2")];
    let output = repository.output(&["graph", "--stats", "--cache-url", "s3://bucket/stan"], &key);
    assert_eq!(output.status.code(), Some(1));
    expect![[r#"
        error: this program was built without S3, which the address of the shared cache asks for
          help: build it with `cargo build --release --package stan-cli --features s3`, or name a server that answers GET and PUT as https://host/path
    "#]]
    .assert_eq(&stderr(&output));
}
