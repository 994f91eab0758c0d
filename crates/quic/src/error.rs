/// Bytes of the shortest report.
pub(crate) const LEAST: usize = 32;
/// Version of each kind of datagram.
pub(crate) const VERSION: u8 = 1;

/// Why a datagram is no report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReportError {
    /// It is not one of ours.
    #[error("a datagram of {length} bytes that does not begin as a report does")]
    Other {
        /// Its length.
        length: usize,
    },
    /// It is cut off.
    #[error("a report of {length} bytes, which has {LEAST} at least")]
    Short {
        /// Its length.
        length: usize,
    },
    /// A list of receive times is cut off.
    #[error("receive times in a datagram of {length} bytes, which are more")]
    Cut {
        /// Its length.
        length: usize,
    },
    /// Its version is a later one.
    #[error("a report of version {version}, and only {VERSION} is known here")]
    Version {
        /// Which.
        version: u8,
    },
    /// A field has a value that means nothing.
    #[error("{value} in byte {offset} of a report means nothing")]
    Value {
        /// Where.
        offset: usize,
        /// What.
        value: u8,
    },
    /// It is about the link from the peer, but data for the peer takes the link to it.
    #[error("a report of an uplink, and a peer has to report its downlink")]
    Uplink,
    /// It says more than any radio carries.
    #[error("a report of {bytes_per_sec} bytes a second, more than any radio carries")]
    Absurd {
        /// What it says.
        bytes_per_sec: u64,
    },
}
