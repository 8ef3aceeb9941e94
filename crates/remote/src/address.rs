//! The address of a shared cache, validated before anything is sent.

/// Why an address cannot be used. Messages do not quote it: it may contain a password by mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressError {
    Scheme,
    Credential,
    Malformed,
    /// A credential would be sent over a connection that an attacker on the network can read.
    Unencrypted,
    /// This build cannot sign requests.
    NoS3,
    Bucket,
    BucketCredential,
    BucketKey,
    Region,
    Endpoint,
}

impl AddressError {
    pub fn message(self) -> &'static str {
        match self {
            Self::Scheme => "the address of the shared cache begins with none of https://, http:// and s3://",
            Self::Credential => "the address of the shared cache holds a user or a password",
            Self::Malformed => "the address of the shared cache is not one",
            Self::Unencrypted => "a credential for the shared cache is sent over https:// alone, or to this machine",
            Self::NoS3 => "this program was built without S3, which the address of the shared cache asks for",
            Self::Bucket => "the address of the shared cache is not that of a bucket",
            Self::BucketCredential => "the address of the shared cache holds a key",
            Self::BucketKey => {
                "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY or AWS_SESSION_TOKEN is missing or is not what Amazon issues"
            }
            Self::Region => "AWS_REGION is not the name of a region",
            Self::Endpoint => "the endpoint of the bucket is neither https:// nor on this machine",
        }
    }

    pub fn hint(self) -> &'static str {
        match self {
            Self::Scheme | Self::Malformed => "name it as https://host/path, without `?` and `#`",
            Self::Credential => "put it into the environment: STAN_CACHE_AUTHORIZATION='Basic …' or 'Bearer …'",
            Self::Unencrypted => "use https://, or unset STAN_CACHE_AUTHORIZATION",
            Self::NoS3 => {
                "build it with `cargo build --release --package stan-cli --features s3`, or name a server that answers GET and PUT \
                 as https://host/path"
            }
            Self::Bucket => "name it as s3://bucket/folder, with letters, digits, `-`, `.` and `_` alone",
            Self::BucketCredential | Self::BucketKey => {
                "set AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and, for temporary keys, AWS_SESSION_TOKEN"
            }
            Self::Region => "set it to one, such as eu-west-1",
            Self::Endpoint => "set AWS_ENDPOINT_URL_S3 to https://host, or unset it and AWS_ENDPOINT_URL for Amazon",
        }
    }
}

/// The base address of the values. Never printed in full.
#[derive(Clone, PartialEq, Eq)]
pub struct CacheAddress(String);

impl std::fmt::Debug for CacheAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("CacheAddress")
    }
}

impl CacheAddress {
    /// `has_credential`: whether a credential will be sent.
    pub fn parse(text: &str, has_credential: bool) -> Result<Self, AddressError> {
        let (rest, is_secure) = match (text.strip_prefix("https://"), text.strip_prefix("http://")) {
            (Some(rest), _) => (rest, true),
            (_, Some(rest)) => (rest, false),
            _ => return Err(AddressError::Scheme),
        };
        let host = rest.split('/').next().unwrap_or_default();
        if host.contains('@') {
            return Err(AddressError::Credential);
        }
        let is_plain =
            |character: char| character.is_ascii_graphic() && !matches!(character, '?' | '#' | '@' | '\\' | '"');
        if host.is_empty() || !rest.chars().all(is_plain) {
            return Err(AddressError::Malformed);
        }
        let name = host.strip_prefix('[').map_or_else(|| host.split(':').next(), |rest| rest.split(']').next());
        let is_local = matches!(name, Some("localhost" | "127.0.0.1" | "::1"));
        if has_credential && !is_secure && !is_local {
            return Err(AddressError::Unencrypted);
        }
        Ok(Self(text.trim_end_matches('/').to_owned()))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_without_tls_or_with_credentials_are_refused() {
        let parse = |text: &str, credential| CacheAddress::parse(text, credential).map(|address| address.0);
        assert_eq!(parse("http://cache:8080/stan/", false), Ok("http://cache:8080/stan".to_owned()));
        assert_eq!(parse("https://cache", true), Ok("https://cache".to_owned()));
        assert_eq!(parse("http://[::1]:80/x", true), Ok("http://[::1]:80/x".to_owned()));
        assert_eq!(parse("http://127.0.0.1:1", true), Ok("http://127.0.0.1:1".to_owned()));
        assert_eq!(parse("http://127.0.0.1.evil.example", true), Err(AddressError::Unencrypted));
        assert_eq!(parse("http://cache", true), Err(AddressError::Unencrypted));
        assert_eq!(parse("ftp://cache", false), Err(AddressError::Scheme));
        assert_eq!(parse("https://u:p@cache", false), Err(AddressError::Credential));
        for text in ["https://", "https:///x", "https://a b", "https://a?x", "https://a#x", "https://a/\u{202e}"] {
            assert_eq!(parse(text, false), Err(AddressError::Malformed), "{text}");
        }
        assert_eq!(format!("{:?}", CacheAddress::parse("https://cache", false).unwrap()), "CacheAddress");
    }
}
