//! Diag ports: a tty opened raw, a capture served on a pty at its own pace, and the one place where modem time
//! becomes host time.

mod answer;
mod clock;
mod host;
mod modelled;
mod pacing;
mod port;
mod pty;
mod replay;

pub use clock::ClockMap;
pub use host::monotonic_now;
pub use modelled::uplink_capture;
pub use pacing::Pacing;
pub use port::{OpenError, Port, Read};
pub use pty::Pty;
pub use replay::{Replay, Summary};
