//! The laws of ignore files and of git's own glob language.

use stan_repo::fuzzing::{ignore_verdict, wildmatch};

/// The first line is a path, the others are an ignore file. The line that is reported as decisive gives the same result alone, no
/// later line matters, and its negation gives the opposite.
pub fn law(bytes: &[u8]) {
    let end = bytes.iter().position(|&byte| byte == b'\n').unwrap_or(bytes.len());
    let path = &bytes[..end];
    let rules = bytes.get(end + 1..).unwrap_or_default();
    if path.split(|&byte| byte == b'/').any(<[u8]>::is_empty) {
        return;
    }
    check_plain_match(path);
    let rules = rules.strip_prefix(b"\xef\xbb\xbf").unwrap_or(rules);
    let lines: Vec<&[u8]> = rules.split(|&byte| byte == b'\n').collect();
    for is_directory in [false, true] {
        let Some((ignored, line)) = ignore_verdict(rules, path, is_directory) else { continue };
        let index = (line as usize).checked_sub(1).expect("lines count from 1");
        let decisive = *lines.get(index).expect("the file has this line");
        // A byte order mark at the start of the line would be taken for the file's.
        if decisive.starts_with(b"\xef\xbb\xbf") {
            continue;
        }
        assert_eq!(ignore_verdict(decisive, path, is_directory), Some((ignored, 1)), "the line decides alone");
        assert_eq!(ignore_verdict(&lines[..=index].join(&b'\n'), path, is_directory), Some((ignored, line)));
        let after = lines[index + 1..].join(&b'\n');
        assert!(
            after.starts_with(b"\xef\xbb\xbf") || ignore_verdict(&after, path, is_directory).is_none(),
            "a later line decides"
        );
        assert_eq!(ignored, !decisive.starts_with(b"!"));
        if ignored {
            let negated = [b"!", decisive].concat();
            assert_eq!(ignore_verdict(&negated, path, is_directory), Some((false, 1)), "negation keeps the match");
        }
    }
}

/// A path matches its escaped self, and a glob with `*` for each component.
fn check_plain_match(path: &[u8]) {
    let escaped: Vec<u8> = path.iter().flat_map(|&byte| [b'\\', byte]).collect();
    assert!(wildmatch(&escaped, path), "a path matches its own spelling");
    assert!(wildmatch(b"**", path));
    let stars: Vec<&[u8]> = path.split(|&byte| byte == b'/').map(|_| b"*".as_slice()).collect();
    assert!(wildmatch(&stars.join(&b'/'), path), "a star for each name");
    assert_eq!(wildmatch(b"*", path), !path.contains(&b'/'), "a star stays within a name");
}
