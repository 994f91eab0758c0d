//! The radio: where devices are, what their channels carry, and how base stations adapt to them.
//!
//! Everything is drawn from generators passed in and computed with IEEE-754's exact operations and `libm`: a seed
//! gives the same bits on every machine.

mod channel;
mod config;
mod decibel;
mod fading;
mod geometry;
mod interference;
mod profile;
mod propagation;
mod random;
mod script;
mod shadow;
mod shim;
mod sight;

pub use channel::Channel;
pub use config::{
    CarrierConfig, ChannelConfig, DeviceConfig, Duplex, FadingConfig, InvalidConfig, MAX_SUB_BANDS,
    ModelConfig, SiteConfig,
};
pub use geometry::{AtTheEnd, Motion, Position, Trajectory, TrajectoryConfig};
pub use interference::InterferenceConfig;
pub use profile::{DelayProfile, Tap};
pub use propagation::{LineOfSight, PropagationConfig, Surroundings};
pub use script::{Between, Level, ScriptConfig};
