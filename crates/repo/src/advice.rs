//! Messages for I/O errors: the reason, and what to do about it, as the second half of a sentence. The caller names the file.

use std::io;

/// The reason, and what to do about it.
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

/// The reason without advice, for reports that continue without the file. In our own words, because the system's messages differ
/// between platforms and locales.
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

/// Whether the error is transient (EIO, EMFILE, …): the same call may succeed a moment later although no file changed.
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

/// Whether the file system does not support the operation: ENOSYS, EOPNOTSUPP, ENOTSUP, and ENOLCK without locks.
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

/// Ignores the error of an fsync that the file system does not support: some return EINVAL, some ENOTSUP. A failing (EIO) or full
/// disk remains an error.
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
    fn every_error_comes_with_advice() {
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
    fn transient_errors_are_distinguished_from_lasting_ones() {
        for (number, expected) in [(5, true), (24, true), (12, true), (2, false), (13, false), (40, false), (6, false)]
        {
            assert_eq!(is_transient(&io::Error::from_raw_os_error(number)), expected, "{number}");
        }
    }
}
