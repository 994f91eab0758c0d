//! Why bytes are not the other end's.

use thiserror::Error;

use super::limits::{MAX_CODES, VERSION};

/// Bytes that are not the other end's.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Foreign {
    /// The line is no JSON of the wanted form.
    #[error("its line cannot be read: {0}")]
    Line(String),
    /// The line has no end.
    #[error("its line is too long")]
    Long,
    /// It is another feed.
    #[error("it is another feed than `records`")]
    Feed,
    /// It is another version.
    #[error("it has version {0}, and this program knows {VERSION}", VERSION = VERSION)]
    Version(u32),
    /// The framing of packets is unknown.
    #[error("its packets have an unknown framing")]
    Framing,
    /// Too many codes are requested.
    #[error("a request names at most {MAX} codes", MAX = MAX_CODES)]
    Codes,
    /// No frame has this kind.
    #[error("frames of kind {0} are unknown")]
    Kind(u8),
    /// A frame has a length that its kind does not allow.
    #[error("a frame of kind {kind} announces {len} bytes")]
    Length {
        /// The kind.
        kind: u8,
        /// The length.
        len: usize,
    },
}

impl Foreign {
    pub(super) fn line(error: serde_json::Error) -> Self {
        Self::Line(error.to_string())
    }
}
