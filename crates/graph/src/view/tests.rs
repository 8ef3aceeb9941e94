//! The page: how hostile names are escaped, and that the layout covers the area in proportion.

use super::*;

fn file(path: &str, tokens: u64) -> ViewFile {
    ViewFile { path: path.to_owned(), is_code: tokens > 0, tokens, bytes: tokens * 4, ..ViewFile::default() }
}

fn page_data(files: Vec<ViewFile>) -> serde_json::Value {
    let page = view_page(&ViewInput { files, ..ViewInput::default() });
    let (_, rest) = page.split_once("id=\"data\">").unwrap();
    let (data, _) = rest.split_once("</script>").unwrap();
    serde_json::from_str(data).unwrap()
}

#[test]
fn names_cannot_leave_the_data_element() {
    let name = "</script><img src=x onerror=alert(1)>&\"\\\u{202e}\u{7}.ts";
    let data = page_data(vec![file(name, 5)]);
    // The slash in the name separates folders; hidden characters are shown.
    assert_eq!(data["folders"][1][0], "<");
    assert_eq!(data["files"][0][0], "script><img src=x onerror=alert(1)>&\"\\\\u{202e}\\u{7}.ts");
    let page = view_page(&ViewInput { files: vec![file(name, 5)], ..ViewInput::default() });
    assert_eq!(page.matches("<img").count(), 0);
    assert_eq!(page.matches("</script>").count(), 2, "the data and the script");
}

#[test]
fn a_name_that_looks_like_a_placeholder_is_only_a_name() {
    let data = page_data(vec![file("{{script}}.ts", 5)]);
    assert_eq!(data["files"][0][0], "{{script}}.ts");
}

#[test]
fn only_the_shipped_script_may_run() {
    let page = view_page(&ViewInput::default());
    let hash = base64(&Sha256::digest(SCRIPT.as_bytes()));
    assert!(page.contains(&format!("script-src 'sha256-{hash}'")));
    assert!(!page.contains("http://") || page.matches("http://").count() == page.matches("http://www.w3.org/").count());
    assert!(!page.contains("https://"));
}

#[test]
fn base64_as_in_rfc_4648() {
    for (bytes, expected) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")] {
        assert_eq!(base64(bytes.as_bytes()), expected);
    }
}

#[test]
fn rectangles_cover_the_area_in_proportion_and_stay_inside_their_folder() {
    let files: Vec<ViewFile> = (0u64..200)
        .map(|n| file(&format!("{}/{}/{n:03}.ts", ["a", "b", "c"][n as usize % 3], n % 7), 1 + n * n))
        .collect();
    let mut files = files;
    files.sort_by(|a, b| a.path.cmp(&b.path));
    let layout = treemap::layout(&files);
    for (rectangle, folder) in layout.rectangles.iter().zip(&layout.folder_of) {
        let around = layout.folders[*folder as usize].rectangle;
        assert!(rectangle.x >= around.x && rectangle.x + rectangle.width <= around.x + around.width + 1);
        assert!(rectangle.y >= around.y && rectangle.y + rectangle.height <= around.y + around.height + 1);
    }
    for folder in 1..layout.folders.len() as u32 {
        let own: Vec<usize> = (0..files.len()).filter(|file| layout.folder_of[*file] == folder).collect();
        let area = |file: &usize| {
            let rectangle = layout.rectangles[*file];
            f64::from(rectangle.width) * f64::from(rectangle.height)
        };
        let (all, tokens): (f64, f64) =
            own.iter().fold((0.0, 0.0), |sum, file| (sum.0 + area(file), sum.1 + files[*file].tokens as f64));
        for file in own.iter().filter(|file| files[**file].tokens > 1000) {
            let (share, expected) = (area(file) / all, files[*file].tokens as f64 / tokens);
            assert!((share - expected).abs() < 0.02, "{share} {expected}");
        }
    }
}

#[test]
fn files_that_are_not_code_have_no_rectangle_and_are_counted() {
    let files = [file("a.ts", 10), file("img/b.png", 0)];
    let layout = treemap::layout(&files);
    assert_eq!(layout.rectangles[1], treemap::Rectangle::default());
    assert_eq!(layout.folders.iter().map(|folder| folder.files).collect::<Vec<_>>(), [2, 1]);
    assert_eq!(layout.rectangles[0].width, treemap::WIDTH as u32);
}

#[test]
fn an_empty_repository_gives_a_page() {
    let data = page_data(Vec::new());
    assert_eq!(data["files"].as_array().unwrap().len(), 0);
    assert_eq!(data["folders"].as_array().unwrap().len(), 1);
}
