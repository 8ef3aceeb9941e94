//! The only network code: values of a shared cache by HTTP GET and PUT. Knows nothing of what the values are.
//!
//! Bounded in every direction: time to connect, time of a request, time of all requests together, bytes of an answer. Redirects are
//! not followed. The address and the credential come from the caller; neither is in an error.

mod address;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use stan_repo::{ByteStore, StoreError};
use ureq::Agent;

pub use address::{AddressError, CacheAddress};

/// Seconds to reach the server.
const CONNECT: Duration = Duration::from_secs(2);
/// What a request may take on average, however many there are: extracting the files of a bundle takes no longer.
const USUAL: Duration = Duration::from_millis(50);
/// Headers of an answer are a few hundred bytes.
const LARGEST_HEADER: usize = 16 << 10;

/// How the server is asked.
#[derive(Clone, Debug)]
pub struct HttpOptions {
    pub address: CacheAddress,
    /// The value of the header `Authorization`.
    pub authorization: Option<String>,
    /// Of one request. All requests of a process together get three times as much, and a little for each.
    pub timeout: Duration,
}

/// A server that answers GET and PUT below one address.
pub struct HttpStore {
    agent: Agent,
    options: HttpOptions,
    /// Spent waiting, in microseconds, by all threads together.
    waited: AtomicU64,
    /// Made so far.
    requests: AtomicU64,
}

impl HttpStore {
    pub fn new(options: HttpOptions) -> Self {
        let config = Agent::config_builder()
            .max_redirects(0)
            .http_status_as_error(false)
            .timeout_connect(Some(CONNECT.min(options.timeout)))
            .timeout_resolve(Some(CONNECT.min(options.timeout)))
            .timeout_global(Some(options.timeout))
            .max_response_header_size(LARGEST_HEADER)
            .max_idle_connections_per_host(16)
            .user_agent("stan")
            .build();
        Self { agent: config.into(), options, waited: AtomicU64::new(0), requests: AtomicU64::new(0) }
    }

    fn url(&self, name: &str) -> String {
        format!("{}/{name}", self.options.address.as_str())
    }

    /// Runs a request, unless the time of all requests is spent. A server that trickles its answers would otherwise cost one
    /// time-out for each of them.
    fn timed<T>(&self, request: impl FnOnce() -> Result<T, StoreError>) -> Result<T, StoreError> {
        let requests = u32::try_from(self.requests.fetch_add(1, Ordering::Relaxed)).unwrap_or(u32::MAX);
        let budget = self.options.timeout.saturating_mul(3).saturating_add(USUAL.saturating_mul(requests)).as_micros();
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
        let mut request = self.agent.get(self.url(name));
        if let Some(authorization) = &self.options.authorization {
            request = request.header("Authorization", authorization);
        }
        let mut response = request.call().map_err(|error| said(&error))?;
        match response.status().as_u16() {
            200 => {
                let body = response.body_mut().with_config().limit(limit).read_to_vec();
                body.map(Some).map_err(|error| said(&error))
            }
            404 | 410 => Ok(None),
            status => Err(refused(status)),
        }
    }

    fn put_now(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        let mut request = self.agent.put(self.url(name)).header("Content-Type", "application/octet-stream");
        if let Some(authorization) = &self.options.authorization {
            request = request.header("Authorization", authorization);
        }
        let response = request.send(bytes).map_err(|error| said(&error))?;
        match response.status().as_u16() {
            200..=299 => Ok(()),
            status => Err(refused(status)),
        }
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

fn refused(status: u16) -> StoreError {
    StoreError(match status {
        300..=399 => format!("it answers with a redirect ({status}), which is not followed"),
        401 | 403 => format!("it refuses the request ({status}); see STAN_CACHE_AUTHORIZATION"),
        _ => format!("it answers {status}"),
    })
}

/// What went wrong, without the address: errors of the library may quote what they were given.
fn said(error: &ureq::Error) -> StoreError {
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
