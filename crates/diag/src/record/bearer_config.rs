//! 0xB081, 0xB091, 0xB0A0 and 0xB0B0, how RLC and PDCP were configured: which bearers came, went
//! and are active, with their timers.
//!
//! Packet version 1: 0xB081 with sub-packet 64 of versions 1 and 2, 0xB091 with 69 of versions 1
//! and 3, 0xB0A0 with 192 of versions 2, 4, 24, 0xB0B0 with 193 of versions 2, 3, 24. Source:
//! docs/reference/diag.md, records and layouts; 0xB081 1, 0xB091 1 and all of the PDCP versions
//! agree with captures field by field.

use super::common::{BEARER_MODE, CIPHER};
use super::sub::HEADER;
use crate::layout::{
    Block, Count, Field, Layout, Names, Part, SubLayout, hex, names, u8, u16, u32, uint,
};

const REASON: Names =
    &[(1, "configuration"), (2, "handover"), (4, "release"), (8, "radio_link_failure")];
const ACTION: Names = &[(1, "add"), (2, "modify"), (4, "resume")];
const KIND: Names = &[(1, "srb"), (2, "drb")];
const INTEGRITY: Names = &[(2, "aes"), (7, "none")];

const fn block(size: u16, fields: &'static [&'static [Field]]) -> Part {
    Part::Block(Block { size, fields })
}

const fn list(name: &'static str, count: Count, parts: &'static [Part]) -> Part {
    Part::List { name, count, parts }
}

const HEAD: Part = block(2, &[&[names("reason", u8(0), REASON), uint("room", u8(1))]]);

const PDCP_HEAD: Part = block(
    8,
    &[&[
        names("reason", u8(0), REASON),
        names("srb_cipher", u8(1), CIPHER),
        uint("srb_cipher_key", u8(2)),
        names("srb_integrity", u8(3), INTEGRITY),
        uint("srb_integrity_key", u8(4)),
        names("drb_cipher", u8(5), CIPHER),
        uint("drb_cipher_key", u8(6)),
        uint("room", u8(7)),
    ]],
);

const ACTIVE_COUNT: Part = block(1, &[&[uint("active_count", u8(0))]]);

const RELEASED: &[Part] = &[block(1, &[&[uint("rb_config", u8(0))]])];
const CHANGED: &[Part] =
    &[block(2, &[&[uint("rb_config", u8(0)), names("action", u8(1), ACTION)]])];

const fn active(parts: &'static [Part]) -> Part {
    list("active", Count::Says(u8(0)), parts)
}

const RLC_BEARER: &[Field] = &[
    names("mode", u8(0), BEARER_MODE),
    uint("channel", u8(1)),
    uint("bearer", u8(2)),
    uint("rb_config", u8(3)),
    names("kind", u8(4), KIND),
];
const RLC_DOWNLINK: &[Field] =
    &[uint("t_reordering_ms", u16(5)), uint("t_status_prohibit_ms", u16(7))];
const RLC_UPLINK: &[Field] = &[
    uint("poll_bytes", u32(5)),
    uint("poll_pdus", u16(9)),
    uint("t_poll_retx_ms", u16(11)),
    uint("max_retx_threshold", u8(13)),
];

const PDCP_BEARER: &[Field] = &[
    uint("bearer", u8(0)),
    uint("rb_config", u8(1)),
    uint("eps_bearer", u8(2)),
    names("mode", u8(3), BEARER_MODE),
    names("kind", u8(4), KIND),
    uint("sn_bits", u8(5)),
];
const DISCARD: &[Field] = &[uint("discard_timer_ms", u16(6))];
const UDC: &[Field] = &[
    uint("compression", u8(8)),
    uint("rohc_max_cid", u8(9)),
    hex("rohc_profiles", u32(10)),
    uint("udc_action", u16(14)),
    uint("udc_context", u16(16)),
    uint("udc_algorithm", u8(18)),
    uint("udc_header_bytes", u8(19)),
];

const fn sub(id: u8, versions: &'static [u8], parts: &'static [Part]) -> SubLayout {
    SubLayout { id, name: "bearer_configuration", versions, parts }
}

/// A head, whose byte `$room` is the number of bearers that fit, then the released, the added or
/// changed, and the active bearers.
macro_rules! bearers {
    ($head:expr, $room:literal, $size:literal, $fields:expr) => {
        &[
            $head,
            Part::Counted { name: "released", room: u8($room), parts: RELEASED },
            Part::Counted { name: "changed", room: u8($room), parts: CHANGED },
            ACTIVE_COUNT,
            active(&[block($size, $fields)]),
        ]
    };
}

const fn layout(known: &'static [SubLayout]) -> Part {
    Part::SubPackets { count: u8(1), known }
}

pub(super) static RLC_DOWNLINK_LAYOUTS: &[Layout] = &[Layout {
    versions: &[1],
    parts: &[
        HEADER,
        layout(&[
            sub(64, &[1], bearers!(HEAD, 1, 9, &[RLC_BEARER, RLC_DOWNLINK])),
            sub(
                64,
                &[2],
                bearers!(HEAD, 1, 10, &[RLC_BEARER, RLC_DOWNLINK, &[uint("sn_bits", u8(9))]]),
            ),
        ]),
    ],
}];

pub(super) static RLC_UPLINK_LAYOUTS: &[Layout] = &[Layout {
    versions: &[1],
    parts: &[
        HEADER,
        layout(&[
            sub(69, &[1], bearers!(HEAD, 1, 14, &[RLC_BEARER, RLC_UPLINK])),
            sub(
                69,
                &[3],
                bearers!(HEAD, 1, 15, &[RLC_BEARER, RLC_UPLINK, &[uint("sn_bits", u8(14))]]),
            ),
        ]),
    ],
}];

const DL_ROHC: &[Field] = &[
    uint("status_report", u8(6)),
    uint("rohc_max_cid", u8(7)),
    uint("rohc", u8(8)),
    hex("rohc_profiles", u32(9)),
];
const DL_COMPRESSION: &[Field] = &[
    uint("status_report", u8(6)),
    uint("compression", u8(7)),
    uint("rohc_max_cid", u8(8)),
    hex("rohc_profiles", u32(9)),
];
const UL_ROHC: &[Field] =
    &[uint("rohc_max_cid", u8(8)), uint("rohc", u8(9)), hex("rohc_profiles", u32(10))];

pub(super) static PDCP_DOWNLINK_LAYOUTS: &[Layout] = &[Layout {
    versions: &[1],
    parts: &[
        HEADER,
        layout(&[
            sub(192, &[2, 24], bearers!(PDCP_HEAD, 7, 13, &[PDCP_BEARER, DL_ROHC])),
            sub(192, &[4], bearers!(PDCP_HEAD, 7, 13, &[PDCP_BEARER, DL_COMPRESSION])),
        ]),
    ],
}];

pub(super) static PDCP_UPLINK_LAYOUTS: &[Layout] = &[Layout {
    versions: &[1],
    parts: &[
        HEADER,
        layout(&[
            sub(193, &[2], bearers!(PDCP_HEAD, 7, 14, &[PDCP_BEARER, DISCARD, UL_ROHC])),
            sub(193, &[3], bearers!(PDCP_HEAD, 7, 20, &[PDCP_BEARER, DISCARD, UDC])),
            sub(193, &[24], bearers!(PDCP_HEAD, 7, 20, &[PDCP_BEARER, DISCARD, UDC])),
        ]),
    ],
}];
