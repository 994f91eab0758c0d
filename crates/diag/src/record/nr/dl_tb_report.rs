//! 0xB886, downlink transport blocks: the control elements in them.
//!
//! Version 2.3; one source, not in a capture. Of the elements only the timing advance command is
//! read.

use super::{HEADER_2, SLOT};
use crate::layout::{Block, Count, Layout, Part, hex, u8, u16, uint};

const ELEMENT: &[Part] = &[Part::Block(Block {
    size: 8,
    fields: &[&[
        hex("elements", u16(2)),
        uint("timing_advance_group", u8(4)),
        uint("timing_advance_command", u8(5)),
    ]],
})];

const RECORD: &[Part] = &[
    Part::Block(Block { size: 8, fields: &[SLOT, &[uint("carrier_count", u8(4))]] }),
    Part::List { name: "carriers", count: Count::Says(u8(4)), parts: ELEMENT },
];

pub(in super::super) static LAYOUTS: &[Layout] = &[Layout {
    versions: &[0x2_0003],
    parts: &[HEADER_2, Part::List { name: "records", count: Count::Says(u8(15)), parts: RECORD }],
}];
