//! The shared cache: which server the user chose, and what is reported about it. Only the command line and the environment can
//! choose one; no file of a repository can.

use std::sync::OnceLock;
use std::time::Duration;

use stan_engine::shared::{SharedCache, SharedUsage};
use stan_engine::{OsSystem, WritableSystem as _};
use stan_remote::{AddressError, BucketAccess, BucketAddress, CacheAddress, HttpOptions, HttpStore};

use crate::args::Cli;
use crate::exit::Failure;
use crate::terminal::{Untrusted, counted, grouped, style_of_stderr, tell, text};

/// The default timeout of a request, in seconds.
const TIMEOUT: f64 = 10.0;
/// Longer timeouts are typing errors.
const MAX_TIMEOUT: f64 = 600.0;

/// One per process: failures of a server in one call of `stan mcp` count in the next.
static CHOSEN: OnceLock<Chosen> = OnceLock::new();

struct Chosen {
    cache: SharedCache,
    /// On the command line rather than in the environment.
    is_typed: bool,
}

/// Reads the command line and the environment; to be called once, before any command.
pub(crate) fn prepare(cli: &Cli) -> Result<(), Failure> {
    let address = match &cli.global.cache_url {
        Some(typed) => Some(typed.clone()),
        None => variable("STAN_CACHE_URL")?,
    };
    let Some(address) = address.filter(|address| !address.is_empty()) else { return Ok(()) };
    let timeout = timeout(variable("STAN_CACHE_TIMEOUT")?)?;
    let store = if BucketAddress::is_one(&address) { bucket(&address, timeout)? } else { server(&address, timeout)? };
    let secret = variable("STAN_CACHE_KEY")?.map(String::into_bytes);
    let mut seed = [0; 8];
    // Without random numbers, a server could predict which facts are verified. So no server is used.
    OsSystem.random(&mut seed).map_err(|error| Failure::internal(format!("there are no random numbers: {error}")))?;
    let cache = SharedCache::new(Box::new(store), secret, u64::from_le_bytes(seed));
    let _ = CHOSEN.set(Chosen { cache, is_typed: cli.global.cache_url.is_some() });
    Ok(())
}

/// An environment variable that is not empty.
fn variable(name: &'static str) -> Result<Option<String>, Failure> {
    match std::env::var_os(name).filter(|value| !value.is_empty()).map(std::ffi::OsString::into_string) {
        None => Ok(None),
        Some(Ok(value)) => Ok(Some(value)),
        Some(Err(_)) => Err(Failure::input(format!("{name} is not UTF-8"))),
    }
}

fn refused(error: AddressError) -> Failure {
    Failure::input(error.message()).hint(error.hint())
}

fn server(address: &str, timeout: Duration) -> Result<HttpStore, Failure> {
    let authorization = variable("STAN_CACHE_AUTHORIZATION")?;
    if authorization.as_ref().is_some_and(|value| !value.bytes().all(|byte| (0x20..0x7f).contains(&byte))) {
        return Err(Failure::input("STAN_CACHE_AUTHORIZATION is not the value of a header"));
    }
    let address = CacheAddress::parse(address, authorization.is_some()).map_err(refused)?;
    Ok(HttpStore::new(HttpOptions { address, authorization, timeout }))
}

/// Reads the environment variables of Amazon's own programs, but not their files: credentials come from the environment only.
fn bucket(address: &str, timeout: Duration) -> Result<HttpStore, Failure> {
    let bucket = BucketAddress::parse(address).map_err(refused)?;
    if !HttpStore::HAS_S3 {
        return Err(refused(AddressError::NoS3));
    }
    let either = |first, second| {
        variable(first).and_then(|value| value.map_or_else(|| variable(second), |value| Ok(Some(value))))
    };
    let access = BucketAccess {
        key_id: variable("AWS_ACCESS_KEY_ID")?.unwrap_or_default(),
        secret_key: variable("AWS_SECRET_ACCESS_KEY")?.unwrap_or_default(),
        session_token: variable("AWS_SESSION_TOKEN")?,
        region: either("AWS_REGION", "AWS_DEFAULT_REGION")?,
        endpoint: either("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")?,
    };
    HttpStore::of_bucket(&bucket, access, timeout).map_err(refused)
}

fn timeout(typed: Option<String>) -> Result<Duration, Failure> {
    let Some(typed) = typed else { return Ok(Duration::from_secs_f64(TIMEOUT)) };
    let seconds = typed.parse().ok().filter(|seconds: &f64| (0.01..=MAX_TIMEOUT).contains(seconds));
    let seconds = seconds.ok_or_else(|| {
        Failure::input(format!("STAN_CACHE_TIMEOUT is `{typed}`, which is not a number of seconds"))
            .hint("set it to seconds, such as 5")
    })?;
    Ok(Duration::from_secs_f64(seconds))
}

/// The cache that a request may use. `--no-cache` disables all caches except one that is named in the same command line.
pub(crate) fn chosen(no_cache: bool) -> SharedCache {
    let chosen = CHOSEN.get().filter(|chosen| !no_cache || chosen.is_typed);
    chosen.map(|chosen| chosen.cache.clone()).unwrap_or_default()
}

/// Prints how the shared cache was used: why it was not, and, if requested, what it was good for.
pub(crate) fn tell_usage(cli: &Cli) {
    let Some(usage) = CHOSEN.get().and_then(|chosen| chosen.cache.usage()) else { return };
    let SharedUsage { bundles_read, files_read, bytes_read, bundles_missing, bundles_written, bytes_written, .. } =
        usage;
    let style = style_of_stderr(cli.global.color);
    if let Some(problem) = usage.problem.as_deref().filter(|_| !cli.global.quiet) {
        tell(&text!("{} the shared cache: {}", style.warning("warning:"), Untrusted::new(problem)));
    }
    if cli.global.verbose {
        let read = (counted(files_read, "file"), counted(bundles_read, "bundle"), grouped(bytes_read));
        let written = (counted(bundles_missing, "bundle"), counted(bundles_written, "bundle"), grouped(bytes_written));
        tell(&text!(
            "shared cache: {} from {} ({} bytes); {} missing, {} stored ({} bytes)",
            read.0,
            read.1,
            read.2,
            written.0,
            written.1,
            written.2
        ));
    }
}
