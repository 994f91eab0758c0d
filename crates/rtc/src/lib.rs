//! WebRTC without the delays that a cell's radio adds by itself (Gandalf, §5).
//!
//! WebRTC's congestion control compares the gaps between arrivals with those between departures.
//! Retransmissions and grants of a cell widen gaps without any queue, and the sender lowers rate,
//! frame rate and resolution. Here are
//!
//! * [`Feedback`]: transport-wide feedback, read, corrected and written; [`Rewriter`] does so in
//!   compound packets;
//! * [`Corrections`]: sources of corrected arrivals, [`Reported`] by the device's modem among them;
//! * `line`: what a modem's records say of the radio, as lines for a peer elsewhere;
//! * [`Hold`]: packets that wait until their corrected arrival is known;
//! * `sender`: an estimator of a sender's rate, for Rust stacks;
//! * `peer`: a receiver that answers an unmodified sender, whose stack is given the corrected
//!   arrivals.

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod blind;
#[cfg(feature = "caller")]
pub mod caller;
mod correction;
mod feedback;
mod hold;
#[cfg(feature = "lines")]
pub mod line;
#[cfg(feature = "peer")]
pub mod peer;
mod reported;
mod rtcp;
pub mod rtp;
#[cfg(feature = "sender")]
pub mod sender;

pub use blind::Blind;
pub use correction::{Corrected, Corrections, Stock, Way};
pub use feedback::{Feedback, FeedbackError, Tick};
pub use hold::{Hold, HoldCounts};
pub use reported::Reported;
pub use rtcp::Rewriter;
