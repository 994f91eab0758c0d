use sounding_diag::LogCode;
use sounding_estimate::Direction;
use sounding_phy::lte::TbsIndex;
use sounding_units::{Bytes, ModemInstant, Prb};

/// The layer whose record a grant was read from. One transport block appears once on each layer
/// that is logged, so an estimator counts one layer only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layer {
    /// PUSCH transmit reports, PDSCH statistics and demapper configurations.
    Phy,
    /// MAC transport block records, which also have the block's padding.
    Mac,
}

/// One transport block that the network granted for one LTE subframe or one NR slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// The subframe or slot, on the modem's clock.
    pub at: ModemInstant,
    /// Uplink or downlink.
    pub direction: Direction,
    /// Component carrier: 0 is the primary cell, also if the record does not name the carrier.
    pub carrier: u8,
    /// HARQ process, if the record has it: blocks of one process on one carrier are repeats until
    /// a new one comes.
    pub harq: Option<u8>,
    /// New data indicator, which toggles with each new block of a process, if the record has it.
    pub ndi: Option<bool>,
    /// The layer that reported it.
    pub layer: Layer,
    /// The log record that reported it.
    pub code: LogCode,
    /// Size of the transport block, without its CRC.
    pub size: Bytes,
    /// Padding of the block; only MAC records have it.
    pub padding: Option<Bytes>,
    /// True for a retransmission: it uses resource blocks but carries no new data.
    pub retransmission: bool,
    /// Whether the CRC passed; only downlink PHY records have it.
    pub decoded: Option<bool>,
    /// The parameters of the block's size, if the record has them.
    pub allocation: Option<Allocation>,
    /// The buffer status report in the block; only uplink MAC records have it.
    pub report: Option<BufferStatus>,
}

/// The bytes that a device reports as waiting, without the report's own block: a range of bytes,
/// all logical channels together (TS 36.321 §6.1.3.1, TS 38.321 §6.1.3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferStatus {
    /// No less than this.
    pub least: Bytes,
    /// At most this; for the open-ended range, the same as its lower end.
    pub most: Bytes,
}

impl core::iter::Sum for BufferStatus {
    fn sum<I: Iterator<Item = Self>>(ranges: I) -> Self {
        let nothing = Self { least: Bytes::ZERO, most: Bytes::ZERO };
        ranges.fold(nothing, |sum, range| Self {
            least: sum.least + range.least,
            most: sum.most + range.most,
        })
    }
}

/// The parameters of a transport block's size (BISCAY §3.2.2, Equation 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// Resource blocks granted.
    pub prb: Prb,
    /// How the block is coded.
    pub coding: Coding,
    /// Spatial layers that this block is mapped to, if the record has them. Range 1..=4.
    pub layers: Option<u8>,
}

/// How a record gives the modulation and coding of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    /// Row of LTE's transport block size table.
    Lte(TbsIndex),
    /// I_MCS of NR, 0..=31. Which table it counts in is configured, and so is how many symbols a
    /// slot has for it.
    Nr(u8),
    /// The block of an interval of HSPA, which counts as one resource block, whatever its codes.
    /// Only generators make it.
    Hspa,
}

impl Allocation {
    /// The size from LTE's tables for this allocation. `None` if they have no entry or the record
    /// has too few fields, as those of NR.
    pub fn size(&self) -> Option<Bytes> {
        let Coding::Lte(index) = self.coding else { return None };
        let bits = sounding_phy::lte::tbs_bits(index, self.prb, self.layers?)?;
        Some(Bytes::new(u64::from(bits / 8)))
    }
}

/// Signal strength of a serving cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Signal {
    /// When it was measured, on the modem's clock.
    pub at: ModemInstant,
    /// Physical cell identity. Range 0..=503 in LTE, 0..=1007 in NR.
    pub cell: u16,
    /// Its number among the serving cells, 0 for the primary; `None` if the record does not show
    /// that it serves.
    pub serves_as: Option<u8>,
    /// Whether it is a cell of NR; of LTE otherwise.
    pub nr: bool,
    /// RSRP in dBm, SS-RSRP in NR. Range −180..=−17 (TS 36.214 §5.1.1, TS 38.215 §5.1.1).
    pub rsrp_dbm: f32,
    /// RSRQ in dB, SS-RSRQ in NR. Range −43..=34 (TS 36.214 §5.1.3, TS 38.215 §5.1.3).
    pub rsrq_db: f32,
    /// SINR in dB, the best antenna's, if the record has it. Range −20..=31.
    pub sinr_db: Option<f32>,
}

/// The device's report of the quality of a downlink channel, for the whole carrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Channel {
    /// When it was sent, on the modem's clock.
    pub at: ModemInstant,
    /// Component carrier: 0 is the primary cell, also if the record does not name the carrier.
    pub carrier: u8,
    /// CQI, 0..=15, of HSPA 0..=30; 0 is out of range.
    pub cqi: u8,
    /// CQI of the second codeword, where there is one.
    pub second: Option<u8>,
    /// Layers that the report assumes, if it has them. Range 1..=4.
    pub rank: Option<u8>,
    /// The table of the CQI.
    pub table: CqiTable,
}

/// The table of a CQI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CqiTable {
    /// LTE's table.
    Lte(sounding_phy::lte::CqiTable),
    /// NR's table, which is configured.
    Nr,
    /// HSPA's table, which follows from the device's category. No record is read that has one: only
    /// generators make it.
    Hspa(sounding_phy::hspa::CqiTable),
}

/// Data that waits in the modem for uplink grants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backlog {
    /// When it was counted, on the modem's clock.
    pub at: ModemInstant,
    /// Bytes waiting, all logical channels together.
    pub waiting: Bytes,
}

/// RRC's change of a device's connection with its network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Connection {
    /// When the message came.
    pub at: ModemInstant,
    /// The change.
    pub change: Change,
}

/// A change of the connection (TS 36.331 §5.3, TS 38.331 §5.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// There is one now.
    Begins,
    /// It continues in another cell.
    Handover,
    /// It has ended or was suspended.
    Ends,
}

/// The active secondary carriers, from a MAC control element of the network (TS 36.321 §6.1.3.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carriers {
    /// When it came.
    pub at: ModemInstant,
    /// Bit i is that of the carrier of index i; bit 0 is reserved.
    pub active: u8,
}

/// One number, or a few that belong together, out of one record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kpi {
    /// A transport block was granted.
    Grant(Grant),
    /// A serving cell was measured.
    Signal(Signal),
    /// Uplink data is waiting.
    Backlog(Backlog),
    /// A channel's quality was reported.
    Channel(Channel),
    /// The connection changed.
    Connection(Connection),
    /// Secondary carriers were switched on or off.
    Carriers(Carriers),
}
