//! 0xB139, PUSCH transmit report: every uplink transmission, with its grant, its coding and its
//! power.
//!
//! Versions 23, 24, 26, 43, 102, 122, 124, 144, 145, 161, 162. Source: docs/reference/diag.md,
//! records and layouts; 43, 102 and 124 agree with captures field by field, of 161 the structure
//! does. The count of transmissions, the cell and the dispatch time are where they have always
//! been; the rest moves. Power is seven bits of two's complement in dBm from version 43 on, and
//! quarters of a decibel from 161 on.

mod tables;

use alloc::vec::Vec;

use sounding_units::{Bytes, Prb};

pub(super) use self::tables::LAYOUTS;
use self::tables::{
    RECORD_V23, RECORD_V26, RECORD_V43, RECORD_V102, RECORD_V122, RECORD_V124, RECORD_V144,
    RECORD_V161,
};
use super::emit::{EmitError, count, put, whole};
use super::{RecordError, checked};
use crate::LogCode;
use crate::layout::{Bits, Children, Field, Node, Part, bits, field, key, try_key, u8, u16};
use crate::radio::{Decibels, Modulation, Tti};

static KEYS: [Keys; 8] = [
    Keys::of(RECORD_V23),
    Keys::of(RECORD_V26),
    Keys::of(RECORD_V43),
    Keys::of(RECORD_V102),
    Keys::of(RECORD_V122),
    Keys::of(RECORD_V124),
    Keys::of(RECORD_V144),
    Keys::of(RECORD_V161),
];

/// The bit paths of the fields of [`PuschTx`], in one version.
struct Keys {
    tti: Bits,
    carrier: Option<Bits>,
    retx: Bits,
    rv: Bits,
    start_rb: Bits,
    rbs: Bits,
    rbs_cluster_1: Option<Bits>,
    tb_bytes: Bits,
    code_rate: Bits,
    modulation: Bits,
    power: Field,
    dropped: Option<Bits>,
}

impl Keys {
    const fn of(parts: &[Part]) -> Self {
        Self {
            tti: key(parts, "tti"),
            carrier: try_key(parts, "carrier"),
            retx: key(parts, "retx"),
            rv: key(parts, "rv"),
            start_rb: key(parts, "start_rb_slot_0"),
            rbs: key(parts, "rbs"),
            rbs_cluster_1: try_key(parts, "rbs_cluster_1"),
            tb_bytes: key(parts, "tb_bytes"),
            code_rate: key(parts, "code_rate"),
            modulation: key(parts, "modulation"),
            power: field(parts, "power_dbm"),
            dropped: try_key(parts, "dropped"),
        }
    }
}

/// Index of the keys of version 124.
const EMITTED: usize = 5;

impl PuschTx {
    fn fill(&self, keys: &Keys, block: &mut [u8]) -> Result<(), EmitError> {
        let tti = self.tti.ok_or(EmitError::Absent { field: "tti" })?;
        let modulation = self.modulation.ok_or(EmitError::Absent { field: "modulation" })?;
        let dropped = self.dropped.ok_or(EmitError::Absent { field: "dropped" })?;
        let power = self.power.as_whole().filter(|power| (-64..64).contains(power));
        let power = power.ok_or(EmitError::Fraction { field: "power" })?;
        put(block, keys.tti, "tti", u64::from(tti.count()))?;
        put(block, keys.retx, "retx", u64::from(self.retx))?;
        put(block, keys.rv, "rv", u64::from(self.rv))?;
        put(block, keys.start_rb, "start_rb", u64::from(self.start_rb))?;
        put(block, keys.rbs, "rbs", u64::from(self.rbs.count()))?;
        put(block, keys.tb_bytes, "size", self.size.count())?;
        put(block, keys.code_rate, "code_rate", u64::from(self.code_rate_1024))?;
        put(block, keys.modulation, "modulation", u64::from(modulation.order()) + 1)?;
        put(block, keys.power.bits, "power", u64::from(power.cast_unsigned() & 0x7F))?;
        let carrier = keys.carrier.ok_or(EmitError::Absent { field: "carrier" })?;
        put(block, carrier, "carrier", u64::from(self.carrier))?;
        let late = keys.dropped.ok_or(EmitError::Absent { field: "dropped" })?;
        put(block, late, "dropped", u64::from(dropped))
    }
}

/// A PUSCH transmit report.
#[derive(Clone, Copy)]
pub struct PuschTxReport<'a> {
    node: Node<'a>,
    keys: &'static Keys,
}

/// One uplink transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PuschTx {
    /// When it went out; `None` if the record has no valid subframe.
    pub tti: Option<Tti>,
    /// Uplink carrier, 0 for the primary; 0 in versions that know one carrier only.
    pub carrier: u8,
    /// Number of earlier transmissions of the block: 0 for a first one.
    pub retx: u8,
    /// Redundancy version, 0..=3.
    pub rv: u8,
    /// First resource block in the first slot.
    pub start_rb: u8,
    /// Resource blocks in each slot, those of a second cluster included (TS 36.213 §8.1.2).
    pub rbs: Prb,
    /// Transport block.
    pub size: Bytes,
    /// Effective code rate in 1/1024: the block and its CRC over the channel bits.
    pub code_rate_1024: u16,
    /// Modulation; `None` for a number without a meaning.
    pub modulation: Option<Modulation>,
    /// Transmit power, dBm.
    pub power: Decibels,
    /// The modem was too late and did not transmit; unknown before version 102 and from 161 on.
    pub dropped: Option<bool>,
}

impl<'a> PuschTxReport<'a> {
    /// The log code.
    pub const CODE: LogCode = LogCode::new(0xB139);

    /// Reads the body of a record.
    ///
    /// # Errors
    ///
    /// [`RecordError::Unsupported`] if the version is not described; [`RecordError::Corrupt`] if
    /// the body is too short for it.
    pub fn parse(body: &'a [u8]) -> Result<Self, RecordError> {
        let (node, index) = checked(Self::CODE, LAYOUTS, body)?;
        Ok(Self { node, keys: &KEYS[index] })
    }

    /// Appends the body of a record of version 124; parsing it gives the same values back.
    ///
    /// At most 31 transmissions, of whole decibels and known modulation up to 64-QAM.
    ///
    /// # Errors
    ///
    /// [`EmitError::Count`] if there are more than 31 transmissions; another [`EmitError`] if a
    /// value does not fit its field, or is unknown where the record always has it.
    pub fn emit(
        pci: u16,
        dispatched: Tti,
        transmissions: &[PuschTx],
        out: &mut Vec<u8>,
    ) -> Result<(), EmitError> {
        let keys = &KEYS[EMITTED];
        let records = count("transmissions", transmissions.len(), 31)?;
        let mut header = [0; 8];
        put(&mut header, u8(0), "version", 124)?;
        put(&mut header, bits(1, 8, 0), "pci", u64::from(pci))?;
        put(&mut header, bits(1, 13, 9), "count", records)?;
        put(&mut header, u16(4), "dispatched", u64::from(dispatched.count()))?;
        whole(out, |out| {
            out.extend_from_slice(&header);
            transmissions.iter().try_for_each(|transmission| {
                let mut block = [0; 84];
                transmission.fill(keys, &mut block)?;
                out.extend_from_slice(&block);
                Ok(())
            })
        })
    }

    /// Physical identity of the serving cell, 0..=503.
    pub fn pci(&self) -> u16 {
        self.node.read(bits(1, 8, 0)) as u16
    }

    /// When the report was put together.
    pub fn dispatched(&self) -> Option<Tti> {
        Tti::from_count(self.node.read(u16(4)))
    }

    /// The transmissions, oldest first.
    pub fn transmissions(&self) -> Transmissions<'a> {
        Transmissions { nodes: self.node.list("transmissions"), keys: self.keys }
    }
}

impl core::fmt::Debug for PuschTxReport<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_list().entries(self.transmissions()).finish()
    }
}

/// The transmissions of a report.
pub struct Transmissions<'a> {
    nodes: Children<'a>,
    keys: &'static Keys,
}

impl Iterator for Transmissions<'_> {
    type Item = PuschTx;

    #[inline]
    fn next(&mut self) -> Option<PuschTx> {
        let (node, keys) = (self.nodes.next()?, self.keys);
        Some(PuschTx {
            tti: Tti::from_count(node.read(keys.tti)),
            carrier: keys.carrier.map_or(0, |bits| node.read(bits) as u8),
            retx: node.read(keys.retx) as u8,
            rv: node.read(keys.rv) as u8,
            start_rb: node.read(keys.start_rb) as u8,
            rbs: Prb::new(
                (node.read(keys.rbs) + keys.rbs_cluster_1.map_or(0, |bits| node.read(bits))) as u16,
            ),
            size: Bytes::new(node.read(keys.tb_bytes)),
            code_rate_1024: node.read(keys.code_rate) as u16,
            modulation: node.read(keys.modulation).checked_sub(1).and_then(Modulation::from_order),
            power: keys.power.decibels(node.bytes()).unwrap_or_default(),
            dropped: keys.dropped.map(|bits| node.read(bits) != 0),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    /// A transmission of version 124 with its first words as a modem wrote them and the rest zero.
    fn v124() -> Vec<u8> {
        let mut body = vec![124, 0x22, 0x03, 0x00, 0xBD, 0x1C, 0, 0];
        // Subframe 7350; first transmission; blocks 93 and up, four of them; 77 bytes at 0.555.
        body.extend_from_slice(&[0xB6, 0x1C, 0x00, 0x00, 0xBA, 0x5D, 0x02, 0x00]);
        body.extend_from_slice(&[77, 0, 0x38, 0x02, 0, 0, 0, 0, 0, 0, 0, 0]);
        // QPSK and gain; 8 dBm.
        body.extend_from_slice(&[0x0D, 0x03, 0x00, 0x00, 0x08, 0, 0, 0]);
        body.resize(8 + 84, 0);
        body
    }

    #[test]
    fn known_bytes_are_the_transmission_they_were() {
        let body = v124();
        let report = PuschTxReport::parse(&body).unwrap();
        assert_eq!((report.pci(), report.dispatched()), (290, Tti::from_count(7357)));
        let found: Vec<_> = report.transmissions().collect();
        let wanted = PuschTx {
            tti: Tti::from_count(7350),
            carrier: 0,
            retx: 0,
            rv: 0,
            start_rb: 93,
            rbs: Prb::new(4),
            size: Bytes::new(77),
            code_rate_1024: 568,
            modulation: Some(Modulation::Qpsk),
            power: Decibels::whole(8),
            dropped: Some(false),
        };
        assert_eq!(found, vec![wanted]);
    }

    #[test]
    fn power_below_one_milliwatt_is_negative() {
        let mut body = v124();
        body[8 + 24] = 114;
        let report = PuschTxReport::parse(&body).unwrap();
        let power = report.transmissions().next().map(|transmission| transmission.power);
        assert_eq!(power, Some(Decibels::whole(-14)));
    }

    #[test]
    fn later_modems_write_power_in_quarters() {
        let mut body = vec![0; 108];
        (body[0], body[2]) = (161, 2);
        body[8 + 46] = 0x48;
        let report = PuschTxReport::parse(&body).unwrap();
        let power = report.transmissions().next().map(|transmission| transmission.power.as_f64());
        assert_eq!(power, Some(16.5));
    }

    #[test]
    fn values_outside_version_124_are_refused_and_leave_nothing_behind() {
        let body = v124();
        let report = PuschTxReport::parse(&body).unwrap();
        let whole = report.transmissions().next().unwrap();
        let refusals = [
            (PuschTx { tti: None, ..whole }, EmitError::Absent { field: "tti" }),
            (PuschTx { retx: 32, ..whole }, EmitError::Range { field: "retx", value: 32 }),
            (
                PuschTx { power: Decibels::sixteenths(1), ..whole },
                EmitError::Fraction { field: "power" },
            ),
            (
                PuschTx { modulation: Some(Modulation::Qam256), ..whole },
                EmitError::Range { field: "modulation", value: 4 },
            ),
        ];
        for (transmission, refusal) in refusals {
            let mut out = vec![7];
            let refused =
                PuschTxReport::emit(290, Tti::default(), &[whole, transmission], &mut out);
            assert_eq!((refused, out), (Err(refusal), vec![7]));
        }
    }
}
