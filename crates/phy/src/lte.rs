//! LTE: transport blocks, reports and timing (TS 36.211, 36.212, 36.213, 36.321, 36.331).

mod bandwidth;
mod bsr;
mod cqi;
mod mcs;
mod tbs;
mod tdd;
pub mod timing;

pub use bandwidth::{
    CARRIER_PRB, carrier_prb, rbg_blocks, rbg_count, rbg_map_blocks, rbg_of, rbg_size,
};
pub use bsr::{BsrTable, bsr_upper};
pub use cqi::{CqiTable, cqi, mcs_of_cqi};
pub use mcs::{McsTable, Reserved, TbsIndex, mcs, reserved, without_uplink_64qam};
pub use tbs::{code_blocks, tbs_bits, tbs_bits_broadcast, tbs_bits_unverified, uplink_tbs_index};
pub use tdd::{SpecialSubframe, SubframeKind, TddConfig};

pub use crate::Modulation;

mod tables {
    include!(concat!(env!("OUT_DIR"), "/lte.rs"));
}
