//! What the system said when something failed, and what to do about it, as one half of a sentence. Which file it was is
//! for the caller to say.

use std::io;

/// The reason in words, with what to do now.
pub fn advice(reason: &io::Error) -> String {
    let hint = match reason.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "no space is left; make some and run again",
        io::ErrorKind::PermissionDenied => "permission denied; check who owns it and its folder",
        io::ErrorKind::ReadOnlyFilesystem => "the file system is read-only; make it writable and run again",
        io::ErrorKind::NotFound => "it is gone; run again when nothing changes the tree",
        io::ErrorKind::FileTooLarge => "the file system allows no file of this size; make it smaller and run again",
        io::ErrorKind::CrossesDevices => "it lies on another file system than its folder; move it there and run again",
        _ if is_out_of_handles(reason) => {
            "too many files are open; end other programs or raise `ulimit -n`, and run again"
        }
        _ if is_disk_failure(reason) => {
            "the disk or its connection failed (input/output error); check it and run again"
        }
        _ => return format!("{reason}; fix that and run again"),
    };
    hint.to_owned()
}

/// Why something could not be read, as one half of a sentence without advice, for reports that go on without it. Words of our
/// own, because the system's differ between platforms and locales.
pub fn read_failure(reason: &io::Error) -> &'static str {
    match reason.kind() {
        io::ErrorKind::NotFound => "it does not exist",
        io::ErrorKind::NotADirectory => "it is not a folder",
        io::ErrorKind::PermissionDenied => "permission denied",
        io::ErrorKind::UnexpectedEof => "it ends too early",
        io::ErrorKind::FileTooLarge => "it is too large",
        _ => "reading failed",
    }
}

/// Whether the failure says nothing about the files: the same question may be answered a moment later, although no one
/// changed anything.
pub fn is_transient(reason: &io::Error) -> bool {
    let kinds = [
        io::ErrorKind::OutOfMemory,
        io::ErrorKind::ResourceBusy,
        io::ErrorKind::StaleNetworkFileHandle,
        io::ErrorKind::TimedOut,
        io::ErrorKind::WouldBlock,
    ];
    kinds.contains(&reason.kind()) || is_out_of_handles(reason) || is_disk_failure(reason)
}

/// Whether the file system has no such operation at all: ENOSYS, EOPNOTSUPP, ENOTSUP, and ENOLCK of one without locks.
pub fn is_unsupported(reason: &io::Error) -> bool {
    #[cfg(unix)]
    {
        use rustix::io::Errno;
        let numbers = [Errno::NOSYS, Errno::OPNOTSUPP, Errno::NOTSUP, Errno::NOLCK];
        if Errno::from_io_error(reason).is_some_and(|number| numbers.contains(&number)) {
            return true;
        }
    }
    reason.kind() == io::ErrorKind::Unsupported
}

/// The result of flushing a file. A file system without fsync is not a failure: some return EINVAL, some ENOTSUP. A
/// disk that fails (EIO) or is full still is one.
pub fn skip_unsupported_sync(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(reason) if is_unsupported(&reason) || reason.kind() == io::ErrorKind::InvalidInput => Ok(()),
        other => other,
    }
}

/// ENFILE and EMFILE, for which there is no kind.
fn is_out_of_handles(reason: &io::Error) -> bool {
    cfg!(unix) && matches!(reason.raw_os_error(), Some(23 | 24))
}

/// EIO, for which there is no kind.
fn is_disk_failure(reason: &io::Error) -> bool {
    cfg!(unix) && reason.raw_os_error() == Some(5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_fails_comes_with_something_to_do() {
        let errors = [io::ErrorKind::StorageFull, io::ErrorKind::NotFound, io::ErrorKind::Other].map(io::Error::from);
        let raw = [1, 4, 5, 13, 18, 23, 24, 28, 30, 40].map(io::Error::from_raw_os_error);
        for error in errors.into_iter().chain(raw) {
            let text = advice(&error);
            assert!(text.contains("; "), "{error}: {text}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn only_a_missing_operation_is_skipped() {
        use rustix::io::Errno;
        for (number, no_lock, no_sync) in [
            (Errno::NOSYS, true, true),
            (Errno::NOLCK, true, true),
            (Errno::OPNOTSUPP, true, true),
            (Errno::NOTSUP, true, true),
            (Errno::INVAL, false, true),
            (Errno::IO, false, false),
            (Errno::NOSPC, false, false),
            (Errno::ACCESS, false, false),
        ] {
            let error = || io::Error::from(number);
            assert_eq!(is_unsupported(&error()), no_lock, "{number:?}");
            assert_eq!(skip_unsupported_sync(Err(error())).is_ok(), no_sync, "{number:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn what_passes_and_what_stays() {
        for (number, expected) in [(5, true), (24, true), (12, true), (2, false), (13, false), (40, false), (6, false)]
        {
            assert_eq!(is_transient(&io::Error::from_raw_os_error(number)), expected, "{number}");
        }
    }
}
