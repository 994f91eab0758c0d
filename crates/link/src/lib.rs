//! Turns KPIs into a link rate with its age, its bound and its state.
//!
//! Input is KPIs and time; output is a [`LinkEstimate`]. An unknown rate is marked in the estimate.

#![no_std]
#![forbid(unsafe_code)]

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

extern crate alloc;
#[cfg(test)]
extern crate std;

mod bins;
mod blocks;
mod captured;
mod config;
mod delay;
mod entries;
mod estimator;
mod granted;
mod model;
mod recent;
mod record_clock;
mod report_timer;
mod series;
mod shapes;
mod sounder;
mod window;

pub use bins::{Bin, Bins, Jump, Step};
pub use captured::{Account, Captured, NoLink};
pub use config::{Config, Method};
pub use delay::{Delays, align, packets, shift};
pub use estimator::Estimator;
pub use granted::Granted;
pub use model::{CellRates, CellView, ChannelView, HEARD_VALID, NoRates};
pub use series::{Line, Row, Series, Way};
pub use sounder::{Arrival, Counts, Seen, Sounder};
pub use sounding_estimate::delay::Lately;
pub use sounding_estimate::wire::RadioDelay;
pub use sounding_estimate::{Bound, CellUse, FairShare, LinkEstimate, Radio, Source, State};
pub use sounding_estimate::{Confidence, DelayKind, DelayUpdate, RanDelay, Timeline};
