//! The link abstraction: how likely a block is lost at a SINR, which CQI a device reports, and what
//! repeats add.
//!
//! | what | table |
//! |---|---|
//! | NR blocks | AWGN simulations of Sionna 1.2.1 by MCS and code block size, [`nr_bler`] |
//! | LTE blocks | AWGN simulations of OpenAirInterface at 25 resource blocks by MCS, [`lte_bler`] |
//! | CQI | where those lose one block in ten, [`lte_cqi`], [`nr_cqi`] |
//! | LTE blocks by CQI | AWGN and Typical Urban curves of LTE-Sim, [`cqi_bler`] |
//! | code blocks by mutual information | LENA (ns-3), [`MiRate`] |
//! | effective SINR | EESM betas of Sionna, the same as 5G-LENA's, [`eesm_beta`] |
//!
//! The receivers of the simulations differ: OpenAirInterface's need some 2 dB more for low rates
//! than LTE-Sim's. So each CQI goes with the curves that blocks are drawn from, and no two sources
//! meet in one cell.
//!
//! Curves give the SINR at error rates of 50, 10 and 1 %. Cases that the simulations left out are
//! extrapolated from the nearest curve and marked: [`Bler::is_simulated`].

mod bler;
mod cqi;
mod curve;
mod eesm;
mod harq;
mod mi;

pub use bler::{Bler, lte_bler, nr_bler};
pub use cqi::{Channel, cqi_bler, lte_cqi, lte_cqi_threshold_db, nr_cqi, nr_cqi_threshold_db};
pub use curve::Curve;
pub use eesm::{eesm_beta, effective_sinr_db};
pub use harq::{Combining, REPEAT_GAIN_DB};
pub use mi::MiRate;

#[allow(
    clippy::approx_constant,
    clippy::type_complexity,
    reason = "some simulated number always looks like a constant; tables have as many levels as they have"
)]
mod tables {
    include!(concat!(env!("OUT_DIR"), "/awgn.rs"));
}
