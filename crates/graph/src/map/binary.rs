//! A [`Map`] as flat byte arrays, for caches: fast to read, and validated enough that no lookup in the map can panic. A private
//! format that may change with every version.

use stan_model::NodeKind;

use super::{HashPrefix, Map, MapEdge, Record, Texts};

const KINDS: [NodeKind; 4] = [NodeKind::Source, NodeKind::External, NodeKind::Builtin, NodeKind::Missing];
const HAS_SIZE: u8 = 4;
const HAS_HASH: u8 = 8;

/// `None` if the map is too large for the format.
pub(super) fn encode(map: &Map) -> Option<Vec<u8>> {
    let (nodes, edges) = (map.records.len(), map.edges.len());
    let mut out = Vec::with_capacity(16 + nodes * 21 + edges * 5 + map.ids.text().len());
    out.extend_from_slice(&u32::try_from(nodes).ok()?.to_le_bytes());
    out.extend_from_slice(&u32::try_from(edges).ok()?.to_le_bytes());
    for texts in [&map.ids, &map.descriptions] {
        numbers(&mut out, texts.ends())?;
        out.extend_from_slice(texts.text().as_bytes());
    }
    numbers(&mut out, &map.ends)?;
    out.extend(map.edges.iter().flat_map(|edge| edge.target.to_le_bytes()));
    out.extend(map.edges.iter().map(|edge| edge.kinds | edge.resolutions << 3));
    for record in &map.records {
        let kind = KINDS.iter().position(|kind| *kind == record.kind)?;
        let size = if record.size.is_some() { HAS_SIZE } else { 0 };
        let hash = if record.hash.is_some() { HAS_HASH } else { 0 };
        out.push(u8::try_from(kind).ok()? | size | hash);
        out.extend(record.size.iter().flat_map(|size| size.to_le_bytes()));
        out.extend(record.hash.iter().flatten());
    }
    Some(out)
}

fn numbers(out: &mut Vec<u8>, values: &[usize]) -> Option<()> {
    for value in values {
        out.extend_from_slice(&u32::try_from(*value).ok()?.to_le_bytes());
    }
    Some(())
}

/// `None` if the bytes are not a complete, valid map.
pub(super) fn decode(bytes: &[u8]) -> Option<Map> {
    let mut rest = bytes;
    let nodes = number(&mut rest)?;
    let edge_count = number(&mut rest)?;
    let ids = texts(&mut rest, nodes)?;
    let descriptions = texts(&mut rest, nodes)?;
    let ends = rising(&mut rest, nodes)?;
    if ends.last().copied().unwrap_or(0) != edge_count || !ids.is_sorted_and_unique() {
        return None;
    }
    let targets = take(&mut rest, edge_count.checked_mul(4)?)?.as_chunks::<4>().0;
    let bits = take(&mut rest, edge_count)?;
    let edges = targets.iter().zip(bits).map(|(target, bits)| edge(u32::from_le_bytes(*target), *bits, nodes));
    let edges = edges.collect::<Option<Vec<_>>>()?;
    let mut start = 0;
    for &end in &ends {
        if !edges.get(start..end)?.is_sorted_by(|left, right| left.target < right.target) {
            return None;
        }
        start = end;
    }
    let mut records = Vec::with_capacity(nodes);
    for _ in 0..nodes {
        records.push(record(&mut rest)?);
    }
    rest.is_empty().then_some(Map { ids, descriptions, records, ends, edges })
}

fn edge(target: u32, bits: u8, nodes: usize) -> Option<MapEdge> {
    let (kinds, resolutions) = (bits & 7, bits >> 3);
    let is_sound = (target as usize) < nodes && kinds != 0 && (1..=3).contains(&resolutions);
    is_sound.then_some(MapEdge { target, kinds, resolutions })
}

fn record(rest: &mut &[u8]) -> Option<Record> {
    let flags = *take(rest, 1)?.first()?;
    let kind = *KINDS.get(usize::from(flags & 3)).filter(|_| flags >> 4 == 0)?;
    let size = if flags & HAS_SIZE == 0 { None } else { Some(u64::from_le_bytes(take(rest, 8)?.try_into().ok()?)) };
    let hash = if flags & HAS_HASH == 0 { None } else { Some(HashPrefix::try_from(take(rest, 16)?).ok()?) };
    Some(Record { kind, size, hash })
}

fn texts(rest: &mut &[u8], count: usize) -> Option<Texts> {
    let ends = rising(rest, count)?;
    let text = std::str::from_utf8(take(rest, ends.last().copied().unwrap_or(0))?).ok()?;
    ends.iter().all(|end| text.is_char_boundary(*end)).then(|| Texts::of_parts(text.to_owned(), ends))
}

fn rising(rest: &mut &[u8], count: usize) -> Option<Vec<usize>> {
    let bytes = take(rest, count.checked_mul(4)?)?;
    let values: Vec<usize> = bytes.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes) as usize).collect();
    values.is_sorted().then_some(values)
}

fn number(rest: &mut &[u8]) -> Option<usize> {
    Some(u32::from_le_bytes(take(rest, 4)?.try_into().ok()?) as usize)
}

fn take<'b>(rest: &mut &'b [u8], length: usize) -> Option<&'b [u8]> {
    let (taken, left) = rest.split_at_checked(length)?;
    *rest = left;
    Some(taken)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::JsonStyle;
    use super::*;
    use crate::map::tests::{any_map, map_of};

    proptest! {
        #[test]
        fn a_map_survives_the_round_trip(map in any_map(12)) {
            prop_assert_eq!(decode(&encode(&map).unwrap()), Some(map));
        }
    }

    /// A damaged cache gives no map, or one on which every lookup works.
    #[test]
    fn damage_is_refused_or_harmless() {
        let text = r#"{"v":2,"n":{"a":{"k":0,"s":12,"h":"ABEiM0RVZneImaq7zN3u_w","d":"x","e":[["b",1,2],["é",3]]},"b":{"k":1},"é":{"k":0}}}"#;
        let whole = encode(&map_of(text)).unwrap();
        for length in 0..whole.len() {
            assert_eq!(decode(&whole[..length]), None, "{length}");
        }
        for (place, bit) in (0..whole.len()).flat_map(|place| (0..8).map(move |bit| (place, bit))) {
            let mut damaged = whole.clone();
            damaged[place] ^= 1 << bit;
            let Some(map) = decode(&damaged) else { continue };
            for index in map.indices() {
                assert_eq!(map.find(map.id(index)), Some(index));
            }
            // Calls every lookup.
            map.write(&mut std::io::sink(), JsonStyle::Minified).unwrap();
        }
    }
}
