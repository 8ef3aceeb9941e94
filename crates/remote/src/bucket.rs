//! The address of a bucket, `s3://bucket/prefix`, and its HTTP address. Part of every build, so that a build without S3 can
//! report what is wrong; `s3.rs` signs requests.

use crate::{AddressError, CacheAddress};

/// Amazon's default.
const USUAL_REGION: &str = "us-east-1";

/// A bucket, and the prefix of its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BucketAddress {
    bucket: String,
    prefix: String,
}

/// The settings for a bucket in the environment.
#[derive(Clone, Default)]
pub struct BucketAccess {
    pub key_id: String,
    pub secret_key: String,
    pub session_token: Option<String>,
    pub region: Option<String>,
    /// A server other than Amazon's, which has buckets as folders (path-style).
    pub endpoint: Option<String>,
}

impl BucketAddress {
    /// Whether the text is the address of a bucket.
    pub fn is_one(text: &str) -> bool {
        text.starts_with("s3://")
    }

    pub fn parse(text: &str) -> Result<Self, AddressError> {
        let rest = text.strip_prefix("s3://").ok_or(AddressError::Scheme)?;
        let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        if bucket.contains('@') {
            return Err(AddressError::BucketCredential);
        }
        // Only characters valid in a host name: the bucket becomes part of one.
        let is_name = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'.');
        let is_bucket = (3..=63).contains(&bucket.len())
            && bucket.bytes().all(is_name)
            && bucket.split('.').all(|label| !label.is_empty() && !label.starts_with('-') && !label.ends_with('-'));
        // Only characters that are never percent-encoded: the signature covers the encoded path, and encodings differ.
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
        let prefix = prefix.trim_end_matches('/');
        let is_folder = |name: &str| !matches!(name, "" | "." | "..") && name.bytes().all(is_plain);
        if !is_bucket || !(prefix.is_empty() || prefix.split('/').all(is_folder)) {
            return Err(AddressError::Bucket);
        }
        Ok(Self { bucket: bucket.to_owned(), prefix: prefix.to_owned() })
    }

    /// The region, and the base address of the values.
    pub(crate) fn locate(&self, access: &BucketAccess) -> Result<(String, CacheAddress), AddressError> {
        let region = access.region.as_deref().unwrap_or(USUAL_REGION);
        if region.is_empty() || !region.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
            return Err(AddressError::Region);
        }
        let bucket = &self.bucket;
        let mut address = match &access.endpoint {
            Some(endpoint) => {
                CacheAddress::parse(endpoint, true).map_err(|_| AddressError::Endpoint)?;
                format!("{}/{bucket}", endpoint.trim_end_matches('/'))
            }
            // Amazon's wildcard certificates cover only one label, so a bucket with dots must be in the path.
            None if bucket.contains('.') => format!("https://s3.{region}.amazonaws.com/{bucket}"),
            None => format!("https://{bucket}.s3.{region}.amazonaws.com"),
        };
        if !self.prefix.is_empty() {
            address = format!("{address}/{}", self.prefix);
        }
        Ok((region.to_owned(), CacheAddress::parse(&address, true)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<(String, String), AddressError> {
        BucketAddress::parse(text).map(|address| (address.bucket, address.prefix))
    }

    #[test]
    fn addresses_of_buckets_are_parsed_or_refused() {
        let both = |bucket: &str, prefix: &str| Ok((bucket.to_owned(), prefix.to_owned()));
        assert_eq!(parse("s3://facts"), both("facts", ""));
        assert_eq!(parse("s3://facts/"), both("facts", ""));
        assert_eq!(parse("s3://my.facts-1/team/stan_v1/"), both("my.facts-1", "team/stan_v1"));
        assert_eq!(parse("https://facts"), Err(AddressError::Scheme));
        assert_eq!(parse("s3://key:secret@facts/x"), Err(AddressError::BucketCredential));
        for text in [
            "s3://",
            "s3:///x",
            "s3://ab",
            "s3://Facts",
            "s3://facts:80",
            "s3://-facts",
            "s3://a..b",
            "s3://facts?x",
            "s3://facts/a b",
            "s3://facts/a//b",
            "s3://facts/../other",
            "s3://facts/a%2fb",
            "s3://facts/\u{202e}",
        ] {
            assert_eq!(parse(text), Err(AddressError::Bucket), "{text}");
        }
    }

    #[test]
    fn region_and_endpoint_decide_the_address_of_a_bucket() {
        let place = |bucket: &str, region: Option<&str>, endpoint: Option<&str>| {
            let (region, endpoint) = (region.map(str::to_owned), endpoint.map(str::to_owned));
            let access = BucketAccess { region, endpoint, ..BucketAccess::default() };
            let (region, address) = BucketAddress::parse(bucket).unwrap().locate(&access)?;
            Ok((region, address.as_str().to_owned()))
        };
        let both = |region: &str, address: &str| Ok((region.to_owned(), address.to_owned()));
        assert_eq!(place("s3://facts", None, None), both("us-east-1", "https://facts.s3.us-east-1.amazonaws.com"));
        assert_eq!(
            place("s3://my.facts/a", Some("eu-west-1"), None),
            both("eu-west-1", "https://s3.eu-west-1.amazonaws.com/my.facts/a")
        );
        assert_eq!(
            place("s3://facts/a/b", None, Some("http://127.0.0.1:9000/")),
            both("us-east-1", "http://127.0.0.1:9000/facts/a/b")
        );
        // A signature contains no secret, but plain HTTP exposes the cached facts on the network.
        assert_eq!(place("s3://facts", None, Some("http://minio:9000")), Err(AddressError::Endpoint));
        assert_eq!(place("s3://facts", None, Some("https://u:p@minio")), Err(AddressError::Endpoint));
        assert_eq!(place("s3://facts", Some("x.evil.example/"), None), Err(AddressError::Region));
    }
}
