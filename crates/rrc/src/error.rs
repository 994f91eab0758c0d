/// Why a message cannot be read, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{fault} at bit {bit}")]
pub struct DecodeError {
    /// What is wrong.
    pub fault: Fault,
    /// Where, from the first bit of the message.
    pub bit: usize,
}

/// What can be wrong with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// It goes on where there are no more bits.
    #[error("message ends too early")]
    Truncated,
    /// A number is outside the range that its type allows.
    #[error("number outside its range")]
    OutOfRange,
    /// A string is longer than any that fits a message: it would come in pieces.
    #[error("string of more than 16383 units")]
    Fragmented,
    /// Values within values, deeper than any message.
    #[error("values nested more than {} deep", crate::MAX_DEPTH)]
    Deep,
    /// More values than any message.
    #[error("more than {} values", crate::MAX_VALUES)]
    Many,
}

impl Fault {
    /// Whether the whole message is too much, so that leaving out a part does not help.
    pub(crate) fn is_limit(self) -> bool {
        matches!(self, Self::Deep | Self::Many)
    }
}
