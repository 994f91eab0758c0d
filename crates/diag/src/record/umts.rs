//! WCDMA and GSM: signalling and the device's own state. The records have no version.
//!
//! 0x412F RRC messages, 0x713A NAS messages, 0x7130 packet mobility state, 0x7131 circuit mobility
//! state, 0x7135 registration, 0x512F GSM radio resource messages, 0x5226 and 0x5230 those of GPRS;
//! 0x5B2F and 0x7B3A are 0x512F and 0x713A of a device with two subscriptions. Source:
//! docs/reference/diag.md, records and layouts; all that are in captures agree with them field by
//! field but 0x512F, whose reference reads another record's layout, and 0x5230, which no other
//! decoder reads: the kind of each message is that of its second octet.

use crate::layout::{
    Bits, Block, Field, Layout, Names, Part, bits, names, plmn, u8, u16, u32, uint,
};

const fn unversioned(parts: &'static [Part]) -> Layout {
    Layout { versions: &[], parts }
}

const CHANNELS: Names = &[
    (0x00, "ul_ccch"),
    (0x01, "ul_dcch"),
    (0x02, "dl_ccch"),
    (0x03, "dl_dcch"),
    (0x04, "bcch_bch"),
    (0x05, "bcch_fach"),
    (0x06, "pcch"),
    (0x07, "mcch"),
    (0x08, "msch"),
    (0x09, "extension_sib"),
    (0x0A, "system_information_container"),
    (0x80, "ul_ccch"),
    (0x81, "ul_dcch"),
    (0x82, "dl_ccch"),
    (0x83, "dl_dcch"),
    (0x84, "bcch_bch"),
    (0x85, "bcch_fach"),
    (0x86, "pcch"),
    (0x87, "mcch"),
    (0x88, "msch"),
    (0x89, "extension_sib"),
    (0xF0, "complete_sib"),
    (0xFE, "complete_sib"),
    (0xFF, "complete_sib_fach"),
];

/// The channel, and the length of the message.
const HEADER: &[Field] =
    &[names("channel", u8(0), CHANNELS), uint("radio_bearer", u8(1)), uint("len_bytes", u16(2))];

/// The cell, before messages of channels from 0x80 on; the length does not count it.
const CELL: &[Field] = &[uint("uarfcn", u16(4)), uint("scrambling_code", u16(6))];

/// A separate block of system information has its number before it, which the length includes.
const fn sib(at: u16) -> [Field; 1] {
    [uint("sib", u8(at))]
}

const MESSAGE: Part = message(u16(2));
const BLOCK: Part = Part::Rest { name: "message" };

/// The channel is first and determines the layout of the rest, as the version does in other
/// records.
pub(super) static RRC: &[Layout] = &[
    Layout {
        versions: &[0, 1, 2, 3, 4, 5, 6, 7, 8, 0x0A],
        parts: &[Part::Block(Block { size: 4, fields: &[HEADER] }), MESSAGE],
    },
    Layout {
        versions: &[0x09, 0xFE, 0xFF],
        parts: &[Part::Block(Block { size: 5, fields: &[HEADER, &sib(4)] }), BLOCK],
    },
    Layout {
        versions: &[0x80, 0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88],
        parts: &[Part::Block(Block { size: 8, fields: &[HEADER, CELL] }), MESSAGE],
    },
    Layout {
        versions: &[0x89, 0xF0],
        parts: &[Part::Block(Block { size: 9, fields: &[HEADER, CELL, &sib(8)] }), BLOCK],
    },
];

const SUBSCRIPTION: &[Field] = &[uint("subscription", u8(0))];

/// Direction and length of a NAS message, from byte `$at` on.
macro_rules! nas {
    ($at:expr) => {
        &[names("direction", u8($at), &[(0, "down"), (1, "up")]), uint("len_bytes", u32($at + 1))]
    };
}

const fn message(len: Bits) -> Part {
    Part::Opaque { name: "message", len }
}

const fn block(size: u16, fields: &'static [&'static [Field]]) -> Part {
    Part::Block(Block { size, fields })
}

pub(super) static NAS: &[Layout] = &[unversioned(&[block(5, &[nas!(0)]), message(u32(1))])];

pub(super) static DUAL_NAS: &[Layout] =
    &[unversioned(&[block(6, &[SUBSCRIPTION, nas!(1)]), message(u32(2))])];

pub(super) static GMM_STATE: &[Layout] = &[unversioned(&[Part::Block(Block {
    size: 3,
    fields: &[&[
        names("gmm_state", u8(0), GMM),
        names("gmm_substate", u8(1), GMM_SUBSTATES),
        names("gmm_update_status", u8(2), UPDATES),
    ]],
})])];

const GMM: Names = &[
    (0, "null"),
    (1, "deregistered"),
    (2, "registered_initiated"),
    (3, "registered"),
    (4, "deregistered_initiated"),
    (5, "routing_area_updating_initiated"),
    (6, "service_request_initiated"),
];

const GMM_SUBSTATES: Names = &[
    (0, "normal_service"),
    (1, "limited_service"),
    (2, "attach_needed"),
    (3, "attempting_to_attach"),
    (4, "no_imsi"),
    (5, "no_cell_available"),
    (6, "plmn_search"),
    (7, "suspended"),
    (8, "update_needed"),
    (9, "attempting_to_update"),
    (10, "attempting_to_update_mm"),
    (11, "imsi_detach_initiated"),
];

const UPDATES: Names =
    &[(0, "updated"), (1, "not_updated"), (2, "network_not_allowed"), (3, "area_not_allowed")];

pub(super) static MM_STATE: &[Layout] = &[unversioned(&[Part::Block(Block {
    size: 3,
    fields: &[&[
        names("mm_state", u8(0), MM),
        names("mm_substate", u8(1), MM_SUBSTATES),
        names(
            "mm_update_status",
            u8(2),
            &[(0, "updated"), (1, "not_updated"), (2, "roaming_not_allowed")],
        ),
    ]],
})])];

const MM: Names = &[
    (0, "null"),
    (3, "location_update_initiated"),
    (5, "wait_for_outgoing_connection"),
    (6, "connection_active"),
    (7, "imsi_detach_initiated"),
    (9, "wait_for_network_command"),
    (10, "location_update_rejected"),
    (13, "wait_for_rr_connection_location_update"),
    (14, "wait_for_rr_connection_mm"),
    (15, "wait_for_rr_connection_imsi_detach"),
    (17, "reestablishment_initiated"),
    (18, "wait_for_rr_active"),
    (19, "idle"),
    (20, "wait_for_additional_outgoing_connection"),
    (21, "wait_for_rr_connection_reestablishment"),
    (22, "wait_for_reestablish_decision"),
];

const MM_SUBSTATES: Names = &[
    (0, "null"),
    (1, "no_imsi"),
    (2, "plmn_search"),
    (3, "limited_service"),
    (4, "attempting_to_update"),
    (5, "location_update_needed"),
    (6, "no_cell_available"),
    (7, "plmn_search_normal_service"),
    (8, "normal_service"),
];

pub(super) static REGISTRATION: &[Layout] = &[unversioned(&[
    Part::Block(Block {
        size: 13,
        fields: &[&[
            uint("network_operation_mode", u8(0)),
            uint("service_kind", u8(1)),
            plmn("plmn", 2),
            uint("lac", u16(5)),
            uint("rac", u8(7)),
            uint("available_plmns", u8(8)),
            uint("csg", u32(9)),
        ]],
    }),
    // The same.
    Part::Padding(30),
])];

/// Channel, kind and length of a message of GSM, from byte `$at` on.
macro_rules! gsm {
    ($at:expr, $channels:expr) => {
        &[
            names("direction", bits($at, 7, 7), &[(0, "up"), (1, "down")]),
            names("channel", bits($at, 6, 0), $channels),
            uint("message_kind", u8($at + 1)),
            uint("len_bytes", u8($at + 2)),
        ]
    };
}

pub(super) static GSM_RR: &[Layout] =
    &[unversioned(&[block(3, &[gsm!(0, GSM_CHANNELS)]), message(u8(2))])];

pub(super) static DUAL_GSM_RR: &[Layout] =
    &[unversioned(&[block(4, &[SUBSCRIPTION, gsm!(1, GSM_CHANNELS)]), message(u8(3))])];

pub(super) static GPRS_MAC: &[Layout] =
    &[unversioned(&[block(3, &[gsm!(0, &[(3, "pacch")])]), message(u8(2))])];

/// Bytes after the message do not belong to it: the record is longer than its length field.
pub(super) static GPRS_NAS: &[Layout] = &[unversioned(&[
    block(
        4,
        &[&[
            names("direction", u8(0), &[(0, "up"), (1, "down")]),
            uint("message_kind", u8(1)),
            uint("len_bytes", u16(2)),
        ]],
    ),
    message(u16(2)),
    // Old content of the modem's memory.
    Part::Padding(250),
])];

const GSM_CHANNELS: Names =
    &[(0, "dcch"), (1, "bcch"), (2, "rach"), (3, "ccch"), (4, "sacch"), (5, "sdcch"), (6, "facch")];
