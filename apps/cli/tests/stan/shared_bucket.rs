//! A bucket as the shared cache: the same tests as for any other server, with signed requests. Only in builds with the feature
//! `s3`; `cargo xtask long fleet` also runs them with a server that verifies signatures.

use expect_test::expect;
use stan_testkit::HttpServer;

use crate::shared_cache::{CacheAddress, faults, graph, repository, stderr};
use crate::support::Repository;

/// A bucket on the loopback server, which accepts any signature.
fn signed(server: &HttpServer) -> CacheAddress {
    let endpoint = server.url();
    let variables = [
        ("AWS_ACCESS_KEY_ID", "AKID"),
        ("AWS_SECRET_ACCESS_KEY", "hunter2-t0ken"),
        ("AWS_SESSION_TOKEN", "session-t0ken"),
        ("AWS_ENDPOINT_URL_S3", endpoint.as_str()),
    ];
    ("s3://facts/team".to_owned(), variables.map(|(name, value)| (name, value.to_owned())).to_vec())
}

#[test]
fn requests_to_a_bucket_are_signed() {
    let (repository, server) = (repository(), HttpServer::start());
    let (url, variables) = signed(&server);
    let variables: Vec<(&str, &str)> = variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let expected = repository.output(&["graph", "--json", "--no-cache"], &[]).stdout;
    for round in ["filling", "reading"] {
        assert_eq!(graph(&repository, &url, &variables).stdout, expected, "{round}");
        let requests = server.take_requests();
        assert!(!requests.is_empty());
        for request in requests {
            assert!(request.path.starts_with("/cache/facts/team/v1/"), "{}", request.path);
            let authorization = request.authorization.unwrap();
            assert!(authorization.starts_with("AWS4-HMAC-SHA256 Credential=AKID/"), "{authorization}");
            assert!(authorization.contains("/us-east-1/s3/aws4_request") && !authorization.contains("hunter2"));
        }
    }
    // No other credential is sent to a bucket.
    let both = [variables.as_slice(), &[("STAN_CACHE_AUTHORIZATION", "Bearer other")]].concat();
    graph(&repository, &url, &both);
    let requests = server.take_requests();
    assert!(requests.iter().all(|one| one.authorization.as_ref().is_some_and(|text| !text.contains("other"))));
}

#[test]
fn faults_of_a_bucket_change_no_answer() {
    faults(50, signed);
}

#[test]
fn missing_settings_of_a_bucket_are_reported_without_keys() {
    let repository = Repository::new(&[("a.ts", "export {};\n")]);
    let said = |environment: &[(&str, &str)]| {
        let output = repository.output(&["graph", "--stats", "--cache-url", "s3://facts"], environment);
        assert_eq!(output.status.code(), Some(1));
        stderr(&output)
    };
    expect![[r#"
        error: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY or AWS_SESSION_TOKEN is missing or is not what Amazon issues
          help: set AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and, for temporary keys, AWS_SESSION_TOKEN
    "#]]
    .assert_eq(&said(&[("AWS_ACCESS_KEY_ID", "AKID")]));
    let key = [("AWS_ACCESS_KEY_ID", "AKID"), ("AWS_SECRET_ACCESS_KEY", "hunter2")];
    expect![[r#"
        error: the endpoint of the bucket is neither https:// nor on this machine
          help: set AWS_ENDPOINT_URL_S3 to https://host, or unset it and AWS_ENDPOINT_URL for Amazon
    "#]]
    .assert_eq(&said(&[key.as_slice(), &[("AWS_ENDPOINT_URL", "http://minio:9000")]].concat()));
    expect![[r#"
        error: AWS_REGION is not the name of a region
          help: set it to one, such as eu-west-1
    "#]]
    .assert_eq(&said(&[key.as_slice(), &[("AWS_REGION", "evil.example/")]].concat()));
}

/// `fixtures/fleet/bucket.py` starts the server and passes its address.
#[test]
#[ignore = "needs a server that checks signatures"]
fn a_bucket_that_checks_signatures_is_filled_and_read() {
    let variable = |name: &str| std::env::var_os(name).and_then(|value| value.into_string().ok()).expect(name);
    let url = format!("s3://{}/test", variable("STAN_TEST_S3_BUCKET"));
    let (endpoint, key_id) = (variable("STAN_TEST_S3_ENDPOINT"), variable("STAN_TEST_S3_KEY_ID"));
    let secret = variable("STAN_TEST_S3_SECRET_KEY");
    let repository = repository();
    let expected = repository.output(&["graph", "--json", "--no-cache"], &[]).stdout;
    let run = |secret: &str| {
        let environment = [
            ("AWS_ENDPOINT_URL_S3", endpoint.as_str()),
            ("AWS_ACCESS_KEY_ID", &key_id),
            ("AWS_SECRET_ACCESS_KEY", secret),
        ];
        let output = repository.output(&["graph", "--json", "--no-cache", "-v", "--cache-url", &url], &environment);
        let said = stderr(&output);
        assert_eq!(output.stdout, expected, "{said}");
        assert!(!said.contains(secret) && !said.contains(&key_id) && !said.contains(&endpoint), "{said}");
        said
    };
    let filling = run(&secret);
    assert!(filling.contains("0 files from 0 bundles") && !filling.contains(" 0 bundles stored"), "{filling}");
    let reading = run(&secret);
    assert!(reading.contains("shared cache: 154 files from ") && reading.contains(" 0 bundles missing"), "{reading}");
    let refused = run("wrong-key");
    assert!(refused.contains("it refuses the request (403); see AWS_ACCESS_KEY_ID"), "{refused}");
}
