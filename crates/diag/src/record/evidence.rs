//! The evidence for each described version: a real capture, a published vector, or only a public
//! document.

use super::Version;
use crate::LogCode;

/// The evidence for the description of a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Evidence {
    /// A real capture holds it, and the fields agree with the independent decoder's, if that one
    /// reads it.
    Capture,
    /// A payload published with another decoder's tests holds it.
    Vector,
    /// No public capture or vector holds it. It is tested with bodies made from its description.
    Synthetic,
}

/// The evidence for one version of a record, or of one of its sub-packets; a record without
/// versions is number 0.
pub fn evidence(code: LogCode, version: Version) -> Evidence {
    let seen = |list: &[(u16, &[Version])]| {
        list.iter().any(|(found, versions)| *found == code.0 && versions.contains(&version))
    };
    if seen(CAPTURES) {
        Evidence::Capture
    } else if seen(VECTORS) {
        Evidence::Vector
    } else {
        Evidence::Synthetic
    }
}

const fn v(version: u32) -> Version {
    Version::Packet(version)
}

const fn sub(id: u8, version: u8) -> Version {
    Version::Sub { packet: 1, id, version }
}

/// Versions in the shared captures; pinned by the test `captures::evidence`.
const CAPTURES: &[(u16, &[Version])] = &[
    (0x106E, &[v(0)]),
    (0x1071, &[v(0)]),
    (0x4127, &[v(0)]),
    (0x5230, &[v(0)]),
    (
        0xB060,
        &[
            sub(0, 1),
            sub(1, 1),
            sub(1, 2),
            sub(2, 1),
            sub(2, 2),
            sub(3, 2),
            sub(4, 1),
            sub(4, 2),
            sub(13, 1),
            sub(13, 2),
            sub(14, 1),
            sub(18, 1),
        ],
    ),
    (0xB061, &[sub(3, 2), sub(3, 4), sub(5, 1), sub(5, 2)]),
    (0xB062, &[sub(6, 2), sub(6, 3), sub(6, 4)]),
    (0xB063, &[v(49), sub(7, 2), sub(7, 4)]),
    (0xB064, &[sub(8, 1), sub(8, 2)]),
    (0xB066, &[sub(10, 3), sub(10, 5), sub(10, 24)]),
    (0xB067, &[sub(11, 1), sub(11, 2)]),
    (0xB081, &[sub(64, 1)]),
    (0xB082, &[sub(65, 3)]),
    (0xB087, &[sub(66, 3)]),
    (0xB091, &[sub(69, 1)]),
    (0xB092, &[sub(70, 3)]),
    (0xB097, &[sub(71, 1)]),
    (0xB0A0, &[sub(192, 2), sub(192, 4), sub(192, 24)]),
    (0xB0A2, &[sub(194, 24)]),
    (0xB0A3, &[sub(195, 1), sub(195, 24)]),
    (0xB0A4, &[sub(196, 2)]),
    (0xB0A5, &[sub(198, 1)]),
    (0xB0B0, &[sub(193, 2), sub(193, 3), sub(193, 24)]),
    (0xB0B1, &[sub(194, 1)]),
    (0xB0B3, &[sub(195, 1), sub(195, 26)]),
    (0xB0B4, &[sub(197, 2), sub(197, 3), sub(197, 26)]),
    (0xB0B5, &[sub(199, 1)]),
    (0xB0C1, &[v(1), v(2)]),
    (0xB0C2, &[v(2), v(3)]),
    (0xB0CD, &[v(41)]),
    (0xB116, &[v(21)]),
    (0xB126, &[v(23), v(123), v(144)]),
    (0xB12A, &[v(161)]),
    (0xB130, &[v(43), v(121)]),
    (0xB132, &[v(42), v(126)]),
    (0xB139, &[v(43), v(102), v(124), v(161)]),
    (0xB13C, &[v(43), v(121)]),
    (0xB14D, &[v(43), v(101), v(102)]),
    (0xB14E, &[v(42), v(102)]),
    (0xB167, &[v(5)]),
    (0xB16A, &[v(1)]),
    (0xB16B, &[v(5), v(25), v(34)]),
    (0xB16C, &[v(48)]),
    (0xB16E, &[v(5), v(25)]),
    (0xB16F, &[v(4), v(24)]),
    (0xB173, &[v(16), v(36), v(48)]),
    (0xB179, &[v(3), v(4)]),
    (0xB17A, &[sub(4, 3), sub(9, 2)]),
    (0xB17D, &[sub(1, 1), sub(2, 1), sub(5, 3), sub(6, 3), sub(7, 1), sub(8, 1)]),
    (0xB17F, &[v(5)]),
    (0xB184, &[v(1)]),
    (0xB18A, &[v(1)]),
    (0xB193, &[sub(25, 4), sub(25, 18), sub(25, 19), sub(25, 36), sub(25, 48)]),
    (0xB195, &[sub(31, 3), sub(31, 4)]),
    (0xB196, &[v(41)]),
    (0xB198, &[v(1), v(2)]),
    (0xB1B2, &[v(48)]),
    (0xB244, &[v(3)]),
    (0xB245, &[v(2)]),
    (0xB246, &[v(2)]),
    (0xB24B, &[v(1)]),
    (0xB24C, &[v(4)]),
    (0xB826, &[v(9)]),
    (0x412F, &[v(0), v(1), v(2), v(3), v(4), v(9), v(132), v(254)]),
    (0x512F, &[v(0)]),
    (0x7130, &[v(0)]),
    (0x7131, &[v(0)]),
    (0x7135, &[v(0)]),
    (0x713A, &[v(0)]),
    (0xB0C0, &[v(7), v(8), v(9), v(13), v(15), v(16), v(19), v(20), v(26)]),
    (0xB0E1, &[v(1)]),
    (0xB0E2, &[v(1)]),
    (0xB0E3, &[v(1)]),
    (0xB0E5, &[v(1)]),
    (0xB0EA, &[v(1)]),
    (0xB0EB, &[v(1)]),
    (0xB0EC, &[v(1)]),
    (0xB0ED, &[v(1)]),
    (0xB0EE, &[v(2)]),
    (0xB821, &[v(8), v(17)]),
];

/// Versions in the shared vectors and in no capture; pinned by the same test.
const VECTORS: &[(u16, &[Version])] = &[
    (0x4005, &[v(2)]),
    (0x4168, &[v(0)]),
    (0x4169, &[v(0)]),
    (0x5065, &[v(0)]),
    (0x5066, &[v(0)]),
    (0x506A, &[v(4)]),
    (0x506C, &[v(0)]),
    (0x5071, &[v(0)]),
    (0x507A, &[v(0)]),
    (0x507B, &[v(0)]),
    (0x5134, &[v(0)]),
    (0xB062, &[sub(6, 49), sub(6, 50)]),
    (0xB063, &[v(50)]),
    (0xB064, &[sub(8, 3), sub(8, 5)]),
    (0xB0C1, &[v(17)]),
    (0xB17F, &[v(4)]),
    (0xB180, &[v(4), v(5)]),
    (0xB193, &[sub(25, 41), sub(25, 57), sub(25, 59), sub(25, 60)]),
    (0xB197, &[v(1), v(2), v(3)]),
    (0xB822, &[v(3), v(0x2_0000)]),
    (0xB823, &[v(4), v(0x3_0002), v(0x3_0003)]),
    (0xB97F, &[v(0x2_0007), v(0x2_0009), v(0x2_000A), v(0x3_0000)]),
    (0x412F, &[v(137)]),
    (0xB0C0, &[v(6), v(24), v(30)]),
    (0xB80C, &[v(1), v(0x3_0000)]),
];
