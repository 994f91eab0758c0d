/// Why a message cannot be read, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{fault} at bit {bit}")]
pub struct DecodeError {
    /// The fault.
    pub fault: Fault,
    /// Its bit, counted from the first bit of the message.
    pub bit: usize,
}

/// Faults of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// A value needs more bits than the message has.
    #[error("message ends too early")]
    Truncated,
    /// A number is outside the range that its type allows.
    #[error("number outside its range")]
    OutOfRange,
    /// A string is longer than fits a message: it would be sent in fragments.
    #[error("string of more than 16383 units")]
    Fragmented,
    /// Values are nested deeper than in any message.
    #[error("values nested more than {} deep", crate::MAX_DEPTH)]
    Deep,
    /// More values than any message has.
    #[error("more than {} values", crate::MAX_VALUES)]
    Many,
}

impl Fault {
    /// Whether a limit of the whole message is exceeded, so that skipping a part does not help.
    pub(crate) fn is_limit(self) -> bool {
        matches!(self, Self::Deep | Self::Many)
    }
}
