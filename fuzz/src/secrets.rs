//! The laws of the secret scanner, which reads every text that is archived.

use stan_secrets::{MAX_HITS, RULES, Stream, credential_file, scan};

/// Hits are limited in number, in order, on existing lines, and of documented rules. A text in pieces has the same hits as the
/// whole. A line before the text moves them by one.
pub fn law(bytes: &[u8]) {
    let hits = scan(bytes);
    let lines = 1 + bytes.iter().filter(|&&byte| byte == b'\n').count() as u64;
    assert!(hits.len() <= MAX_HITS && hits.is_sorted_by_key(|hit| hit.line));
    for hit in &hits {
        assert!((1..=lines).contains(&hit.line), "line {} of {lines}", hit.line);
        assert!(RULES.iter().any(|rule| rule.id == hit.rule), "{}", hit.rule);
    }
    let size = 1 + bytes.first().copied().map_or(0, usize::from) * 7;
    let mut stream = Stream::default();
    bytes.chunks(size).for_each(|piece| stream.update(piece));
    assert_eq!(stream.finish(), hits, "pieces of {size} bytes");
    let moved = scan(&[b"a line\n", bytes].concat());
    assert!(moved.iter().map(|hit| (hit.line - 1, hit.rule)).eq(hits.iter().map(|hit| (hit.line, hit.rule))));
    if let Ok(path) = std::str::from_utf8(bytes) {
        assert!(credential_file(path).is_none_or(|rule| RULES.iter().any(|known| known.id == rule)));
    }
}
