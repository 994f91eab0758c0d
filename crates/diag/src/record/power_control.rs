//! 0xB16E and 0xB16F, PUSCH and PUCCH power control: path loss, commands and the resulting power.
//!
//! 0xB16E versions 4, 5, 25; 0xB16F versions 4 and 24. Source: docs/reference/diag.md, records and
//! layouts; 0xB16E 5 and 25 and both of 0xB16F agree with captures field by field. A command of 31
//! on PUCCH or 15 on PUSCH means no command. Powers are two's complement: otherwise −1 dBm would
//! read as 255.

use super::common::{CELL, DCI_FORMAT, PUCCH_FORMAT};
use crate::layout::{
    Bits, Block, Count, Field, Layout, Names, Part, bits, flag, int, names, u8, u16, uint,
};

const TX_TYPE: Names = &[(1, "dynamic"), (2, "rach_msg3")];

const HEADER: Part =
    Part::Block(Block { size: 4, fields: &[&[uint("version", u8(0)), uint("count", u8(3))]] });

/// The first word, whose time starts at bit `$bit`.
macro_rules! start {
    ($bit:expr) => {
        &[
            uint("frame", bits(0, $bit + 9, $bit)),
            uint("subframe", bits(0, $bit + 13, $bit + 10)),
            int("power_dbm", bits(0, $bit + 21, $bit + 14)),
            names("dci_format", bits(0, $bit + 25, $bit + 22), DCI_FORMAT),
        ]
    };
}

const START: &[Field] = start!(0);
const START_V25: &[Field] = start!(3);
const TYPE: &[Field] = &[names("tx_type", bits(0, 27, 26), TX_TYPE)];
const TYPE_V25: &[Field] = &[
    names("cell", bits(0, 2, 0), CELL),
    names("tx_type", bits(0, 30, 29), TX_TYPE),
    flag("tpc_frozen", 3, 7),
];

const fn f(bits: Bits) -> Field {
    int("f_i_db", bits)
}

const PUSCH_V4: &[Field] = &[
    uint("tb_bytes", bits(4, 13, 0)),
    uint("path_loss_db", bits(4, 21, 14)),
    f(bits(4, 31, 22)),
    int("tpc_db", bits(8, 4, 0)),
    int("actual_power_dbm", bits(8, 12, 5)),
];
const PUSCH: &[Field] = &[
    uint("rbs", u8(4)),
    uint("tb_bytes", bits(4, 21, 8)),
    uint("path_loss_db", bits(4, 29, 22)),
    f(bits(8, 9, 0)),
    int("tpc_db", bits(8, 14, 10)),
    int("actual_power_dbm", bits(8, 22, 15)),
];
const MAX_POWER: &[Field] = &[int("max_power_dbm", bits(8, 30, 23))];

const PUCCH: &[Field] = &[
    names("format", bits(0, 28, 26), PUCCH_FORMAT),
    uint("n_harq", bits(0, 29, 29)),
    int("tpc_db", bits(4, 5, 0)),
    uint("n_cqi", bits(4, 10, 6)),
    int("g_i_db", u16(8)),
    int("actual_power_dbm", u8(10)),
];
const PATH_LOSS_V4: &[Field] = &[uint("path_loss_db", bits(4, 17, 11))];
const PATH_LOSS_V24: &[Field] = &[uint("path_loss_db", bits(4, 18, 11))];

const fn layout(versions: &'static [u32], parts: &'static [Part]) -> Layout {
    Layout { versions, parts }
}

const fn records(parts: &'static [Part]) -> Part {
    Part::List { name: "records", count: Count::Says(u8(3)), parts }
}

const fn record(fields: &'static [&'static [Field]]) -> Part {
    Part::Block(Block { size: 12, fields })
}

pub(super) static PUSCH_LAYOUTS: &[Layout] = &[
    layout(&[4], &[HEADER, records(&[record(&[START, TYPE, PUSCH_V4])])]),
    layout(&[5], &[HEADER, records(&[record(&[START, TYPE, PUSCH])])]),
    layout(&[25], &[HEADER, records(&[record(&[START_V25, TYPE_V25, PUSCH, MAX_POWER])])]),
];

pub(super) static PUCCH_LAYOUTS: &[Layout] = &[
    layout(&[4], &[HEADER, records(&[record(&[START, PUCCH, PATH_LOSS_V4])])]),
    layout(&[24], &[HEADER, records(&[record(&[START, PUCCH, PATH_LOSS_V24])])]),
];
