//! KPIs to a link rate that says how old it is, how sure it is, and whether the radio is the bottleneck.
//!
//! Input is KPIs and time, output is a [`LinkEstimate`]; when it cannot know, it says so.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod bins;
mod config;
mod estimator;
mod granted;
mod model;
mod recent;
mod series;
mod shapes;
mod sounder;
mod window;

pub use bins::{Bin, Bins, Jump, Step};
pub use config::{Config, Method};
pub use estimator::Estimator;
pub use granted::Granted;
pub use model::CellView;
pub use series::{Line, Row, Series, Way};
pub use sounder::{Arrival, Counts, Seen, Sounder};
pub use sounding_estimate::{Bound, FairShare, LinkEstimate, Source, State};
