//! 0xB193, serving cell measurement: signal strength and quality of the serving cells.
//!
//! Packet version 1 with sub-packet 25 of versions 4, 7, 18, 19, 22, 24, 35, 36, 40, 41, 48, 50,
//! 57, 59, 60, 66. Source: docs/reference/diag.md, records and layouts; 4, 18, 19 and 36 agree with
//! captures field by field, 41, 57, 59 and 60 with published payloads. In 48, 50 and 60 the words
//! after the third RSRP are one word later than in the notes, as in 40. Read this way, the combined
//! values are those of the best antenna in every vector and capture. By its source, 66 is 48 with
//! eight bytes before each cell, up to RSSI; the words after it have other meanings. 41 has the
//! cells of 48. In 57, 59 and 60 the SNR is unknown; the levels after cancelling interference are
//! where the RSRQ equals the combined one in every vector.

mod tables;

pub(super) use self::tables::LAYOUTS;

use self::tables::{
    CELL_V19, CELL_V22, CELL_V24, CELL_V35, CELL_V36, CELL_V40, CELL_V48, CELL_V57, CELL_V60,
    CELL_V66, V4, V7, V18,
};
use super::{RecordError, checked_sub_packets};
use crate::LogCode;
use crate::layout::{Bits, Field, Node, Part, field, key, try_field, try_key, u16, u32};
use crate::radio::{Decibels, Tti};

/// The fields of [`CellMeasurement`], in one version.
struct Keys {
    version: u8,
    earfcn: Bits,
    pci: Bits,
    cell: Bits,
    serving: Option<Bits>,
    frame: Bits,
    subframe: Bits,
    rsrp: Field,
    rsrq: Field,
    rssi: Field,
    snr: [Option<Field>; 2],
}

impl Keys {
    const fn of(version: u8, earfcn: Bits, parts: &[Part]) -> Self {
        Self {
            version,
            earfcn,
            pci: key(parts, "pci"),
            cell: key(parts, "cell"),
            serving: try_key(parts, "serving"),
            frame: key(parts, "frame"),
            subframe: key(parts, "subframe"),
            rsrp: field(parts, "rsrp_dbm"),
            rsrq: field(parts, "rsrq_db"),
            rssi: field(parts, "rssi_dbm"),
            snr: [try_field(parts, "snr_rx0_db"), try_field(parts, "snr_rx1_db")],
        }
    }
}

static KEYS: [Keys; 15] = [
    Keys::of(4, u16(0), V4),
    Keys::of(7, u32(0), V7),
    Keys::of(18, u32(0), V18),
    Keys::of(19, u32(0), CELL_V19),
    Keys::of(22, u32(0), CELL_V22),
    Keys::of(24, u32(0), CELL_V24),
    Keys::of(35, u32(0), CELL_V35),
    Keys::of(36, u32(0), CELL_V36),
    Keys::of(40, u32(0), CELL_V40),
    Keys::of(41, u32(0), CELL_V48),
    Keys::of(48, u32(0), CELL_V48),
    Keys::of(57, u32(0), CELL_V57),
    Keys::of(59, u32(0), CELL_V60),
    Keys::of(60, u32(0), CELL_V60),
    Keys::of(66, u32(0), CELL_V66),
];

fn keys(version: u8) -> &'static Keys {
    let at = KEYS.partition_point(|keys| keys.version <= version);
    &KEYS[at.saturating_sub(1)]
}

/// A serving cell measurement.
#[derive(Clone, Copy)]
pub struct ServingCells<'a> {
    node: Node<'a>,
}

/// One cell's levels, combined over antennas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellMeasurement {
    /// Downlink channel number (TS 36.101 §5.7.3).
    pub earfcn: u32,
    /// Physical cell identity, 0..=503.
    pub pci: u16,
    /// Serving cell, 0 for the primary.
    pub cell: u8,
    /// Whether it serves, or is only measured; unknown before version 19.
    pub serving: Option<bool>,
    /// When; `None` if the record has no valid subframe.
    pub tti: Option<Tti>,
    /// Reference signal received power, dBm; `None` if nothing was received.
    pub rsrp: Option<Decibels>,
    /// Reference signal received quality, dB; `None` if nothing was received.
    pub rsrq: Option<Decibels>,
    /// Received signal strength, dBm; `None` if nothing was received.
    pub rssi: Option<Decibels>,
    /// Signal to noise ratio of the first two antennas, dB; of one that is not there none, and
    /// unknown in version 60.
    pub snr: [Option<Decibels>; 2],
}

impl<'a> ServingCells<'a> {
    /// The log code.
    pub const CODE: LogCode = LogCode::new(0xB193);

    /// Reads the body of a record.
    ///
    /// # Errors
    ///
    /// [`RecordError::Unsupported`] if the version, or every sub-packet, is not described;
    /// [`RecordError::Corrupt`] if the body is too short for it.
    pub fn parse(body: &'a [u8]) -> Result<Self, RecordError> {
        checked_sub_packets(Self::CODE, LAYOUTS, body).map(|node| Self { node })
    }

    /// The cells of all sub-packets that are described.
    pub fn cells(&self) -> impl Iterator<Item = CellMeasurement> + use<'a> {
        self.node.sub_packets().flat_map(|sub| {
            let keys = keys(sub.version);
            // Versions before 19 hold one cell, in the sub-packet itself.
            let (single, list) = match sub.node {
                Some(node) if sub.version < 19 => (Some(node), None),
                node => (None, node.map(|node| node.list("cells"))),
            };
            let earfcn = sub.node.map_or(0, |node| node.read(keys.earfcn)) as u32;
            let nodes = single.into_iter().chain(list.into_iter().flatten());
            nodes.map(move |node| keys.measurement(earfcn, &node))
        })
    }
}

impl Keys {
    fn measurement(&self, earfcn: u32, node: &Node<'_>) -> CellMeasurement {
        let level = |field: &Field| field.decibels(node.bytes());
        CellMeasurement {
            earfcn,
            pci: node.read(self.pci) as u16,
            cell: node.read(self.cell) as u8,
            serving: self.serving.map(|bits| node.read(bits) != 0),
            tti: Tti::new(node.read(self.frame) as u16, node.read(self.subframe) as u8),
            rsrp: level(&self.rsrp),
            rsrq: level(&self.rsrq),
            rssi: level(&self.rssi),
            snr: [self.snr[0].as_ref().and_then(level), self.snr[1].as_ref().and_then(level)],
        }
    }
}

impl core::fmt::Debug for ServingCells<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_list().entries(self.cells()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_antenna_that_a_modem_of_lte_m_does_not_have_is_absent() {
        // One sub-packet of version 18: RSRP of −140 dBm, RSRQ of −30 dB and RSSI of −10 dBm for
        // the second antenna.
        let mut body = [0_u8; 100];
        body[..8].copy_from_slice(&[1, 1, 0, 0, 25, 18, 96, 0]);
        let words =
            [1722 << 10, 640 << 12, 1722 << 12, 173 << 12, 173 << 20, 1600 << 21 | 1132 << 10];
        for (word, at) in words.into_iter().zip((28..).step_by(4)) {
            body[at..at + 4].copy_from_slice(&u32::to_le_bytes(word));
        }
        let mut found = alloc::vec::Vec::new();
        let node = checked_sub_packets(ServingCells::CODE, LAYOUTS, &body).expect("described");
        let sub = node.sub_packets().next().and_then(|sub| sub.node).expect("described");
        for name in ["rsrp_rx0_dbm", "rsrq_rx0_db", "rssi_rx0_dbm", "rsrp_dbm"] {
            found.push(try_field(V18, name).and_then(|field| field.value(sub.bytes())).is_some());
        }
        assert_eq!(found, [true; 4]);
        for name in ["rsrp_rx1_dbm", "rsrq_rx1_db", "rssi_rx1_dbm", "snr_rx1_db"] {
            let field = try_field(V18, name).expect("it has the field");
            assert_eq!(field.value(sub.bytes()), None, "{name}");
        }
        let cells = ServingCells::parse(&body).expect("described").cells().next().expect("one");
        assert_eq!(cells.rsrp, Some(Decibels::from_f64(-72.375)));
        assert_eq!(cells.snr[1], None);
    }
}
