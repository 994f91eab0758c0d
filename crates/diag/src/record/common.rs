//! Names that several records give the same numbers.

use crate::layout::Names;

pub(super) const RNTI: Names = &[
    (0, "c_rnti"),
    (1, "sps_rnti"),
    (2, "p_rnti"),
    (3, "ra_rnti"),
    (4, "temporary_c_rnti"),
    (5, "si_rnti"),
    (6, "tpc_pusch_rnti"),
    (7, "tpc_pucch_rnti"),
    (8, "m_rnti"),
];

/// Component carriers.
pub(super) const CARRIER: Names = &[(0, "pcc"), (1, "scc1"), (2, "scc2"), (3, "scc3"), (4, "scc4")];

/// Serving cells.
pub(super) const CELL: Names = &[
    (0, "pcell"),
    (1, "scell1"),
    (2, "scell2"),
    (3, "scell3"),
    (4, "scell4"),
    (5, "scell5"),
    (6, "scell6"),
    (7, "scell7"),
];

/// Modulations counted from 0.
pub(super) const MODULATION: Names = &[(0, "qpsk"), (1, "16qam"), (2, "64qam"), (3, "256qam")];

pub(super) const PASS: Names = &[(0, "fail"), (1, "pass")];

pub(super) const ACK: Names = &[(0, "nack"), (1, "ack")];

pub(super) const AGGREGATION: Names =
    &[(0, "1"), (1, "2"), (2, "4"), (3, "8"), (6, "16"), (7, "24")];

pub(super) const SEARCH_SPACE: Names = &[(0, "common"), (1, "ue_specific")];

/// Formats of downlink control information (TS 36.212 §5.3.3.1), as the power control records
/// number them.
pub(super) const DCI_FORMAT: Names = &[
    (0, "0"),
    (1, "1"),
    (2, "1a"),
    (3, "1b"),
    (4, "1c"),
    (5, "1d"),
    (6, "2"),
    (7, "2a"),
    (10, "3"),
    (11, "3a"),
    (12, "none"),
    (13, "none"),
];

/// Formats of PUCCH (TS 36.211 Table 5.4-1).
pub(super) const PUCCH_FORMAT: Names = &[
    (0, "1"),
    (1, "1a"),
    (2, "1b"),
    (3, "2"),
    (4, "2a"),
    (5, "2b"),
    (6, "1b_channel_selection"),
    (7, "3"),
];

/// Modes of RLC; of the others no number is known.
pub(super) const BEARER_MODE: Names = &[(1, "am")];

/// Ciphering algorithms (TS 33.401 §5.1.3.2), as PDCP numbers them.
pub(super) const CIPHER: Names = &[(2, "snow_3g"), (3, "aes"), (7, "none")];
