//! A store of bytes on another machine: the only effect that is neither files nor processes. Implementations are responsible for
//! timeouts and credentials. No name or address here ever comes from a repository.

/// Values by name. Both calls return within a bounded time.
pub trait ByteStore: Send + Sync {
    /// The value with this name; `None` if there is none. A value of more than `limit` bytes is an error.
    fn get(&self, name: &str, limit: u64) -> Result<Option<Vec<u8>>, StoreError>;

    /// Stores a value, and replaces one with the same name.
    fn put(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError>;
}

/// Why a store did not answer. A message for users that contains neither an address nor a credential.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct StoreError(pub String);
