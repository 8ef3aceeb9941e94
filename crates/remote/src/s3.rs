//! Signs requests to a bucket with `object_store`. Only that: the requests are made by the common client, so that time, size and
//! redirects have the same limits.

use object_store::aws::{AwsAuthorizer, AwsCredential};
use object_store::client::{HttpRequest, HttpRequestBody};
use stan_repo::StoreError;
use ureq::http::{HeaderMap, HeaderValue, Method, header};

use crate::{AddressError, BucketAccess};

/// Signs requests for one bucket. Never prints its credential.
pub(crate) struct Signer {
    credential: AwsCredential,
    region: String,
}

impl Signer {
    pub(crate) fn new(access: BucketAccess, region: String) -> Result<Self, AddressError> {
        let BucketAccess { key_id, secret_key, session_token, .. } = access;
        // They become parts of headers, and the library does not validate them.
        let is_plain = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
        if ![&key_id, &secret_key].into_iter().chain(&session_token).all(|text| is_plain(text)) {
            return Err(AddressError::BucketKey);
        }
        Ok(Self { credential: AwsCredential { key_id, secret_key, token: session_token }, region })
    }

    /// The headers of a request that gets a value or puts `body`: the signature, and everything it covers, including the body.
    pub(crate) fn headers(&self, url: &str, body: Option<&[u8]>) -> Result<HeaderMap, StoreError> {
        let failed = || StoreError("the request to it cannot be signed".to_owned());
        let mut request = HttpRequest::new(HttpRequestBody::from(body.unwrap_or_default().to_vec()));
        *request.uri_mut() = url.parse().map_err(|_| failed())?;
        if body.is_some() {
            *request.method_mut() = Method::PUT;
            let kind = HeaderValue::from_static("application/octet-stream");
            request.headers_mut().insert(header::CONTENT_TYPE, kind);
        }
        // Drop the library's error: it may quote its input.
        let signed = AwsAuthorizer::new(&self.credential, "s3", &self.region).try_authorize(&mut request, None);
        signed.map_err(|_| failed())?;
        Ok(std::mem::take(request.headers_mut()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signer(secret_key: &str, session_token: Option<&str>) -> Result<Signer, AddressError> {
        let access = BucketAccess {
            key_id: "AKIDEXAMPLE".to_owned(),
            secret_key: secret_key.to_owned(),
            session_token: session_token.map(str::to_owned),
            ..BucketAccess::default()
        };
        Signer::new(access, "eu-west-1".to_owned())
    }

    #[test]
    fn requests_are_signed_and_secrets_stay_here() {
        let url = "https://facts.s3.eu-west-1.amazonaws.com/v1/ab/abcd";
        let signer = signer("sEcReT", Some("t0ken")).unwrap();
        let headers = signer.headers(url, Some(b"value")).unwrap();
        let text = |name: &str| headers.get(name).unwrap().to_str().unwrap().to_owned();
        let authorization = text("authorization");
        assert!(authorization.starts_with("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/"), "{authorization}");
        let signed = "/eu-west-1/s3/aws4_request, SignedHeaders=content-type;host;x-amz-content-sha256;x-amz-date;\
                      x-amz-security-token, Signature=";
        assert!(authorization.contains(signed), "{authorization}");
        assert_eq!(text("x-amz-security-token"), "t0ken");
        // SHA-256 of "value".
        assert_eq!(text("x-amz-content-sha256"), "cd42404d52ad55ccfa9aca4adc828aa5800ad9d385a0671fbcbf724118320619");
        assert!(!format!("{headers:?}").contains("sEcReT"));
    }

    #[test]
    fn keys_that_cannot_be_sent_are_refused() {
        for (secret, token) in [("", None), ("a b", None), ("a", Some("b\n")), ("a", Some(""))] {
            assert_eq!(signer(secret, token).err(), Some(AddressError::BucketKey));
        }
    }
}
