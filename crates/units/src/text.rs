/// A text without the byte-order mark of UTF-8 that some programs write before it.
///
/// Every reader of a text that a person or another program may have written begins with this, so
/// that all accept the mark alike.
pub fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text)
}
