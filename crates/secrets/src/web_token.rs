//! JSON Web Tokens: three base64url parts, of which the first contains the signature algorithm.

use std::ops::Range;

use crate::randomness::is_wordy;

/// Longer parts are not decoded.
const MAX_PART: usize = 4 << 10;

pub(crate) fn matched(text: &[u8], run: &Range<usize>) -> Option<&'static str> {
    let header = text.get(run.clone())?;
    if !header.starts_with(b"eyJ") || header.len() > MAX_PART {
        return None;
    }
    is_secret(text.get(run.start..)?)?.then_some("json-web-token")
}

/// Whether the web token at the start of a text is a secret. `None` if there is no web token.
pub(crate) fn is_secret(text: &[u8]) -> Option<bool> {
    let header = part(text)?;
    let payload = part(text.get(header.len()..)?.strip_prefix(b".")?)?;
    let signature = part(text.get(header.len() + 1 + payload.len()..)?.strip_prefix(b".")?)?;
    let (header, payload) = (decode(header)?, decode(payload)?);
    if memchr::memmem::find(&header, b"\"alg\"").is_none() {
        return None;
    }
    // An encrypted token has no payload that could be read.
    let is_encrypted = memchr::memmem::find(&header, b"\"enc\"").is_some();
    let is_granted = is_encrypted || (payload.starts_with(b"{") && has_claims(&payload));
    let is_signed = signature.len() >= 20 && !is_wordy(signature);
    Some(is_granted && is_signed && !is_documentation(&header) && !is_documentation(&payload))
}

/// Tokens that expired before these rules were written (2026-01-01) are useless.
const EXPIRED: u64 = 1_767_225_600;

/// Shorter payloads state nothing, unless a claim that is registered (RFC 7519) is among them.
const LEAST_PAYLOAD: usize = 48;

/// Issuers put at least a registered claim into a token; tests often sign `{"foo":"bar"}`.
fn has_claims(payload: &[u8]) -> bool {
    let claims: [&[u8]; 7] = [b"\"iss\"", b"\"sub\"", b"\"aud\"", b"\"exp\"", b"\"nbf\"", b"\"iat\"", b"\"jti\""];
    payload.len() >= LEAST_PAYLOAD || claims.iter().any(|claim| memchr::memmem::find(payload, claim).is_some())
}

/// The example token of the JWT tutorials, one of a domain that is reserved for examples, or an expired one.
fn is_documentation(part: &[u8]) -> bool {
    let holds = |text: &[u8]| memchr::memmem::find(part, text).is_some();
    holds(b"\"1234567890\"")
        || holds(b"John Doe")
        || holds(b"00000000")
        || holds(b".example\"")
        || holds(b"example.com")
        || holds(b"example.org")
        || expiry(part).is_some_and(|at| at < EXPIRED)
}

/// The number after `"exp":`.
fn expiry(payload: &[u8]) -> Option<u64> {
    let at = memchr::memmem::find(payload, b"\"exp\"")?;
    let rest = payload.get(at + 5..)?.trim_ascii_start().strip_prefix(b":")?.trim_ascii_start();
    let digits = rest.iter().take(12).take_while(|byte| byte.is_ascii_digit());
    let number = digits.fold(0, |number, digit| number * 10 + u64::from(digit - b'0'));
    (number > 0).then_some(number)
}

fn part(text: &[u8]) -> Option<&[u8]> {
    let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let length = text.iter().take(MAX_PART + 1).take_while(is_part).count();
    text.get(..length).filter(|part| !part.is_empty() && part.len() <= MAX_PART)
}

/// Decodes base64url; an incomplete last group is dropped.
pub(crate) fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let (mut bits, mut count) = (0u32, 0);
    for byte in text {
        let digit = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'-' => 62,
            b'_' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(digit);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count & 0xff) as u8);
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::is_secret;

    /// Base64url, for texts whose length is a multiple of three.
    fn encoded(text: &str) -> String {
        let digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
        let groups = text.as_bytes().as_chunks::<3>().0.iter();
        let all = groups.flat_map(|[a, b, c]| {
            let bits = u32::from(*a) << 16 | u32::from(*b) << 8 | u32::from(*c);
            [18, 12, 6, 0].map(|shift| char::from(digits[(bits >> shift & 63) as usize]))
        });
        all.collect()
    }

    #[test]
    fn tokens_of_tests_and_documents_are_not_secret() {
        let signature = concat!("jiMyrsmD8AoHWeQgmxZ5yq8z0l", "XS67_QGs52AzC8Ru8");
        let token = |header: &str, payload: &str, signature: &str| {
            let pad = |text: &str| format!("{text:<width$}", width = text.len().next_multiple_of(3));
            is_secret(format!("{}.{}.{signature}", encoded(&pad(header)), encoded(&pad(payload))).as_bytes())
        };
        let header = r#"{"alg":"HS256"}"#;
        assert_eq!(token(header, r#"{"sub":"u-71","exp":2101234561}"#, signature), Some(true));
        assert_eq!(token(header, r#"{"sub":"u-71"}"#, signature), Some(true));
        assert_eq!(token(header, r#"{"user":71,"mail":"someone@acme.io","role":"admin"}"#, signature), Some(true));
        assert_eq!(token(r#"{"alg":"RSA-OAEP","enc":"A256GCM"}"#, "encrypted", signature), Some(true));
        assert_eq!(token(header, r#"{"sub":"u-71","exp":1747338343}"#, signature), Some(false));
        assert_eq!(token(header, r#"{"foo":"bar"}"#, signature), Some(false));
        assert_eq!(token(header, "a text that was signed and is not an object", signature), Some(false));
        assert_eq!(token(header, r#"{"sub":"u-71"}"#, "not-a-real-signature"), Some(false));
        assert_eq!(
            token(r#"{"alg":"HS256","kid":"bilbo@hobbiton.example"}"#, r#"{"sub":"1"}"#, signature),
            Some(false)
        );
        assert_eq!(token(r#"{"typ":"JWT"}"#, r#"{"sub":"1"}"#, signature), None);
    }
}
