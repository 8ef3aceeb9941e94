//! 300 tokens of each published format from a fixed generator: nearly all are found, in every context in which they are usually
//! written. This file itself contains no token.

use stan_testkit::Random;

fn characters(random: &mut Random, alphabet: &str, length: usize) -> String {
    let alphabet = alphabet.as_bytes();
    (0..length).map(|_| alphabet[random.below(alphabet.len())] as char).collect()
}

const DIGITS: &str = "0123456789";
const HEX: &str = "0123456789abcdef";
const LOWER: &str = "0123456789abcdefghijklmnopqrstuvwxyz";
const UPPER: &str = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const BASE32: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const ALNUM: &str = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const URL: &str = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-";
const BASE64: &str = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz+/";

/// A part of a format: fixed text, or a number of characters from an alphabet.
type Part = (&'static str, usize);

/// The length is 0 for fixed text.
const FORMATS: &[(&str, &[Part])] = &[
    ("aws-access-key-id", &[("AKIA", 0), (BASE32, 16)]),
    ("aws-access-key-id", &[("ASIA", 0), (BASE32, 16)]),
    ("google-api-key", &[("AIza", 0), (URL, 35)]),
    ("google-oauth-secret", &[("GOCSPX-", 0), (URL, 28)]),
    ("google-oauth-token", &[("ya29.", 0), (URL, 120)]),
    ("azure-client-secret", &[(ALNUM, 3), ("8Q~", 0), (ALNUM, 34)]),
    ("github-token", &[("ghp_", 0), (ALNUM, 36)]),
    ("github-token", &[("gho_", 0), (ALNUM, 36)]),
    ("github-token", &[("ghu_", 0), (ALNUM, 36)]),
    ("github-token", &[("ghs_", 0), (ALNUM, 36)]),
    ("github-token", &[("ghr_", 0), (ALNUM, 36)]),
    ("github-token", &[("github_pat_", 0), (ALNUM, 22), ("_", 0), (ALNUM, 59)]),
    ("gitlab-token", &[("glpat-", 0), (URL, 20)]),
    ("gitlab-token", &[("gldt-", 0), (URL, 20)]),
    ("npm-token", &[("npm_", 0), (ALNUM, 36)]),
    ("pypi-token", &[("pypi-AgEIcHlwaS5vcmc", 0), (URL, 150)]),
    ("crates-io-token", &[("cio", 0), (ALNUM, 32)]),
    ("rubygems-key", &[("rubygems_", 0), (HEX, 48)]),
    ("nuget-key", &[("oy2", 0), (LOWER, 43)]),
    ("docker-hub-token", &[("dckr_pat_", 0), (URL, 27)]),
    ("slack-token", &[("xoxb-", 0), (DIGITS, 12), ("-", 0), (DIGITS, 13), ("-", 0), (ALNUM, 24)]),
    ("slack-token", &[("xoxp-", 0), (DIGITS, 12), ("-", 0), (DIGITS, 12), ("-", 0), (DIGITS, 12), ("-", 0), (HEX, 32)]),
    (
        "slack-webhook",
        &[("https://hooks.slack.com/services/T", 0), (UPPER, 8), ("/B", 0), (UPPER, 10), ("/", 0), (ALNUM, 24)],
    ),
    ("discord-webhook", &[("https://discord.com/api/webhooks/", 0), (DIGITS, 18), ("/", 0), (URL, 68)]),
    ("telegram-token", &[(DIGITS, 9), (":AA", 0), (URL, 33)]),
    ("stripe-key", &[("sk_live_", 0), (ALNUM, 24)]),
    ("stripe-key", &[("rk_live_", 0), (ALNUM, 99)]),
    ("square-token", &[("sq0atp-", 0), (URL, 22)]),
    ("square-token", &[("sq0csp-", 0), (URL, 43)]),
    ("braintree-token", &[("access_token$production$", 0), (LOWER, 16), ("$", 0), (HEX, 32)]),
    ("sendgrid-key", &[("SG.", 0), (URL, 22), (".", 0), (URL, 43)]),
    ("mailgun-key", &[("key-", 0), (HEX, 32)]),
    ("mailchimp-key", &[(HEX, 32), ("-us14", 0)]),
    ("openai-key", &[("sk-", 0), (ALNUM, 20), ("T3BlbkFJ", 0), (ALNUM, 20)]),
    ("openai-key", &[("sk-proj-", 0), (URL, 74), ("T3BlbkFJ", 0), (URL, 74)]),
    ("anthropic-key", &[("sk-ant-api03-", 0), (URL, 93), ("AA", 0)]),
    ("hugging-face-token", &[("hf_", 0), (LETTERS, 34)]),
    ("digitalocean-token", &[("dop_v1_", 0), (HEX, 64)]),
    ("heroku-api-key", &[("HRKU-AA", 0), (URL, 58)]),
    ("shopify-token", &[("shpat_", 0), (HEX, 32)]),
    ("atlassian-token", &[("ATATT3xFfGF0", 0), (URL, 170), ("=", 0), (UPPER, 8)]),
    ("linear-key", &[("lin_api_", 0), (ALNUM, 40)]),
    ("figma-token", &[("figd_", 0), (URL, 40)]),
    ("databricks-token", &[("dapi", 0), (HEX, 32)]),
    ("vault-token", &[("hvs.", 0), (URL, 90)]),
    ("terraform-token", &[(ALNUM, 14), (".atlasv1.", 0), (URL, 67)]),
    ("age-secret-key", &[("AGE-SECRET-KEY-1", 0), (UPPER, 58)]),
    ("grafana-token", &[("glsa_", 0), (ALNUM, 32), ("_", 0), (HEX, 8)]),
    ("azure-key", &[("DefaultEndpointsProtocol=https;AccountName=x;AccountKey=", 0), (BASE64, 86), ("==", 0)]),
    ("connection-password", &[("postgres://app:", 0), (ALNUM, 14), ("@db.acme.io:5432/app", 0)]),
    ("connection-password", &[("mongodb+srv://app:", 0), (ALNUM, 16), ("@cluster0.ab1cd.mongodb.net/x", 0)]),
    ("adafruit-key", &[("aio_", 0), (ALNUM, 28)]),
    ("airtable-token", &[("pat", 0), (ALNUM, 14), (".", 0), (HEX, 64)]),
    ("alibaba-key-id", &[("LTAI5t", 0), (ALNUM, 18)]),
    ("aws-bedrock-key", &[("ABSK", 0), (BASE64, 120)]),
    ("azure-devops-token", &[(ALNUM, 76), ("AZDO", 0), (ALNUM, 4)]),
    (
        "azure-signature",
        &[("https://x.blob.core.windows.net/c?sv=2022-11-02&se=2030-01-01&sig=", 0), (ALNUM, 43), ("%3D", 0)],
    ),
    ("cloudflare-key", &[("v1.0-", 0), (HEX, 24), ("-", 0), (HEX, 146)]),
    ("discord-token", &[("MTA", 0), (ALNUM, 21), (".G", 0), (URL, 5), (".", 0), (URL, 38)]),
    ("dropbox-token", &[("sl.B", 0), (URL, 135)]),
    ("duffel-token", &[("duffel_live_", 0), (URL, 43)]),
    ("dynatrace-token", &[("dt0c01.", 0), (UPPER, 24), (".", 0), (UPPER, 64)]),
    ("easypost-key", &[("EZAK", 0), (ALNUM, 54)]),
    ("facebook-token", &[("EAACEdEose0cBA", 0), (ALNUM, 120)]),
    ("firebase-token", &[("AAAA", 0), (URL, 7), (":APA91b", 0), (URL, 134)]),
    ("fly-io-token", &[("fm2_", 0), (BASE64, 160)]),
    ("frame-io-token", &[("fio-u-", 0), (URL, 64)]),
    (
        "hubspot-token",
        &[("pat-na1-", 0), (HEX, 8), ("-", 0), (HEX, 4), ("-", 0), (HEX, 4), ("-", 0), (HEX, 4), ("-", 0), (HEX, 12)],
    ),
    ("infracost-key", &[("ico-", 0), (ALNUM, 32)]),
    ("langsmith-key", &[("lsv2_pt_", 0), (HEX, 32), ("_", 0), (HEX, 10)]),
    ("mapbox-token", &[("sk.eyJ1Ijoi", 0), (ALNUM, 70), (".", 0), (URL, 22)]),
    ("pinecone-key", &[("pcsk_", 0), (ALNUM, 6), ("_", 0), (ALNUM, 63)]),
    (
        "plaid-token",
        &[
            ("access-production-", 0),
            (HEX, 8),
            ("-", 0),
            (HEX, 4),
            ("-", 0),
            (HEX, 4),
            ("-", 0),
            (HEX, 4),
            ("-", 0),
            (HEX, 12),
        ],
    ),
    ("prefect-key", &[("pnu_", 0), (ALNUM, 36)]),
    ("readme-key", &[("rdme_", 0), (LOWER, 70)]),
    ("sonarqube-token", &[("sqp_", 0), (HEX, 40)]),
    ("teams-webhook", &[("https://x.webhook.office.com/webhookb2/a@b/IncomingWebhook/", 0), (HEX, 32), ("/c", 0)]),
    ("tencent-key-id", &[("AKID", 0), (ALNUM, 32)]),
    ("typeform-token", &[("tfp_", 0), (URL, 59)]),
    ("yandex-key", &[("AQVN", 0), (URL, 38)]),
    ("address-password", &[("https://ci:", 0), (ALNUM, 20), ("@git.acme.io/a/b.git", 0)]),
    ("json-web-token", &[("eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJ1IjoiYSIsImV4cCI6NDEwMjQ0NDgwMH0.", 0), (URL, 43)]),
    ("private-key", &[("-----BEGIN RSA PRIVATE KEY-----\nMIIE", 0), (BASE64, 60), ("\n", 0), (BASE64, 64), ("\n", 0)]),
    ("private-key", &[("-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk", 0), (BASE64, 55), ("\n", 0)]),
    ("private-key", &[("-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nlQOYBF", 0), (BASE64, 58), ("\n", 0)]),
    ("private-key", &[("\"private_key\": \"-----BEGIN PRIVATE KEY-----\\nMIIE", 0), (BASE64, 60), ("\\n", 0)]),
];

/// Random values that only their name marks as secret.
const NAMED: &[(&str, &str, usize)] = &[
    ("aws_secret_access_key = ", BASE64, 40),
    ("AWS_SECRET_ACCESS_KEY=", BASE64, 40),
    ("TWILIO_AUTH_TOKEN=", HEX, 32),
    ("DISCORD_BOT_TOKEN=", URL, 70),
    ("password: ", ALNUM, 24),
    ("//registry.npmjs.org/:_authToken=", URL, 40),
];

fn build(random: &mut Random, parts: &[Part]) -> String {
    parts
        .iter()
        .map(|(text, length)| if *length == 0 { (*text).to_owned() } else { characters(random, text, *length) })
        .collect()
}

/// A text with a token on its third line: configuration, code or prose.
fn setting(random: &mut Random, token: &str) -> String {
    let line = match random.next() % 6 {
        0 => format!("KEY={token}"),
        1 => format!("const value = \"{token}\";"),
        2 => format!("  key: {token}"),
        3 => format!("use {token} for it"),
        4 => format!("+  value('{token}')"),
        _ => format!("{{\"value\": \"{token}\"}}"),
    };
    format!("first line\nsecond line\n{line}\nlast line\n")
}

#[test]
fn tokens_of_published_formats_are_found() {
    let mut random = Random::new(1);
    let mut missed = Vec::new();
    for round in 0..300 {
        let is_named = round % 10 == 9;
        let (rule, text) = if is_named {
            let (start, alphabet, length) = NAMED[round / 10 % NAMED.len()];
            ("", format!("first line\nsecond line\n{start}{}\n", characters(&mut random, alphabet, length)))
        } else {
            let (rule, parts) = FORMATS[round % FORMATS.len()];
            let token = build(&mut random, parts);
            (rule, setting(&mut random, &token))
        };
        let hits = stan_secrets::scan(text.as_bytes());
        let is_found = hits.iter().any(|hit| hit.line >= 3 && (is_named || hit.rule == rule));
        if !is_found {
            missed.push(format!("{rule} {text:?} {hits:?}"));
        }
    }
    assert!(missed.len() <= 15, "{} missed:\n{}", missed.len(), missed.join("\n"));
    assert!(missed.len() <= 6, "fewer than 98 % found; missed:\n{}", missed.join("\n"));
}

#[test]
fn a_text_in_pieces_gives_the_same_hits() {
    let mut random = Random::new(2);
    let mut text = String::new();
    for (_, parts) in FORMATS {
        let token = build(&mut random, parts);
        text.push_str(&setting(&mut random, &token));
        text.push_str(&"some ordinary words on a line\n".repeat((random.next() % 900) as usize));
    }
    let whole = stan_secrets::scan(text.as_bytes());
    assert_eq!(whole.len(), stan_secrets::MAX_HITS);
    for size in [1000, 16_384, 16_385, 100_000] {
        let mut stream = stan_secrets::Stream::default();
        text.as_bytes().chunks(size).for_each(|piece| stream.update(piece));
        assert_eq!(stream.finish(), whole, "pieces of {size}");
    }
}

#[test]
fn ordinary_text_has_no_hits() {
    for text in [
        "",
        "-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n",
        "const BEGIN = '-----BEGIN RSA PRIVATE KEY-----';\nfunction parsePrivateKeyFromPemDocument() {}\n",
        "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYDVQQGEwJJ\n",
        "\"integrity\": \"sha512-Rk5lbmNyeXB0ZWQ1c2hhNTEyaGFzaG9mYXBhY2thZ2VmaWxlMTIzNDU2Nzg5MA==\"",
        "aws: AKIAIOSFODNN7EXAMPLE",
        "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "sk-ant-your-key-here",
        "sk_live_YOUR_KEY",
        "npm_config_registry_and_other_settings_of_npm",
        "hf_transformersPipelineConfiguration",
        "Authorization: Bearer <token>",
        "key-value-store-implementation-detail",
        "xoxb-your-bot-token-goes-here-please",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
    ] {
        assert_eq!(stan_secrets::scan(text.as_bytes()), [], "{text}");
    }
}

#[test]
fn the_documentation_lists_every_rule() {
    let page = include_str!("../../../docs/secrets.md");
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `")?.strip_suffix(" |"));
    let documented: Vec<&str> = rows.collect();
    let expected: Vec<String> =
        stan_secrets::RULES.iter().map(|rule| format!("{}` | {}", rule.id, rule.finds)).collect();
    assert_eq!(documented, expected);
}

#[test]
fn files_named_as_examples_may_hold_sample_values() {
    let mut random = Random::new(3);
    let value = format!("api_key = \"{}\"\n", characters(&mut random, ALNUM, 32));
    let token = format!("api_key = \"ghp_{}\"\n", characters(&mut random, ALNUM, 36));
    assert_eq!(stan_secrets::scan_file("config/api.example.yml", value.as_bytes()), []);
    assert_eq!(stan_secrets::scan_file("config/api.yml", value.as_bytes()).len(), 1);
    assert_eq!(stan_secrets::scan_file("config/api.example.yml", token.as_bytes()).len(), 1);
}
