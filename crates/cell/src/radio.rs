//! The radio: the places of devices, the rates of their channels, and the adaptation by base
//! stations.
//!
//! Everything is drawn from generators passed in and computed with IEEE-754's exact operations and
//! `libm`: a seed gives the same bits on every machine.

mod adapt;
mod channel;
mod coding;
mod config;
mod decibel;
mod error;
mod fading;
mod geometry;
mod interference;
mod invalid;
mod layers;
mod profile;
mod propagation;
mod random;
mod report;
mod script;
mod shadow;
mod sub_bands;
mod visibility;

pub use adapt::{AdaptConfig, Choice, LinkAdaptation};
pub use channel::{Channel, ChannelConfig, ModelConfig};
pub use coding::Coding;
pub use config::{CarrierConfig, DeviceConfig, Duplex, MAX_SUB_BANDS, SiteConfig};
pub use error::{Block, HarqConfig, block_error_rate};
pub use fading::FadingConfig;
pub use geometry::{AtTheEnd, Motion, Position, Trajectory, TrajectoryConfig};
pub use interference::InterferenceConfig;
pub use invalid::InvalidConfig;
pub use layers::{RankConfig, per_layer_db};
pub use profile::{DelayProfile, Tap};
pub use propagation::{LineOfSight, PropagationConfig, Surroundings};
pub use report::{CqiReport, ReportConfig, Reporter};
pub use script::{Between, Level, ScriptConfig};
pub use sub_bands::SubBands;
