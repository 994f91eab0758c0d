//! Sets of files in a sweep: a pattern stands for every file that it matches.

use std::borrow::Cow;
use std::path::Path;

use toml::Spanned;
use toml::de::DeValue;

use super::tree::Value;

/// Whether the values of a key name files.
pub(crate) fn names_files(key: &str) -> bool {
    let mut parts = key.split('.');
    let first = parts.next();
    let last = key.rsplit('.').next();
    matches!(first, Some("links" | "wire")) && matches!(last, Some("up" | "down"))
}

/// The values of one element of a list: for a pattern of files (`traces/*.down`) each match, by its
/// path from `folder` on and sorted; for other values the value itself. Fails with the pattern's
/// fault.
pub(super) fn values<'i>(
    key: &str,
    value: Value<'i>,
    folder: &Path,
) -> Result<Vec<Value<'i>>, String> {
    let pattern = value.get_ref().as_str().filter(|text| {
        names_files(key) && text.contains(['*', '?', '[']) && !folder.join(text).is_file()
    });
    let Some(pattern) = pattern else { return Ok(vec![value]) };
    // The folder's name is not a pattern.
    let escaped = glob::Pattern::escape(&folder.to_string_lossy());
    let whole = Path::new(&escaped).join(pattern);
    let found = glob::glob(&whole.to_string_lossy())
        .map_err(|error| format!("{pattern:?} is no pattern of files: {error}"))?;
    let mut names = Vec::new();
    for path in found {
        let path = path.map_err(|error| format!("{pattern:?}: cannot look: {error}"))?;
        if path.is_file() {
            names.push(path.strip_prefix(folder).unwrap_or(&path).to_string_lossy().into_owned());
        }
    }
    if names.is_empty() {
        return Err(format!("{pattern:?} matches no file, looked for as {}", whole.display()));
    }
    names.sort_unstable();
    let span = value.span();
    let values =
        names.into_iter().map(|name| Spanned::new(span.clone(), DeValue::String(Cow::Owned(name))));
    Ok(values.collect())
}
