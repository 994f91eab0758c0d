//! Controllers of `sounding-cc` in QUIC stacks that are used as they are: quinn, and noq, its fork whose pacer obeys a
//! commanded rate.
//!
//! [`Factory`] is what a stack's transport configuration takes: it makes a controller for each connection, and all of them
//! hear of the radio by one [`EstimateHandle`], which anybody may set from any thread. [`modem::ModemFeed`] sets one from a
//! modem of this machine; [`Report`] carries an estimate to the sender at the other end of a connection, where an
//! [`Intake`] sets one. An estimate that outlives its validity is not obeyed: the controller's own stock algorithm drives
//! until there is a new one.
//!
//! ```
//! use std::sync::Arc;
//! use sounding_quic::{EstimateHandle, Factory};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let link = EstimateHandle::new();
//! let factory = Factory::new("sounding", link.clone())?;
//! let mut transport = quinn::TransportConfig::default();
//! transport.congestion_controller_factory(Arc::new(factory));
//! // For as long as this lives, the modem on /dev/ttyUSB0 sets `link`:
//! // let feed = ModemFeed::start(&"/dev/ttyUSB0".parse()?, Config::new(Direction::Uplink), link)?;
//! # Ok(())
//! # }
//! ```
//!
//! What a stack does not tell is in [`driver`], and in docs/quic.md.

#![forbid(unsafe_code)]

mod clock;
pub mod driver;
mod factory;
mod flights;
mod handle;
#[cfg(feature = "modem")]
pub mod modem;
#[cfg(feature = "noq")]
mod noq;
#[cfg(feature = "quinn")]
mod quinn;
mod report;

pub use factory::Factory;
pub use handle::{EstimateHandle, Flow};
pub use report::{Counts, Intake, Report, ReportError};
pub use sounding_cc::ChoiceError;
