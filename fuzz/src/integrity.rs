//! The laws of the private map (`dependency.map.json`).

use stan_model::document::externals_lock::decode;
use stan_model::document::{check_node_id, is_absolute};

use crate::documents::check_findings;

/// A valid private map survives writing and parsing; its ids are below the repository, and its locators are absolute.
pub fn law(bytes: &[u8]) {
    let map = match decode(bytes, "file.json") {
        Ok(map) => map,
        Err(errors) => return check_findings(bytes, &errors),
    };
    for (id, node) in &map.nodes {
        assert!(check_node_id(id).is_ok(), "{id:?}");
        assert!(is_absolute(&node.locator) && !node.locator.contains('\0'), "{:?}", node.locator);
        if let Some(package) = &node.package {
            let place = format!("/context/npm/{}/{}/{}", package.name, package.version, package.path);
            assert!(format!("/{id}").ends_with(&place), "{id} is not at {place}");
        }
    }
    let document = map.encode();
    assert!(document.len() <= 2 * bytes.len() + 64, "{} bytes of {}", document.len(), bytes.len());
    assert_eq!(decode(&document, "file.json").as_ref(), Ok(&map), "what is written is read");
}
