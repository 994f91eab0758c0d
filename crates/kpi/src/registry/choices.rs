//! The numeric value of each choice, independent of the version's numbers.

type Choices = &'static [(&'static str, f64)];

/// Bits per resource element (TS 36.211 §7.1, TS 38.211 §5.1).
pub(super) const MODULATION: Choices = &[
    ("bpsk", 1.0),
    ("pi_2_bpsk", 1.0),
    ("qpsk", 2.0),
    ("16qam", 4.0),
    ("64qam", 6.0),
    ("256qam", 8.0),
    ("1024qam", 10.0),
];

/// Names that are numbers.
pub(super) const NUMBER: Choices =
    &[("1", 1.0), ("2", 2.0), ("3", 3.0), ("4", 4.0), ("8", 8.0), ("16", 16.0), ("24", 24.0)];

/// 1 for what arrived.
pub(super) const CRC: Choices = &[("fail", 0.0), ("pass", 1.0)];

/// 1 for an acknowledgement.
pub(super) const ACK: Choices = &[("nack", 0.0), ("ack", 1.0)];

/// Kilohertz (TS 38.211 Table 4.2-1).
pub(super) const SPACING: Choices = &[
    ("15khz", 15.0),
    ("30khz", 30.0),
    ("60khz", 60.0),
    ("120khz", 120.0),
    ("240khz", 240.0),
    ("480khz", 480.0),
    ("960khz", 960.0),
];
