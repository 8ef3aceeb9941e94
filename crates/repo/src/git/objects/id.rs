//! Object ids: hashes of an object's kind, size and bytes. SHA-1 or SHA-256, depending on the repository.

use std::fmt;

use sha1::{Digest as _, Sha1};
use sha2::Sha256;

/// The hash algorithm of a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HashKind {
    Sha1,
    Sha256,
}

/// The id of one object. All ids of one repository have one length, and compare in git's order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ObjectId {
    /// Padded with zeros.
    bytes: [u8; 32],
    length: u8,
}

/// The kind of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ObjectKind {
    Commit,
    Tree,
    Blob,
    Tag,
}

/// Hashes an object in pieces. Its size must be known first, because it is part of the header.
pub(crate) enum ObjectHasher {
    Sha1(Sha1),
    Sha256(Sha256),
}

impl HashKind {
    /// The length of the hash, in bytes.
    pub(crate) fn length(self) -> usize {
        match self {
            Self::Sha1 => 20,
            Self::Sha256 => 32,
        }
    }

    pub(crate) fn object_id(self, kind: ObjectKind, bytes: &[u8]) -> ObjectId {
        let mut hasher = ObjectHasher::new(self, kind, bytes.len() as u64);
        hasher.update(bytes);
        hasher.finish()
    }

    /// The hash of plain bytes, as at the end of an index.
    pub(crate) fn checksum(self, bytes: &[u8]) -> ObjectId {
        match self {
            Self::Sha1 => ObjectId::padded(&Sha1::digest(bytes)),
            Self::Sha256 => ObjectId::padded(&Sha256::digest(bytes)),
        }
    }
}

impl ObjectHasher {
    pub(crate) fn new(hash: HashKind, kind: ObjectKind, size: u64) -> Self {
        let (header, start) = header(kind, size);
        let header = header.get(start..).unwrap_or_default();
        match hash {
            HashKind::Sha1 => Self::Sha1(Sha1::new().chain_update(header)),
            HashKind::Sha256 => Self::Sha256(Sha256::new().chain_update(header)),
        }
    }

    pub(crate) fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Sha1(hasher) => hasher.update(bytes),
            Self::Sha256(hasher) => hasher.update(bytes),
        }
    }

    pub(crate) fn finish(self) -> ObjectId {
        match self {
            Self::Sha1(hasher) => ObjectId::padded(&hasher.finalize()),
            Self::Sha256(hasher) => ObjectId::padded(&hasher.finalize()),
        }
    }
}

/// Builds the header, such as `tree 123` and a zero byte, at the end of a stack buffer, and returns its start. No allocation: a
/// history hashes thousands of small objects.
fn header(kind: ObjectKind, mut size: u64) -> ([u8; 32], usize) {
    let mut header = [0; 32];
    let mut start = header.len() - 1;
    let mut put = |byte: u8| {
        start -= 1;
        header[start] = byte;
    };
    loop {
        put(b'0' + (size % 10) as u8);
        size /= 10;
        if size == 0 {
            break;
        }
    }
    put(b' ');
    kind.name().bytes().rev().for_each(put);
    (header, start)
}

impl ObjectId {
    /// `None` unless the length is that of a hash.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        // One case per length, so that the compiler can copy a constant number of bytes.
        match (bytes.first_chunk::<20>(), bytes.first_chunk::<32>()) {
            (_, Some(all)) if bytes.len() == 32 => Some(Self { bytes: *all, length: 32 }),
            (Some(first), None) if bytes.len() == 20 => {
                let mut bytes = [0; 32];
                bytes[..20].copy_from_slice(first);
                Some(Self { bytes, length: 20 })
            }
            _ => None,
        }
    }

    /// `None` unless these are exactly the digits of a hash of this kind.
    pub(crate) fn from_hex(digits: &[u8], hash: HashKind) -> Option<Self> {
        if digits.len() != hash.length() * 2 {
            return None;
        }
        let mut bytes = [0; 32];
        for (byte, [high, low]) in bytes.iter_mut().zip(digits.as_chunks::<2>().0) {
            *byte = nibble(*high)? << 4 | nibble(*low)?;
        }
        Self::from_bytes(bytes.get(..hash.length())?)
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.length)).unwrap_or(&self.bytes)
    }

    /// All zeros mean "none".
    pub(crate) fn is_null(&self) -> bool {
        self.bytes.iter().all(|&byte| byte == 0)
    }

    fn padded(hash: &[u8]) -> Self {
        let mut bytes = [0; 32];
        bytes.iter_mut().zip(hash).for_each(|(into, from)| *into = *from);
        Self { bytes, length: hash.len().min(32) as u8 }
    }
}

/// The value of a hexadecimal digit.
pub(crate) fn nibble(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

impl fmt::Display for ObjectId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        // All digits in one write: a history prints thousands of ids.
        let digit = |number: u8| char::from(b"0123456789abcdef"[usize::from(number & 15)]);
        let digits: String = self.as_bytes().iter().flat_map(|byte| [digit(byte >> 4), digit(*byte)]).collect();
        out.write_str(&digits)
    }
}

impl fmt::Debug for ObjectId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{self}")
    }
}

impl ObjectKind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Commit => "commit",
            Self::Tree => "tree",
            Self::Blob => "blob",
            Self::Tag => "tag",
        }
    }

    pub(crate) fn of_name(name: &[u8]) -> Option<Self> {
        [Self::Commit, Self::Tree, Self::Blob, Self::Tag].into_iter().find(|kind| kind.name().as_bytes() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn object_ids_equal_those_of_git() {
        let shown = |size| {
            let (bytes, start) = header(ObjectKind::Commit, size);
            String::from_utf8_lossy(&bytes[start..]).into_owned()
        };
        assert_eq!((shown(0), shown(u64::MAX)), ("commit 0\0".to_owned(), format!("commit {}\0", u64::MAX)));
        // The output of `git hash-object` for an empty file and an empty tree, with each hash.
        let id = |hash: HashKind, kind| hash.object_id(kind, b"").to_string();
        assert_eq!(id(HashKind::Sha1, ObjectKind::Blob), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
        assert_eq!(id(HashKind::Sha1, ObjectKind::Tree), "4b825dc642cb6eb9a060e54bf8d69288fbee4904");
        assert_eq!(
            id(HashKind::Sha256, ObjectKind::Blob),
            "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813"
        );
    }

    #[test]
    fn ids_survive_a_round_trip_through_hex() {
        let id = HashKind::Sha1.object_id(ObjectKind::Blob, b"x");
        let text = id.to_string();
        assert_eq!(ObjectId::from_hex(text.as_bytes(), HashKind::Sha1), Some(id));
        assert_eq!(ObjectId::from_hex(text.to_uppercase().as_bytes(), HashKind::Sha1), Some(id));
        for bad in [&text[1..], &format!("{text}0"), &text.replace(&text[..1], "g"), ""] {
            assert_eq!(ObjectId::from_hex(bad.as_bytes(), HashKind::Sha1), None, "{bad}");
        }
        assert_eq!(ObjectId::from_hex(text.as_bytes(), HashKind::Sha256), None);
    }
}
