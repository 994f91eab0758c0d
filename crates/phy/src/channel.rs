//! Large-scale propagation (TR 38.901 §7.4, §7.5) and noise. Distances and heights are in metres,
//! carrier frequencies in GHz, levels in dB and dBm.

mod noise;
mod pathloss;
mod shadowing;

pub use noise::{combined_dbm, db, linear, noise_dbm, sinr_db};
pub use pathloss::{Geometry, Scenario, los_probability, path_loss_db, wall_loss_db};
pub use shadowing::Shadowing;
