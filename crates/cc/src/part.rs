//! Components of controllers and transports.

mod aggregation;
mod aimd;
mod boxcar;
mod delivery;
mod filter;
mod full_pipe;
mod line;
mod marks;
mod pacing;
mod pause;
mod queueing;
mod round;
mod rtt;
mod slots;
mod slow_start;

pub use aggregation::Aggregation;
pub use aimd::Aimd;
pub use boxcar::Boxcar;
pub use delivery::DeliveryRate;
pub use filter::Windowed;
pub use full_pipe::FullPipe;
pub use line::Line;
pub use marks::Marks;
pub use pacing::{Pacer, burst};
pub use pause::Pause;
pub use queueing::QueueingDelay;
pub use round::Round;
pub use rtt::RttEstimator;
pub use slots::{Gap, Slot, Slots};
pub use slow_start::SlowStart;
