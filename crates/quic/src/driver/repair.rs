use sounding_cc::Recovery;
use sounding_units::HostInstant;

/// Whether losses are being repaired, and which were the packets in which they were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Repair {
    None,
    Fast { since: HostInstant },
    Timeout { since: HostInstant },
}

impl Repair {
    pub(super) fn recovery(self) -> Recovery {
        match self {
            Self::None => Recovery::None,
            Self::Fast { .. } => Recovery::Fast,
            Self::Timeout { .. } => Recovery::Timeout,
        }
    }

    /// Whether a packet that left then is one from before it.
    pub(super) fn covers(self, left: HostInstant) -> bool {
        match self {
            Self::None => false,
            Self::Fast { since } | Self::Timeout { since } => left <= since,
        }
    }
}
