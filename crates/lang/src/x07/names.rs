//! The grammars of names. White space around a name is accepted, as by the toolchain; the caller preserves it.

/// Dot-separated segments `[A-Za-z_][A-Za-z0-9_-]*`: module ids and symbols.
pub(super) fn check_symbol(text: &str) -> Result<(), String> {
    let name = text.trim();
    if name.is_empty() {
        return Err("module_id must not be empty".to_owned());
    }
    if name.contains(['/', '\\']) {
        return Err(format!("invalid module_id (path separators are not allowed): {name:?}"));
    }
    for segment in name.split('.') {
        let mut characters = segment.chars();
        match characters.next() {
            None => return Err(format!("invalid module_id (empty segment): {name:?}")),
            Some(first) if first.is_ascii_alphabetic() || first == '_' => {}
            Some(_) => {
                return Err(format!(
                    "invalid module_id segment start (must be [A-Za-z_]): {name:?} segment={segment:?}"
                ));
            }
        }
        if !characters.all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-') {
            return Err(format!(
                "invalid module_id segment char (allowed [A-Za-z0-9_-]): {name:?} segment={segment:?}"
            ));
        }
    }
    Ok(())
}

/// `[A-Za-z_][A-Za-z0-9_]*`: parameters, type parameters, link names.
pub(super) fn check_local_name(text: &str) -> Result<(), String> {
    let name = text.trim();
    let Some(first) = name.chars().next() else {
        return Err("local name must be non-empty".to_owned());
    };
    if !(first.is_ascii_alphabetic() || first == '_') {
        return Err(format!("invalid local name start (must be [A-Za-z_]): {name:?}"));
    }
    if !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        return Err(format!("invalid local name char (allowed [A-Za-z0-9_]): {name:?}"));
    }
    Ok(())
}

/// `[A-Za-z][A-Za-z0-9_]*`: types and bounds.
pub(super) fn check_type_name(text: &str) -> Result<(), String> {
    let name = text.trim();
    let Some(first) = name.chars().next() else {
        return Err("type name must be non-empty".to_owned());
    };
    if !first.is_ascii_alphabetic() {
        return Err(format!("invalid type name start (must be [A-Za-z]): {name:?}"));
    }
    if !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        return Err(format!("invalid type name char (allowed [A-Za-z0-9_]): {name:?}"));
    }
    Ok(())
}
