//! NR: transport blocks, reports and timing (TS 38.101, 38.211, 38.212, 38.214, 38.321, 38.331).

mod bandwidth;
mod bsr;
mod cqi;
mod dmrs;
mod mcs;
mod numerology;
mod peak;
mod retransmission;
mod tbs;
mod tdd;
mod tdra;
pub mod timing;

pub use bandwidth::{BandwidthPart, FrequencyRange, RbgConfiguration, carrier_prb};
pub use bsr::{BsrFormat, bsr_upper_long, bsr_upper_short};
pub use cqi::{CqiTable, cqi, mcs_of_cqi};
pub use dmrs::{Dmrs, DmrsType};
pub use mcs::{McsTable, mcs, reserved};
pub use numerology::{Numerology, SYMBOLS_PER_SLOT, SYMBOLS_PER_SLOT_EXTENDED};
pub use peak::{PeakCarrier, peak_rate};
pub use retransmission::{MeasuredPattern, Retransmission};
pub use tbs::{
    BaseGraph, CodeBlocks, Overhead, TbScaling, base_graph, code_blocks, resource_elements,
    tbs_bits,
};
pub use tdd::{NamedPattern, Pattern, SlotFormat, SlotKind, TddPattern, named_patterns};
pub use tdra::{
    DefaultPdschTable, MappingType, TimeAllocation, pdsch_default, pusch_default, pusch_msg3_delay,
};

mod tables {
    include!(concat!(env!("OUT_DIR"), "/nr.rs"));
}
