//! The version, and the most that either end takes.

/// The name that both ends give.
pub(super) const FEED: &str = "records";

/// The version of lines and frames.
pub const VERSION: u32 = 1;

/// The framing of the packets inside of frames: none.
pub(super) const FRAMING: &str = "packet";

/// A greeting is no longer than this, with its end of line.
pub(super) const MAX_GREETING: usize = 8 * 1024;

/// A request is no longer than this, with its end of line.
pub(super) const MAX_REQUEST: usize = 16 * 1024;

/// A request names no more codes. Those that this project reads are fewer.
pub(super) const MAX_CODES: usize = 512;

/// A payload is no longer than this. The length of a log record has 16 bits, and a wrapper adds a
/// few.
pub(super) const MAX_PAYLOAD: usize = (1 << 16) + 64;
