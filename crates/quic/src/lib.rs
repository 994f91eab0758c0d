//! Controllers of `sounding-cc` in unmodified QUIC stacks: quinn, and noq, its fork whose pacer
//! applies a commanded rate.
//!
//! [`Factory`] goes into a stack's transport configuration: it makes a controller for each
//! connection. All of them read the radio's estimate from one [`EstimateHandle`], which any thread
//! may set. [`ModemFeed`] sets one from a modem of this machine. [`Report`]
//! carries an estimate to the sender at the other end of a connection, where an [`Intake`] sets
//! one. A receiver's [`Arrivals`] say to the sender's [`PeerTimes`] when packets arrived, for
//! controllers that read their receiver's clock. A [`Reporter`] adds the delays that the radio
//! itself makes. An estimate past its validity is not used: the controller's stock algorithm
//! controls the flow until there is a new one.
//!
//! ```no_run
//! use std::sync::Arc;
//! use sounding_quic::{Direction, EstimateHandle, Factory, ModemFeed};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let link = EstimateHandle::new();
//! let factory = Factory::new("sounding", link)?;
//! // For as long as this lives, the modem sets the handle, over the span that `sounding` needs.
//! let feed = ModemFeed::start_for(&factory, &"/dev/ttyUSB0".parse()?, Direction::Uplink)?;
//! let mut transport = quinn::TransportConfig::default();
//! transport.congestion_controller_factory(Arc::new(factory));
//! # Ok(())
//! # }
//! ```
//!
//! The gaps in a stack's reports are listed in [`driver`], and in docs/reference/quic.md.

#![forbid(unsafe_code)]

/// The examples of the README are tests.
#[cfg(all(doctest, feature = "quinn", feature = "modem"))]
#[doc = include_str!("../README.md")]
struct Readme;

/// And so are those of the guide.
#[cfg(all(doctest, feature = "quinn", feature = "modem"))]
#[doc = include_str!("../../../docs/guide/quic.md")]
struct Guide;

mod arrivals;
mod clock;
pub mod driver;
mod error;
mod factory;
#[cfg(test)]
mod fixtures;
mod flights;
mod handle;
#[cfg(feature = "modem")]
pub mod modem;
#[cfg(feature = "noq")]
mod noq;
#[cfg(any(feature = "quinn", feature = "noq"))]
mod noting;
#[cfg(feature = "quinn")]
mod quinn;
mod report;
#[cfg(any(feature = "quinn", feature = "noq"))]
mod window;

pub use arrivals::{Arrivals, Noted, PeerTimes};
pub use error::ReportError;
pub use factory::Factory;
pub use handle::{EstimateHandle, Flow};
#[cfg(feature = "modem")]
pub use modem::ModemFeed;
pub use report::{Counts, Intake, Report, Reporter};
// With these a program beside a stack needs no other crate of this project.
pub use sounding_baselines::needs;
pub use sounding_cc::{ChoiceError, Needs};
pub use sounding_estimate::{
    Bound, Confidence, DelayKind, DelayUpdate, Direction, FairShare, LinkEstimate, RanDelay,
    Source, State,
};
pub use sounding_host::monotonic_now;
pub use sounding_laws::Law;
pub use sounding_units::{Bytes, HostInstant, Rate};
