//! 0xB16D, ML1's orders to the transmitter in each subframe: PUSCH with its block, or PUCCH.
//!
//! Version 49. Source: docs/reference/diag.md, records and layouts; no capture has it. A record is
//! PUSCH if the total power is not negative: the source uses this rule, and has no better one.

use super::common::CARRIER;
use crate::layout::{
    Block, Count, Field, Layout, Names, Part, bits, flag, int, names, u8, u16, uint,
};

const MODULATION: Names = &[(1, "qpsk"), (2, "16qam"), (3, "64qam"), (4, "256qam")];

const DUPLEX_MODE: Names = &[(0, "fdd"), (1, "tdd")];

/// Limits of power, with which both kinds end.
const LIMITS: &[Field] = &[
    int("carrier_max_power_dbm", u8(16)),
    int("max_power_dbm", u8(17)),
    int("chain_0_max_power_dbm", u8(18)),
    int("chain_1_max_power_dbm", u8(19)),
    int("frequency_error", u16(20)),
];

const PUSCH: &[Field] = &[
    uint("tb_bytes", bits(0, 12, 1)),
    uint("ack_len", bits(0, 17, 15)),
    uint("rv", bits(0, 19, 18)),
    uint("harq", bits(0, 22, 20)),
    uint("retx", bits(0, 25, 23)),
    names("modulation", bits(0, 30, 28), MODULATION),
    uint("start_rb", bits(4, 6, 0)),
    uint("rbs", bits(4, 13, 7)),
    uint("mcs", bits(4, 18, 14)),
    uint("beta_pusch", bits(8, 26, 14)),
    uint("antennas", bits(8, 31, 30)),
    uint("dmrs_cyclic_shift", bits(12, 2, 0)),
    flag("hopping", 12, 3),
    uint("ack_offset_index", bits(12, 7, 4)),
    uint("cqi_offset_index", bits(13, 7, 4)),
    uint("ri_offset_index", bits(14, 3, 0)),
    uint("n_dmrs", bits(14, 8, 6)),
];

const PUCCH: &[Field] = &[
    uint("ack_len", bits(0, 1, 0)),
    flag("scheduling_request", 0, 2),
    flag("temporary_rnti_ack", 0, 3),
    uint("beta_pucch", bits(0, 19, 4)),
    uint("n1_pucch", bits(0, 27, 20)),
];

/// The total power is eight bits of two's complement: bit 13 is its sign.
const fn kind(name: &'static str, sign: &'static [u64], parts: &'static [Part]) -> Part {
    Part::List { name, count: Count::When(bits(2, 13, 13), sign), parts }
}

pub(super) static LAYOUTS: &[Layout] = &[Layout {
    versions: &[49],
    parts: &[
        Part::Block(Block {
            size: 4,
            fields: &[&[
                uint("version", u8(0)),
                uint("ul_dl_configuration", bits(1, 5, 2)),
                names("duplex_mode", bits(1, 7, 6), DUPLEX_MODE),
                uint("count", u8(3)),
            ]],
        }),
        Part::List {
            name: "records",
            count: Count::Says(u8(3)),
            parts: &[
                Part::Block(Block {
                    size: 8,
                    fields: &[&[
                        uint("frame", bits(4, 13, 4)),
                        uint("subframe", bits(4, 17, 14)),
                        flag("ack_present", 6, 2),
                        uint("ack_mode", bits(4, 22, 20)),
                        flag("csf_present", 6, 7),
                        flag("cell_srs", 7, 0),
                        flag("carrier_aggregation", 7, 1),
                        flag("srs_present", 7, 5),
                        names("carrier", bits(7, 7, 6), CARRIER),
                    ]],
                }),
                Part::List {
                    name: "aggregation",
                    count: Count::When(bits(7, 1, 1), &[1]),
                    parts: &[Part::Block(Block { size: 12, fields: &[] })],
                },
                Part::Block(Block {
                    size: 4,
                    fields: &[&[
                        uint("ul_dai", bits(2, 4, 4)),
                        flag("eca_ack_mode", 2, 5),
                        int("power_dbm", bits(2, 13, 6)),
                    ]],
                }),
                kind("pusch", &[0], &[Part::Block(Block { size: 24, fields: &[PUSCH, LIMITS] })]),
                kind("pucch", &[1], &[Part::Block(Block { size: 24, fields: &[PUCCH, LIMITS] })]),
            ],
        },
    ],
}];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::key;

    #[test]
    fn a_tdd_cell_says_so_beside_its_configuration() {
        // Duplex mode 1 in the two highest bits, configuration 5 in the four below them.
        let body = [49, 1 << 6 | 5 << 2, 0, 0];
        let node = LAYOUTS[0].node(&body).unwrap();
        let read = |name| node.read(key(LAYOUTS[0].parts, name));
        assert_eq!((read("duplex_mode"), read("ul_dl_configuration")), (1, 5));
    }
}
