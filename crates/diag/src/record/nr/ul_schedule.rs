//! 0xB883, uplink channel schedule: every transmission of every slot: shared and control channel,
//! sounding, access.
//!
//! Versions 2.8, 2.11, 2.17 and 3.15. Of the three of version 2 different sources read different
//! fields, at the same places; where they differ about widths (I_MCS has five bits, and the block
//! size begins at the fourth bit of its byte) the readings that TS 38.214 allows are taken, and
//! what follows the shared channel is that of the source that has it. 3.15 has one source; the
//! carrier's number and the fourth bit of a HARQ process are not public there. None is
//! in a capture.

mod tables;

use alloc::vec::Vec;

use sounding_units::{Bytes, Prb};

pub(in super::super) use self::tables::LAYOUTS;
use self::tables::{CARRIER_V2, CARRIER_V3, PUSCH_V2, PUSCH_V3, SLOT_V2, SLOT_V3};
use super::{slot_keys, slot_of};
use crate::LogCode;
use crate::layout::{Bits, Node, Part, key, try_key};
use crate::radio::{Modulation, Slot};
use crate::record::emit::{EmitError, count, put, whole};
use crate::record::{RecordError, checked};

static KEYS: [Keys; 2] =
    [Keys::of(SLOT_V2, CARRIER_V2, PUSCH_V2), Keys::of(SLOT_V3, CARRIER_V3, PUSCH_V3)];

/// The bit paths of the fields of [`NrPusch`], in one version.
struct Keys {
    slot: slot_keys::Keys,
    carrier: Option<Bits>,
    size: Bits,
    mcs: Bits,
    start_rb: Bits,
    rbs: Bits,
    rv: Bits,
    harq: Bits,
    k2: Bits,
    modulation: Bits,
    transform_precoding: Bits,
    tx_type: Option<Bits>,
}

impl Keys {
    const fn of(slot: &[Part], carrier: &[Part], pusch: &[Part]) -> Self {
        Self {
            slot: slot_keys::Keys::of(slot),
            carrier: try_key(carrier, "carrier"),
            size: key(pusch, "tb_bytes"),
            mcs: key(pusch, "mcs"),
            start_rb: key(pusch, "start_rb"),
            rbs: key(pusch, "rbs"),
            rv: key(pusch, "rv"),
            harq: key(pusch, "harq"),
            k2: key(pusch, "k2"),
            modulation: key(pusch, "modulation"),
            transform_precoding: key(pusch, "transform_precoding"),
            tx_type: try_key(pusch, "tx_type"),
        }
    }
}

/// A record of scheduled uplink transmissions.
#[derive(Clone, Copy, Debug)]
pub struct NrUplinkSchedule<'a> {
    node: Node<'a>,
    version: usize,
}

/// One transmission of the uplink shared channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NrPusch {
    /// When it is sent.
    pub slot: Option<Slot>,
    /// Component carrier, 0..=3; version 3 lacks it.
    pub carrier: Option<u8>,
    /// Size of the transport block.
    pub size: Bytes,
    /// I_MCS, 0..=31; which table it counts in is configured.
    pub mcs: u8,
    /// First resource block.
    pub start_rb: u16,
    /// Resource blocks.
    pub rbs: Prb,
    /// Redundancy version, 0..=3.
    pub rv: u8,
    /// HARQ process; of version 3.15 the lower three bits.
    pub harq: u8,
    /// Slots from the grant to the transmission.
    pub k2: u8,
    /// Modulation.
    pub modulation: Option<Modulation>,
    /// Single-carrier transmission.
    pub transform_precoding: bool,
    /// Whether it is a first transmission; version 3 lacks it.
    pub new: Option<bool>,
}

const fn modulation_of(number: u64) -> Option<Modulation> {
    match number {
        1..=4 => Modulation::from_order(number - 1),
        _ => None,
    }
}

impl NrPusch {
    fn read(slot: Option<Slot>, carrier: Option<u8>, pusch: Node<'_>, keys: &Keys) -> Self {
        let number = |bits| pusch.read(bits) as u8;
        Self {
            slot,
            carrier,
            size: Bytes::new(pusch.read(keys.size)),
            mcs: number(keys.mcs),
            start_rb: pusch.read(keys.start_rb) as u16,
            rbs: Prb::new(pusch.read(keys.rbs) as u16),
            rv: number(keys.rv),
            harq: number(keys.harq),
            k2: number(keys.k2),
            modulation: modulation_of(pusch.read(keys.modulation)),
            transform_precoding: pusch.read(keys.transform_precoding) != 0,
            new: keys.tx_type.map(|bits| pusch.read(bits) == 0),
        }
    }

    /// Writes a slot with this transmission as version 3.15 does.
    fn fill(&self, out: &mut [u8; 60]) -> Result<(), EmitError> {
        let keys = &KEYS[1];
        for (field, value) in [("carrier", self.carrier), ("new", self.new.map(u8::from))] {
            if let Some(value) = value {
                return Err(EmitError::Range { field, value: value.into() });
            }
        }
        let modulation = self.modulation.ok_or(EmitError::Absent { field: "modulation" })?;
        let (head, rest) = out.split_at_mut(4);
        let (carrier, pusch) = rest.split_at_mut(20);
        keys.slot.fill(self.slot, head)?;
        put(head, key(SLOT_V3, "carrier_count"), "carriers", 1)?;
        put(carrier, key(CARRIER_V3, "has_pusch"), "channels", 1)?;
        put(pusch, keys.size, "size", self.size.count())?;
        put(pusch, keys.mcs, "mcs", self.mcs.into())?;
        put(pusch, keys.start_rb, "start_rb", self.start_rb.into())?;
        put(pusch, keys.rbs, "rbs", self.rbs.count().into())?;
        put(pusch, keys.rv, "rv", self.rv.into())?;
        put(pusch, keys.harq, "harq", self.harq.into())?;
        put(pusch, keys.k2, "k2", self.k2.into())?;
        put(pusch, keys.modulation, "modulation", u64::from(modulation.order()) + 1)?;
        put(pusch, keys.transform_precoding, "precoding", self.transform_precoding.into())
    }
}

impl<'a> NrUplinkSchedule<'a> {
    /// The log code.
    pub const CODE: LogCode = LogCode::new(0xB883);

    /// Reads the body of a record.
    ///
    /// # Errors
    ///
    /// [`RecordError::Unsupported`] if the version is not described; [`RecordError::Corrupt`] if
    /// the body is too short for it.
    pub fn parse(body: &'a [u8]) -> Result<Self, RecordError> {
        checked(Self::CODE, LAYOUTS, body).map(|(node, version)| Self { node, version })
    }

    /// Appends the body of a record of version 3.15; parsing it gives the same values back.
    ///
    /// # Errors
    ///
    /// [`EmitError::Count`] if there are more than 255 transmissions; another [`EmitError`] if a
    /// value does not fit its field, or is unknown where the record always has it.
    pub fn emit(transmissions: &[NrPusch], out: &mut Vec<u8>) -> Result<(), EmitError> {
        whole(out, |out| {
            let count = count("transmissions", transmissions.len(), 255)? as u8;
            out.extend([15, 0, 3, 0, 0, 0, 0, count]);
            for transmission in transmissions {
                let mut bytes = [0; 60];
                transmission.fill(&mut bytes)?;
                out.extend_from_slice(&bytes);
            }
            Ok(())
        })
    }

    /// The transmissions of the uplink shared channel, in the order of the record.
    pub fn transmissions(&self) -> impl Iterator<Item = NrPusch> + use<'a> {
        let keys = &KEYS[self.version];
        self.node.list("slots").flat_map(move |item| {
            let slot = slot_of(&keys.slot, item);
            item.list("carriers").flat_map(move |item| {
                let carrier = keys.carrier.map(|bits| item.read(bits) as u8);
                item.list("pusch").map(move |pusch| NrPusch::read(slot, carrier, pusch, keys))
            })
        })
    }
}
