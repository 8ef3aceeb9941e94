//! Tokens that start with a prefix of their issuer: a table of published formats.

use std::ops::Range;

use crate::checksum;
use crate::randomness::is_plausible;

/// The character class of a token after its prefix.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    /// `0-9a-f`
    Hex,
    /// `0-9a-fA-F`
    AnyHex,
    /// `0-9a-z`
    Lower,
    /// `0-9A-Z`
    Upper,
    Letters,
    /// `0-9A-Za-z`
    Alnum,
    /// `0-9A-Za-z_`
    Word,
    /// `0-9A-Za-z_-`
    Base64Url,
    /// `0-9A-Za-z_-.=+/`, for tokens with several parts
    Parts,
}

impl Class {
    fn has(self, byte: u8) -> bool {
        match self {
            Self::Hex => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
            Self::AnyHex => byte.is_ascii_hexdigit(),
            Self::Lower => matches!(byte, b'0'..=b'9' | b'a'..=b'z'),
            Self::Upper => matches!(byte, b'0'..=b'9' | b'A'..=b'Z'),
            Self::Letters => byte.is_ascii_alphabetic(),
            Self::Alnum => byte.is_ascii_alphanumeric(),
            Self::Word => byte.is_ascii_alphanumeric() || byte == b'_',
            Self::Base64Url => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Self::Parts => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'=' | b'+' | b'/'),
        }
    }
}

struct Format {
    prefix: &'static str,
    class: Class,
    least: usize,
    most: usize,
    rule: &'static str,
}

const fn format(prefix: &'static str, class: Class, least: usize, most: usize, rule: &'static str) -> Format {
    Format { prefix, class, least, most, rule }
}

use Class::{Alnum, AnyHex, Base64Url, Hex, Letters, Lower, Parts, Upper, Word};

/// Sorted by prefix; of two that start alike, the longer one comes first, so that it is tried first.
#[rustfmt::skip]
const FORMATS: &[Format] = &[
    format("A3-", Base64Url, 36, 36, "one-password-token"),
    format("ABSK", Parts, 109, 280, "aws-bedrock-key"),
    format("AGE-SECRET-KEY-1", Upper, 58, 58, "age-secret-key"),
    format("AIza", Base64Url, 35, 35, "google-api-key"),
    format("AKCp", Alnum, 60, 80, "jfrog-api-key"),
    format("AKIA", Upper, 16, 16, "aws-access-key-id"),
    format("AKID", Alnum, 32, 32, "tencent-key-id"),
    format("APA91b", Base64Url, 134, 134, "firebase-token"),
    format("AQVN", Base64Url, 38, 38, "yandex-key"),
    format("ASIA", Upper, 16, 16, "aws-access-key-id"),
    format("ATATT3", Parts, 100, 400, "atlassian-token"),
    format("ATBB", Alnum, 28, 36, "atlassian-token"),
    format("ATCTT3", Parts, 100, 400, "atlassian-token"),
    format("CCIPAT_", Word, 40, 100, "circleci-token"),
    format("CFPAT-", Base64Url, 43, 43, "contentful-token"),
    format("CLOJARS_", Lower, 60, 60, "clojars-token"),
    format("EAAAE", Base64Url, 59, 59, "square-token"),
    format("EAAAF", Base64Url, 59, 59, "square-token"),
    format("EAAAl", Base64Url, 59, 59, "square-token"),
    format("EAACEdEose0cBA", Alnum, 40, 300, "facebook-token"),
    format("EZAK", Alnum, 54, 54, "easypost-key"),
    format("GOCSPX-", Base64Url, 28, 28, "google-oauth-secret"),
    format("GR1348941", Base64Url, 20, 20, "gitlab-token"),
    format("HRKU-AA", Base64Url, 58, 62, "heroku-api-key"),
    format("LTAI5t", Alnum, 18, 18, "alibaba-key-id"),
    format("NRAK-", Upper, 27, 27, "new-relic-key"),
    format("NRII-", Base64Url, 32, 32, "new-relic-key"),
    format("PMAK-", Base64Url, 59, 59, "postman-key"),
    format("access-production-", Base64Url, 36, 36, "plaid-token"),
    format("aio_", Alnum, 28, 28, "adafruit-key"),
    format("bkua_", Hex, 40, 40, "buildkite-token"),
    format("cio", Alnum, 32, 32, "crates-io-token"),
    format("cmVmdGtuOjAxOj", Alnum, 40, 64, "jfrog-api-key"),
    format("dapi", Hex, 32, 32, "databricks-token"),
    format("dckr_oat_", Base64Url, 27, 40, "docker-hub-token"),
    format("dckr_pat_", Base64Url, 27, 36, "docker-hub-token"),
    format("doo_v1_", Hex, 64, 64, "digitalocean-token"),
    format("dop_v1_", Hex, 64, 64, "digitalocean-token"),
    format("dor_v1_", Hex, 64, 64, "digitalocean-token"),
    format("duffel_live_", Base64Url, 43, 43, "duffel-token"),
    format("figd_", Base64Url, 38, 64, "figma-token"),
    format("fio-u-", Base64Url, 64, 64, "frame-io-token"),
    format("fm2_", Parts, 100, 2000, "fly-io-token"),
    format("fo1_", Base64Url, 43, 43, "fly-io-token"),
    format("gho_", Alnum, 36, 36, "github-token"),
    format("ghp_", Alnum, 36, 36, "github-token"),
    format("ghr_", Alnum, 36, 76, "github-token"),
    format("ghs_", Parts, 36, 600, "github-token"),
    format("ghu_", Alnum, 36, 36, "github-token"),
    format("github_pat_", Word, 82, 82, "github-token"),
    format("glagent-", Base64Url, 50, 64, "gitlab-token"),
    format("glc_eyJ", Parts, 40, 400, "grafana-token"),
    format("glcbt-", Parts, 20, 100, "gitlab-token"),
    format("gldt-", Parts, 20, 100, "gitlab-token"),
    format("glffct-", Parts, 20, 100, "gitlab-token"),
    format("glft-", Parts, 20, 100, "gitlab-token"),
    format("glimt-", Parts, 20, 100, "gitlab-token"),
    format("gloas-", Parts, 64, 100, "gitlab-token"),
    format("glpat-", Parts, 20, 100, "gitlab-token"),
    format("glptt-", Parts, 40, 100, "gitlab-token"),
    format("glrt-", Parts, 20, 100, "gitlab-token"),
    format("glsa_", Word, 41, 41, "grafana-token"),
    format("glsoat-", Parts, 20, 100, "gitlab-token"),
    format("gsk_", Alnum, 52, 52, "groq-api-key"),
    format("hf_", Letters, 34, 34, "hugging-face-token"),
    format("ico-", Alnum, 32, 32, "infracost-key"),
    format("key-", Hex, 32, 32, "mailgun-key"),
    format("lin_api_", Alnum, 40, 40, "linear-key"),
    format("lin_oauth_", Alnum, 64, 64, "linear-key"),
    format("lsv2_pt_", Word, 43, 43, "langsmith-key"),
    format("lsv2_sk_", Word, 43, 43, "langsmith-key"),
    format("nfp_", Alnum, 36, 40, "netlify-token"),
    format("npm_", Alnum, 36, 36, "npm-token"),
    format("ntn_", Alnum, 46, 46, "notion-token"),
    format("ops_eyJ", Parts, 200, 2000, "one-password-token"),
    format("oy2", Lower, 43, 43, "nuget-key"),
    format("pat-eu1-", Base64Url, 36, 36, "hubspot-token"),
    format("pat-na1-", Base64Url, 36, 36, "hubspot-token"),
    format("pcsk_", Word, 60, 80, "pinecone-key"),
    format("pnu_", Alnum, 36, 36, "prefect-key"),
    format("pplx-", Alnum, 48, 56, "perplexity-key"),
    format("pscale_oauth_", Parts, 32, 64, "planetscale-token"),
    format("pscale_pw_", Parts, 32, 64, "planetscale-token"),
    format("pscale_tkn_", Parts, 32, 64, "planetscale-token"),
    format("pul-", Hex, 40, 40, "pulumi-token"),
    format("pypi-AgEIcHlwaS5vcmc", Base64Url, 50, 1000, "pypi-token"),
    format("pypi-AgENdGVzdC5weXBpLm9yZw", Base64Url, 50, 1000, "pypi-token"),
    format("r8_", Alnum, 37, 37, "replicate-token"),
    format("rdme_", Lower, 70, 70, "readme-key"),
    format("rk_live_", Alnum, 20, 247, "stripe-key"),
    format("rubygems_", Hex, 48, 48, "rubygems-key"),
    format("sb_secret_", Base64Url, 20, 60, "supabase-key"),
    format("sbp_", Hex, 40, 40, "supabase-key"),
    format("secret_", Alnum, 43, 43, "notion-token"),
    format("shpat_", AnyHex, 32, 32, "shopify-token"),
    format("shpca_", AnyHex, 32, 32, "shopify-token"),
    format("shppa_", AnyHex, 32, 32, "shopify-token"),
    format("shpss_", AnyHex, 32, 32, "shopify-token"),
    format("shptka_", AnyHex, 32, 32, "shopify-token"),
    format("sk-admin-", Base64Url, 40, 200, "openai-key"),
    format("sk-ant-", Base64Url, 80, 140, "anthropic-key"),
    format("sk-or-v1-", Hex, 64, 64, "openrouter-key"),
    format("sk-proj-", Base64Url, 40, 200, "openai-key"),
    format("sk-svcacct-", Base64Url, 40, 200, "openai-key"),
    format("sk-", Alnum, 32, 64, "openai-key"),
    format("sk_live_", Alnum, 20, 247, "stripe-key"),
    format("sk_org_live_", Alnum, 20, 247, "stripe-key"),
    format("sntrys_eyJ", Parts, 40, 500, "sentry-token"),
    format("sntryu_", Hex, 64, 64, "sentry-token"),
    format("sq0atp-", Base64Url, 22, 22, "square-token"),
    format("sq0csp-", Base64Url, 43, 43, "square-token"),
    format("sqa_", Hex, 40, 40, "sonarqube-token"),
    format("sqp_", Hex, 40, 40, "sonarqube-token"),
    format("squ_", Hex, 40, 40, "sonarqube-token"),
    format("tfp_", Parts, 44, 70, "typeform-token"),
    format("tskey-", Base64Url, 24, 80, "tailscale-key"),
    format("whsec_", Parts, 32, 64, "stripe-key"),
    format("xai-", Alnum, 80, 80, "xai-key"),
    format("xapp-", Base64Url, 40, 200, "slack-token"),
    format("xkeysib-", Base64Url, 81, 81, "brevo-key"),
    format("xoxa-", Base64Url, 20, 255, "slack-token"),
    format("xoxb-", Base64Url, 20, 255, "slack-token"),
    format("xoxc-", Base64Url, 20, 255, "slack-token"),
    format("xoxd-", Base64Url, 20, 255, "slack-token"),
    format("xoxe-", Base64Url, 20, 255, "slack-token"),
    format("xoxo-", Base64Url, 20, 255, "slack-token"),
    format("xoxp-", Base64Url, 20, 255, "slack-token"),
    format("xoxr-", Base64Url, 20, 255, "slack-token"),
    format("xoxs-", Base64Url, 20, 255, "slack-token"),
];

/// For each first byte, a set of the second bytes (modulo 32) of all prefixes. Most runs are identifiers and are rejected here.
const SECOND: [u32; 256] = second_bytes();

const fn second_bytes() -> [u32; 256] {
    let mut bits = [0; 256];
    let mut at = 0;
    while at < FORMATS.len() {
        let prefix = FORMATS[at].prefix.as_bytes();
        bits[prefix[0] as usize] |= 1 << (prefix[1] & 31);
        at += 1;
    }
    bits
}

/// For each first byte, where its formats are in the table.
const PLACES: [(u8, u8); 256] = places();

const fn places() -> [(u8, u8); 256] {
    assert!(FORMATS.len() <= u8::MAX as usize);
    let mut places = [(0, 0); 256];
    let mut at = 0;
    while at < FORMATS.len() {
        let place = &mut places[FORMATS[at].prefix.as_bytes()[0] as usize];
        if place.1 == 0 {
            place.0 = at as u8;
        }
        place.1 = at as u8 + 1;
        at += 1;
    }
    places
}

/// The rule for a token at the start of the run.
pub(crate) fn matched(text: &[u8], run: &Range<usize>) -> Option<&'static str> {
    let token = text.get(run.start..)?;
    let &[first, second, ..] = token else { return None };
    if SECOND.get(usize::from(first))? >> (second & 31) & 1 == 0 {
        return None;
    }
    let (start, end) = *PLACES.get(usize::from(first))?;
    let formats = FORMATS.get(usize::from(start)..usize::from(end))?;
    formats.iter().find(|format| matches(token, format)).map(|format| format.rule)
}

fn matches(token: &[u8], format: &Format) -> bool {
    let Some(rest) = token.strip_prefix(format.prefix.as_bytes()) else { return false };
    let reach = rest.get(..format.most + 1).unwrap_or(rest);
    let mut length = reach.iter().take_while(|byte| format.class.has(**byte)).count();
    if format.class == Parts {
        // A dot at the end belongs to the sentence, not to the token.
        length -= reach.get(..length).unwrap_or_default().iter().rev().take_while(|byte| **byte == b'.').count();
    }
    let is_cut = rest.get(length).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    if length < format.least || length > format.most || is_cut {
        return false;
    }
    let secret = rest.get(..length).unwrap_or_default();
    match format.rule {
        // A correct checksum proves the token; an incorrect one does not disprove it, because formats change.
        "github-token" | "npm-token" if secret.len() == 36 => checksum::is_right(secret) || is_plausible(secret),
        "slack-token" => secret.iter().filter(|byte| byte.is_ascii_digit()).count() >= 5 && is_plausible(secret),
        // The secret key of an account has parts in capitals. The other format has a longer prefix.
        "one-password-token" if format.prefix == "A3-" => {
            !secret.iter().any(u8::is_ascii_lowercase) && is_plausible(secret)
        }
        // The example key in the documentation.
        "aws-access-key-id" => !secret.ends_with(b"EXAMPLE") && is_plausible(secret),
        _ => is_plausible(secret),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_are_sorted_with_the_longer_first() {
        for pair in FORMATS.windows(2) {
            let [first, second] = pair else { continue };
            let in_order = first.prefix < second.prefix || first.prefix.starts_with(second.prefix);
            assert!(in_order, "{} {}", first.prefix, second.prefix);
        }
    }

    #[test]
    fn every_prefix_names_a_rule() {
        for format in FORMATS {
            assert!(crate::RULES.iter().any(|rule| rule.id == format.rule), "{}", format.rule);
        }
    }
}
