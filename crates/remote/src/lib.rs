//! The only network code: values of a shared cache by HTTP GET and PUT. Does not interpret the values.
//!
//! Everything is bounded: the time to connect, of one request and of all requests together, and the size of a response. Redirects
//! are not followed. The caller passes in address and credential; errors contain neither. A bucket works the same, with signed
//! requests (feature `s3`).

mod address;
mod bucket;
#[cfg(feature = "s3")]
mod s3;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use stan_repo::{ByteStore, StoreError};
use ureq::Agent;
use ureq::http::{HeaderMap, HeaderValue, header};

pub use address::{AddressError, CacheAddress};
pub use bucket::{BucketAccess, BucketAddress};

/// The timeout for connecting to the server.
const CONNECT: Duration = Duration::from_secs(2);
/// The time budget per request, on average: extracting the files of a bundle takes no longer.
const USUAL: Duration = Duration::from_millis(50);
/// Response headers are a few hundred bytes.
const MAX_HEADER_BYTES: usize = 16 << 10;

#[derive(Clone)]
pub struct HttpOptions {
    pub address: CacheAddress,
    /// The value of the `Authorization` header.
    pub authorization: Option<String>,
    /// For one request. All requests of a process together have three times as much, plus a little per request.
    pub timeout: Duration,
}

/// A server with GET and PUT below one base address.
pub struct HttpStore {
    agent: Agent,
    address: CacheAddress,
    proof: Proof,
    timeout: Duration,
    /// The total waiting time of all threads, in microseconds.
    waited: AtomicU64,
    /// The number of requests so far.
    requests: AtomicU64,
}

/// How requests are authorised.
enum Proof {
    /// The value of the `Authorization` header, if any.
    Header(Option<String>),
    #[cfg(feature = "s3")]
    Signature(s3::Signer),
}

impl HttpStore {
    /// Whether this build supports buckets.
    pub const HAS_S3: bool = cfg!(feature = "s3");

    pub fn new(options: HttpOptions) -> Self {
        Self::with_proof(options.address, Proof::Header(options.authorization), options.timeout)
    }

    /// A bucket, with signed requests. `timeout` as in [`HttpOptions`].
    #[cfg(feature = "s3")]
    pub fn of_bucket(bucket: &BucketAddress, access: BucketAccess, timeout: Duration) -> Result<Self, AddressError> {
        let (region, address) = bucket.locate(&access)?;
        Ok(Self::with_proof(address, Proof::Signature(s3::Signer::new(access, region)?), timeout))
    }

    /// This build does not support buckets.
    #[cfg(not(feature = "s3"))]
    pub fn of_bucket(bucket: &BucketAddress, access: BucketAccess, _: Duration) -> Result<Self, AddressError> {
        bucket.locate(&access)?;
        Err(AddressError::NoS3)
    }

    fn with_proof(address: CacheAddress, proof: Proof, timeout: Duration) -> Self {
        let config = Agent::config_builder()
            .max_redirects(0)
            .http_status_as_error(false)
            .timeout_connect(Some(CONNECT.min(timeout)))
            .timeout_resolve(Some(CONNECT.min(timeout)))
            .timeout_global(Some(timeout))
            .max_response_header_size(MAX_HEADER_BYTES)
            .max_idle_connections_per_host(16)
            .user_agent("stan")
            .build();
        let (waited, requests) = (AtomicU64::new(0), AtomicU64::new(0));
        Self { agent: config.into(), address, proof, timeout, waited, requests }
    }

    /// The address of a value, and the headers of a request that gets it, or puts `body` there.
    fn prepared(&self, name: &str, body: Option<&[u8]>) -> Result<(String, HeaderMap), StoreError> {
        let url = format!("{}/{name}", self.address.as_str());
        let headers = match &self.proof {
            #[cfg(feature = "s3")]
            Proof::Signature(signer) => signer.headers(&url, body)?,
            Proof::Header(authorization) => {
                let mut headers = HeaderMap::new();
                if let Some(authorization) = authorization {
                    let value = HeaderValue::from_str(authorization);
                    let value =
                        value.map_err(|_| StoreError("its credential is not the value of a header".to_owned()))?;
                    headers.insert(header::AUTHORIZATION, value);
                }
                if body.is_some() {
                    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
                }
                headers
            }
        };
        Ok((url, headers))
    }

    /// Runs a request, unless the total time is used up. Otherwise, a server that responds slowly would cost one timeout per
    /// request.
    fn timed<T>(&self, request: impl FnOnce() -> Result<T, StoreError>) -> Result<T, StoreError> {
        let requests = u32::try_from(self.requests.fetch_add(1, Ordering::Relaxed)).unwrap_or(u32::MAX);
        let budget = self.timeout.saturating_mul(3).saturating_add(USUAL.saturating_mul(requests)).as_micros();
        if u128::from(self.waited.load(Ordering::Relaxed)) >= budget {
            return Err(StoreError("it is too slow".to_owned()));
        }
        let started = Instant::now();
        let outcome = request();
        let took = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.waited.fetch_add(took, Ordering::Relaxed);
        outcome
    }

    fn get_now(&self, name: &str, limit: u64) -> Result<Option<Vec<u8>>, StoreError> {
        let (url, headers) = self.prepared(name, None)?;
        let mut request = self.agent.get(url);
        if let Some(own) = request.headers_mut() {
            own.extend(headers);
        }
        let mut response = request.call().map_err(|error| without_address(&error))?;
        match response.status().as_u16() {
            200 => {
                let body = response.body_mut().with_config().limit(limit).read_to_vec();
                body.map(Some).map_err(|error| without_address(&error))
            }
            404 | 410 => Ok(None),
            status => Err(self.refused(status)),
        }
    }

    fn put_now(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        let (url, headers) = self.prepared(name, Some(bytes))?;
        let mut request = self.agent.put(url);
        if let Some(own) = request.headers_mut() {
            own.extend(headers);
        }
        let response = request.send(bytes).map_err(|error| without_address(&error))?;
        match response.status().as_u16() {
            200..=299 => Ok(()),
            status => Err(self.refused(status)),
        }
    }

    fn refused(&self, status: u16) -> StoreError {
        let remedy = match self.proof {
            Proof::Header(_) => "see STAN_CACHE_AUTHORIZATION",
            // Without permission to list, a bucket responds 403 for a missing value.
            #[cfg(feature = "s3")]
            Proof::Signature(_) => "see AWS_ACCESS_KEY_ID, and whether it may get, put and list objects",
        };
        StoreError(match status {
            300..=399 => format!("it answers with a redirect ({status}), which is not followed"),
            401 | 403 => format!("it refuses the request ({status}); {remedy}"),
            _ => format!("it answers {status}"),
        })
    }
}

impl ByteStore for HttpStore {
    fn get(&self, name: &str, limit: u64) -> Result<Option<Vec<u8>>, StoreError> {
        self.timed(|| self.get_now(name, limit))
    }

    fn put(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        self.timed(|| self.put_now(name, bytes))
    }
}

/// The error without the address: messages of the library may quote it.
fn without_address(error: &ureq::Error) -> StoreError {
    StoreError(match error {
        ureq::Error::Timeout(_) => "it did not answer in time".to_owned(),
        ureq::Error::HostNotFound => "its name is unknown".to_owned(),
        ureq::Error::ConnectionFailed => "it cannot be reached".to_owned(),
        ureq::Error::BodyExceedsLimit(_) => "its answer is too large".to_owned(),
        ureq::Error::Io(error) => format!("the connection failed ({})", error.kind()),
        ureq::Error::Protocol(_) | ureq::Error::Http(_) => "its answer is not HTTP".to_owned(),
        ureq::Error::Tls(_) | ureq::Error::Rustls(_) => "no secure connection could be made".to_owned(),
        _ => "the request failed".to_owned(),
    })
}
