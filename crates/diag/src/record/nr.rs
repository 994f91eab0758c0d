//! NR records: RRC's view of the cell, PDCP, RLC, MAC, and the measurements below them.
//!
//! A version is a word: the minor version in its lower half, the major one in its upper; the oldest
//! records have small numbers instead. Sources: docs/reference/diag.md, records and layouts.
//! [`super::evidence`] lists the evidence for each layout.

pub(crate) mod ca_combos;
pub(crate) mod cdrx;
pub(crate) mod cell;
pub(crate) mod csf;
pub(crate) mod dci;
pub(crate) mod dl_data;
pub(crate) mod dl_tb_report;
pub(crate) mod flow_control;
pub(crate) mod l2_config;
pub(crate) mod l2_data;
pub(crate) mod ll1;
pub(crate) mod ml1;
pub(crate) mod pdcp;
pub(crate) mod pdsch_stats;
pub(crate) mod pdsch_status;
pub(crate) mod rach;
pub(crate) mod rlc;
pub(crate) mod searcher;
pub(crate) mod uci;
pub(crate) mod ul_block;
pub(crate) mod ul_bsr;
pub(crate) mod ul_schedule;
pub(crate) mod ul_tb_stats;

use crate::layout::{Block, Field, Names, Part, bits, flag, names, u8, u16, uint};

/// The version, which every record begins with.
const VERSION: &[Field] = &[uint("version_minor", u16(0)), uint("version_major", u16(2))];

/// The beginning of most MAC records of version 2.
const MAC_HEAD: &[Field] = &[
    flag("sleep", 4, 0),
    flag("beam_change", 5, 0),
    flag("signal_change", 6, 0),
    flag("downlink_dynamic_change", 7, 0),
    uint("downlink_config", u8(8)),
    uint("uplink_config", bits(9, 3, 0)),
    uint("ml1_state_change", bits(9, 7, 4)),
    uint("changed_fields", u16(12)),
    uint("record_count", u8(15)),
];

/// The header of most MAC records of version 2.
const HEADER_2: Part = Part::Block(Block { size: 16, fields: &[VERSION, MAC_HEAD] });

const RECORD_COUNT_3: &[Field] = &[uint("record_count", u8(7))];

/// The header of most MAC records of version 3.
const HEADER_3: Part = Part::Block(Block { size: 8, fields: &[VERSION, RECORD_COUNT_3] });

/// Subcarrier spacings, which number the slots of a frame (TS 38.211 Table 4.2-1).
const NUMEROLOGY: Names = &[
    (0, "15khz"),
    (1, "30khz"),
    (2, "60khz"),
    (3, "120khz"),
    (4, "240khz"),
    (5, "480khz"),
    (6, "960khz"),
];

/// Time of an item: slot, numerology and frame, at the beginning of items in most MAC records.
const SLOT: &[Field] = &[
    uint("slot", u8(0)),
    names("numerology", bits(1, 2, 0), NUMEROLOGY),
    uint("frame", bits(2, 9, 0)),
];

/// Identities a channel is addressed to or scrambled with.
const RNTI: Names =
    &[(0, "c_rnti"), (1, "temporary_c_rnti"), (2, "si_rnti"), (4, "p_rnti"), (8, "ra_rnti")];

/// Formats of downlink control information (TS 38.212 §7.3.1).
const DCI_FORMAT: Names = &[(0, "0_0"), (1, "0_1"), (2, "1_0"), (3, "1_1")];

/// Acknowledged and unacknowledged mode of RLC, as far as the numbers are known.
const RB_MODE: Names = &[(1, "am")];

const RB_TYPE: Names = &[(1, "srb"), (2, "drb")];

/// Lengths of RLC sequence numbers.
const SN_LENGTH: Names = &[(0, "12"), (1, "18")];

const BSR_TYPE: Names = &[(0, "none"), (1, "short"), (2, "long"), (5, "cancelled")];

const BSR_REASON: Names =
    &[(0, "none"), (1, "periodic"), (4, "high_data"), (5, "periodic_and_high_data")];

/// The bit paths of a slot.
mod slot_keys {
    use crate::layout::{Bits, Node, Part, key, try_key};
    use crate::radio::Slot;
    use crate::record::emit::{EmitError, put};

    /// The bit paths of a slot, in one version.
    pub(super) struct Keys {
        frame: Bits,
        slot: Bits,
        numerology: Option<Bits>,
    }

    impl Keys {
        pub(super) const fn of(parts: &[Part]) -> Self {
            Self {
                frame: key(parts, "frame"),
                slot: key(parts, "slot"),
                numerology: try_key(parts, "numerology"),
            }
        }

        /// Writes what [`slot_of`] reads.
        pub(super) fn fill(&self, slot: Option<Slot>, block: &mut [u8]) -> Result<(), EmitError> {
            let slot = slot.ok_or(EmitError::Absent { field: "slot" })?;
            put(block, self.frame, "slot", slot.frame().into())?;
            put(block, self.slot, "slot", slot.slot().into())?;
            match (self.numerology, slot.numerology()) {
                (Some(bits), Some(numerology)) => put(block, bits, "numerology", numerology.into()),
                (Some(_), None) => Err(EmitError::Absent { field: "numerology" }),
                (None, _) => Ok(()),
            }
        }
    }

    /// The slot of an item; `None` if there is no such slot.
    pub(super) fn slot_of(keys: &Keys, item: Node<'_>) -> Option<Slot> {
        let numerology = keys.numerology.map(|bits| item.read(bits) as u8);
        Slot::new(item.read(keys.frame) as u16, item.read(keys.slot) as u8, numerology)
    }
}

use slot_keys::slot_of;
