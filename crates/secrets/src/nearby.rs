//! Tokens recognised by the text around a run: a dot and a prefix before it, digits and a colon, an address.

use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem::Finder;

use crate::randomness::{is_hex, is_plausible};
use crate::{private_key, web_token};

/// Removes what the surrounding text adds to a run: a diff or list marker before it, or the letter of an escape such as `\n`.
pub(crate) fn trimmed(text: &[u8], run: Range<usize>) -> Range<usize> {
    let escape = run.start > 0 && text.get(run.start - 1) == Some(&b'\\');
    let start = run.start + usize::from(escape);
    let signs = text.get(start..run.end).unwrap_or_default().iter().take_while(|byte| matches!(byte, b'+' | b'-'));
    start + signs.count()..run.end
}

/// The rule for a token that contains the run.
pub(crate) fn matched(text: &[u8], run: &Range<usize>) -> Option<&'static str> {
    let token = text.get(run.clone())?;
    let before = text.get(run.start.saturating_sub(128)..run.start)?;
    let after = text.get(run.end..).unwrap_or_default();
    // Signs at the start of a token were trimmed from the run.
    let signs = before.iter().rev().take_while(|byte| matches!(byte, b'+' | b'-')).count();
    let anchor = before.get(..before.len() - signs)?;
    let by_neighbour = match anchor.last() {
        Some(b'.') => dotted(anchor, token, after),
        Some(b':') => telegram(before, token),
        Some(b'$') => braintree(before, token),
        Some(b'=' | b'/') => azure_storage(before, token, after)
            .or_else(|| web_hook(before, token))
            .or_else(|| azure_signature(before, token)),
        // Percent-encoded characters such as `%2F` end runs.
        Some(b'%') => azure_signature(before, token),
        Some(b'~') => azure_client_secret(text, run),
        _ => None,
    };
    by_neighbour
        .or_else(|| mailchimp(token))
        .or_else(|| open_ai(token))
        .or_else(|| azure_devops(token))
        .or_else(|| web_token::matched(text, run))
        .or_else(|| private_key::matched(text, run))
}

/// `SG.x.y`, `hvs.x`, `x.atlasv1.y`, `dp.pt.x`, `ya29.x` and others with a dot.
fn dotted(before: &[u8], token: &[u8], after: &[u8]) -> Option<&'static str> {
    let starts_word = |prefix: &[u8]| {
        before.strip_suffix(prefix).is_some_and(|rest| !rest.last().is_some_and(u8::is_ascii_alphanumeric))
    };
    let length = token.len();
    if starts_word(b"SG.") && length == 22 {
        let second = after.strip_prefix(b".")?;
        let is_long = second.iter().take(43).filter(|byte| is_url_safe(**byte)).count() == 43;
        return (is_long && is_plausible(token)).then_some("sendgrid-key");
    }
    if [&b"hvs."[..], b"hvb.", b"hvr."].iter().any(|prefix| starts_word(prefix)) && length >= 24 {
        return is_plausible(token).then_some("vault-token");
    }
    if before.ends_with(b".atlasv1.") && length >= 60 {
        return is_plausible(token).then_some("terraform-token");
    }
    if [&b"dp.pt."[..], b"dp.ct.", b"dp.st.", b"dp.sa."].iter().any(|prefix| starts_word(prefix)) && length >= 40 {
        return is_plausible(token).then_some("doppler-token");
    }
    if starts_word(b"ya29.") && length >= 40 {
        return is_plausible(token).then_some("google-oauth-token");
    }
    if starts_word(b"sk.") && token.starts_with(b"eyJ1Ijoi") && length >= 40 {
        return is_plausible(token).then_some("mapbox-token");
    }
    if starts_word(b"sl.") && length >= 120 {
        return is_plausible(token).then_some("dropbox-token");
    }
    if starts_word(b"dt0c01.") && length == 24 {
        return is_plausible(token).then_some("dynatrace-token");
    }
    if starts_word(b"v1.") && token.starts_with(b"0-") && length == 173 {
        return is_plausible(token).then_some("cloudflare-key");
    }
    airtable(before, token).or_else(|| discord_bot(before, token))
}

/// `pat`, 14 characters, a dot and 64 hexadecimal digits.
fn airtable(before: &[u8], token: &[u8]) -> Option<&'static str> {
    let id = word_before_dot(before)?;
    let is_id = id.len() == 17 && id.starts_with(b"pat");
    (is_id && token.len() == 64 && is_hex(token) && is_plausible(token)).then_some("airtable-token")
}

/// The bot's number in base64, six characters, and 27 to 38 characters.
fn discord_bot(before: &[u8], token: &[u8]) -> Option<&'static str> {
    let time = word_before_dot(before)?;
    let number = word_before_dot(before.get(..before.len() - time.len() - 1)?)?;
    let is_number = (24..=28).contains(&number.len()) && matches!(number.first(), Some(b'M' | b'N' | b'O'));
    let is_token = time.len() == 6 && is_number && (27..=38).contains(&token.len());
    (is_token && is_plausible(token)).then_some("discord-token")
}

/// The word before a dot at the end of a text.
fn word_before_dot(before: &[u8]) -> Option<&[u8]> {
    let rest = before.strip_suffix(b".")?;
    let length = rest.iter().rev().take_while(|byte| is_url_safe(**byte)).count();
    rest.get(rest.len() - length..)
}

/// 84 characters, with these four near the end.
fn azure_devops(token: &[u8]) -> Option<&'static str> {
    let is_token = token.len() == 84 && token.get(76..80) == Some(b"AZDO");
    (is_token && is_plausible(token)).then_some("azure-devops-token")
}

/// `sig=` and percent-encoded base64 of 32 bytes, in an address with the version of the service that signed it.
fn azure_signature(before: &[u8], token: &[u8]) -> Option<&'static str> {
    let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'%' | b'+' | b'/');
    let left = before.iter().rev().take_while(is_part).count();
    let start = before.get(..before.len() - left)?;
    let is_signed = start.ends_with(b"sig=") && memchr::memmem::find(start, b"sv=20").is_some();
    (is_signed && !is_expired(start) && is_plausible(token)).then_some("azure-signature")
}

/// Signatures that expired before these rules were written (2026) are useless.
fn is_expired(address: &[u8]) -> bool {
    let expiry = [&b"&se="[..], b"?se="].into_iter().filter_map(|key| memchr::memmem::rfind(address, key)).max();
    let year = expiry.and_then(|at| address.get(at + 4..at + 9));
    year.is_some_and(|year| year.ends_with(b"-") && year.starts_with(b"20") && year < &b"2026-"[..])
}

/// `123456789:AA…`, with 35 characters after the colon.
fn telegram(before: &[u8], token: &[u8]) -> Option<&'static str> {
    let rest = before.strip_suffix(b":")?;
    let digits = rest.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let is_word = rest.len().checked_sub(digits + 1).and_then(|at| rest.get(at)).is_some_and(u8::is_ascii_alphanumeric);
    // In API addresses, `bot` directly precedes the number.
    let is_address = rest.get(..rest.len() - digits).is_some_and(|rest| rest.ends_with(b"/bot"));
    let is_token =
        (8..=10).contains(&digits) && (!is_word || is_address) && token.len() == 35 && token.starts_with(b"AA");
    (is_token && is_plausible(token)).then_some("telegram-token")
}

static SLACK_HOOK: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("hooks.slack.com/"));
static DISCORD_HOOK: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("discord.com/api/webhooks/"));
static DISCORD_APP_HOOK: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("discordapp.com/api/webhooks/"));

/// Webhook addresses: anyone who has the address can post to it.
fn web_hook(before: &[u8], token: &[u8]) -> Option<&'static str> {
    let holds = |finder: &Finder<'_>| finder.find(before).is_some();
    if (18..=44).contains(&token.len()) && holds(&SLACK_HOOK) && is_plausible(token) {
        return Some("slack-webhook");
    }
    let is_teams = before.ends_with(b"/IncomingWebhook/") && token.len() == 32 && is_hex(token);
    if is_teams && is_plausible(token) {
        return Some("teams-webhook");
    }
    let is_discord = token.len() >= 60 && (holds(&DISCORD_HOOK) || holds(&DISCORD_APP_HOOK));
    (is_discord && is_plausible(token)).then_some("discord-webhook")
}

/// `access_token$production$x$y`.
fn braintree(before: &[u8], token: &[u8]) -> Option<&'static str> {
    let is_token = memchr::memmem::find(before, b"access_token$production$").is_some();
    (is_token && token.len() == 32 && is_plausible(token)).then_some("braintree-token")
}

/// How the key of Azure's storage emulator starts, which is public.
pub(crate) const EMULATOR_KEY: &[u8] = b"Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq";

/// `AccountKey=` and 64 bytes in base64, in a connection string.
fn azure_storage(before: &[u8], token: &[u8], after: &[u8]) -> Option<&'static str> {
    // A slash may have split the key into several runs.
    let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    let left = before.iter().rev().take_while(is_part).count();
    let start = before.get(..before.len() - left)?;
    let is_key = start.ends_with(b"AccountKey=") || start.ends_with(b"SharedAccessKey=");
    let right = after.iter().take(100).take_while(|byte| is_part(byte) || **byte == b'=').count();
    let key = before.get(start.len()..)?;
    let is_public = [key, token].iter().any(|part| part.starts_with(EMULATOR_KEY));
    (is_key && !is_public && left + token.len() + right >= 40 && is_plausible(token)).then_some("azure-key")
}

/// 32 hexadecimal digits and a suffix such as `-us12`.
fn mailchimp(token: &[u8]) -> Option<&'static str> {
    let (key, place) = token.split_at_checked(32)?;
    let number = place.strip_prefix(b"-us")?;
    let is_key = is_hex(key) && (1..=2).contains(&number.len()) && number.iter().all(u8::is_ascii_digit);
    (is_key && is_plausible(key)).then_some("mailchimp-key")
}

/// All keys of OpenAI contain these letters in the middle.
fn open_ai(token: &[u8]) -> Option<&'static str> {
    let token = token.get(..256).unwrap_or(token);
    let found = token.starts_with(b"sk-") && memchr::memmem::find(token, b"T3BlbkFJ").is_some();
    found.then_some("openai-key")
}

/// `abc8Q~` and 34 characters, which may include dots.
fn azure_client_secret(text: &[u8], run: &Range<usize>) -> Option<&'static str> {
    let is_part = |byte: &u8| is_url_safe(*byte) || matches!(byte, b'.' | b'~');
    let behind = text.get(run.start.saturating_sub(8)..run.start)?;
    let left = behind.iter().rev().take_while(|byte| is_part(byte)).count();
    let whole = text.get(run.start - left..)?;
    let length = whole.iter().take(42).take_while(|byte| is_part(byte)).count();
    let (secret, at) = (whole.get(..length)?, 3);
    let is_marked = secret.get(at).is_some_and(u8::is_ascii_digit) && secret.get(at + 1..at + 3) == Some(b"Q~");
    (is_marked && (37..=40).contains(&length) && is_plausible(secret)).then_some("azure-client-secret")
}

fn is_url_safe(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

#[cfg(test)]
mod tests {
    #[test]
    fn signatures_of_azure_count_until_they_expire() {
        // Concatenated, so that no secret scanner flags the source.
        let signature = concat!("sig=aBXq7Rz0bXk2Lm9vT", "gYw3HdPs5Nc8JfUe1Wa6Ztk%3D");
        for (year, is_found) in [("2025-12-20", false), ("2099-12-20", true), ("later", true)] {
            let address = format!("https://a.blob.core.windows.net/c?sp=r&se={year}&sv=2021-06-08&{signature}");
            assert_eq!(!crate::scan(address.as_bytes()).is_empty(), is_found, "{address}");
        }
    }
}
