//! A squarified treemap (Bruls, Huizing, van Wijk) of folders and files by tokens. Coordinates are integers and divisions follow
//! IEEE 754, so the same input gives the same layout on every machine.

use super::ViewFile;

/// The width of the layout; the page scales it to its window.
pub(super) const WIDTH: f64 = 160_000.0;
pub(super) const HEIGHT: f64 = 100_000.0;
/// The height of a folder's header with its name, if the folder is large enough for one.
const HEADER: f64 = 2_400.0;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Rectangle {
    pub(super) x: u32,
    pub(super) y: u32,
    pub(super) width: u32,
    pub(super) height: u32,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Folder {
    /// The basename; empty for the root.
    pub(super) name: String,
    /// Index of the parent folder; for the root, its own index.
    pub(super) parent: u32,
    pub(super) rectangle: Rectangle,
    /// Of all code below it.
    pub(super) tokens: u64,
    /// The number of files below it, of any kind.
    pub(super) files: u32,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Layout {
    /// A folder comes after its parent.
    pub(super) folders: Vec<Folder>,
    /// For each file, its folder.
    pub(super) folder_of: Vec<u32>,
    /// For each file; zero if it has no rectangle.
    pub(super) rectangles: Vec<Rectangle>,
}

#[derive(Clone, Copy)]
struct Area {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
}

#[derive(Clone, Copy)]
enum TreemapItem {
    Folder(u32),
    File(u32),
}

/// Lays out files sorted by path.
pub(super) fn layout(files: &[ViewFile]) -> Layout {
    let mut layout = folders(files);
    layout.rectangles = vec![Rectangle::default(); files.len()];
    let mut children: Vec<Vec<(u64, TreemapItem)>> = layout.folders.iter().map(|_| Vec::new()).collect();
    for (index, folder) in (0u32..).zip(&layout.folders).skip(1) {
        if folder.tokens > 0 {
            children[folder.parent as usize].push((folder.tokens, TreemapItem::Folder(index)));
        }
    }
    for (index, (file, folder)) in (0u32..).zip(files.iter().zip(&layout.folder_of)) {
        if file.is_code {
            children[*folder as usize].push((file.tokens.max(1), TreemapItem::File(index)));
        }
    }
    let mut areas = vec![Area { x: 0.0, y: 0.0, width: WIDTH, height: HEIGHT }; layout.folders.len()];
    // A folder comes after its parent, so the parent's area is known.
    for folder in 0..layout.folders.len() {
        let area = areas[folder];
        layout.folders[folder].rectangle = rectangle(area);
        let mut items = std::mem::take(&mut children[folder]);
        items.sort_by_key(|(weight, _)| std::cmp::Reverse(*weight));
        squarify(&items, inner(area, folder == 0), &mut |item, area| match item {
            TreemapItem::Folder(index) => areas[index as usize] = area,
            TreemapItem::File(index) => layout.rectangles[index as usize] = rectangle(area),
        });
    }
    layout
}

/// The folders of sorted paths, with their totals.
fn folders(files: &[ViewFile]) -> Layout {
    let mut layout = Layout { folders: vec![Folder::default()], ..Layout::default() };
    // The folders of the previous file, outermost first.
    let mut open: Vec<(&str, u32)> = Vec::new();
    for file in files {
        let mut segments: Vec<&str> = file.path.split('/').collect();
        segments.pop();
        let shared = open.iter().zip(&segments).take_while(|((name, _), segment)| name == *segment).count();
        open.truncate(shared);
        for segment in segments.into_iter().skip(shared) {
            let parent = open.last().map_or(0, |(_, index)| *index);
            let index = layout.folders.len() as u32;
            layout.folders.push(Folder { name: segment.to_owned(), parent, ..Folder::default() });
            open.push((segment, index));
        }
        let own = open.last().map_or(0, |(_, index)| *index);
        layout.folder_of.push(own);
        let tokens = if file.is_code { file.tokens.max(1) } else { 0 };
        for index in open.iter().map(|(_, index)| *index).chain([0]) {
            let folder = &mut layout.folders[index as usize];
            folder.files += 1;
            folder.tokens += tokens;
        }
    }
    layout
}

/// The area of a folder's contents.
fn inner(area: Area, is_root: bool) -> Area {
    if is_root {
        return area;
    }
    let border = area.width.min(area.height) / 60.0;
    let header = HEADER.min(area.height / 8.0);
    Area {
        x: area.x + border,
        y: area.y + header,
        width: (area.width - 2.0 * border).max(0.0),
        height: (area.height - header - border).max(0.0),
    }
}

fn rectangle(area: Area) -> Rectangle {
    let [left, top] = [area.x, area.y].map(|edge| edge.round() as u32);
    let [right, bottom] = [area.x + area.width, area.y + area.height].map(|edge| edge.round() as u32);
    Rectangle { x: left, y: top, width: right - left, height: bottom - top }
}

/// Fills `area` with items sorted by descending weight, row by row along its shorter side.
fn squarify(items: &[(u64, TreemapItem)], mut area: Area, place: &mut dyn FnMut(TreemapItem, Area)) {
    let mut left: f64 = items.iter().map(|(weight, _)| *weight as f64).sum();
    let mut start = 0;
    while start < items.len() {
        let side = area.width.min(area.height);
        let scale = area.width * area.height / left;
        let (mut end, mut sum, mut worst) = (start, 0.0, f64::INFINITY);
        let largest = items[start].0 as f64 * scale;
        while let Some((weight, _)) = items.get(end) {
            let own = *weight as f64 * scale;
            let with = sum + own;
            // The first item of a row is the largest, the last one the smallest.
            let ratio = (side * side * largest / (with * with)).max(with * with / (side * side * own));
            if ratio > worst {
                break;
            }
            (end, sum, worst) = (end + 1, with, ratio);
        }
        // An area of size zero gives no finite ratio, but every row must take at least one item.
        end = end.max(start + 1);
        let row: f64 = items[start..end].iter().map(|(weight, _)| *weight as f64).sum();
        let is_last = end == items.len();
        area = place_row(&items[start..end], row, if is_last { 1.0 } else { row / left }, area, place);
        left -= row;
        start = end;
    }
}

/// Places one row, which takes `share` of the area, and returns the remaining area.
fn place_row(
    items: &[(u64, TreemapItem)],
    row: f64,
    share: f64,
    area: Area,
    place: &mut dyn FnMut(TreemapItem, Area),
) -> Area {
    let is_column = area.width >= area.height;
    let thickness = share * if is_column { area.width } else { area.height };
    let mut before = 0.0;
    for (weight, item) in items {
        let part = *weight as f64 / row;
        let own = if is_column {
            Area { x: area.x, y: area.y + before * area.height, width: thickness, height: part * area.height }
        } else {
            Area { x: area.x + before * area.width, y: area.y, width: part * area.width, height: thickness }
        };
        place(*item, own);
        before += part;
    }
    if is_column {
        Area { x: area.x + thickness, width: (area.width - thickness).max(0.0), ..area }
    } else {
        Area { y: area.y + thickness, height: (area.height - thickness).max(0.0), ..area }
    }
}
