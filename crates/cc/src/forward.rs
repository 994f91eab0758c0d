/// Methods of [`Controller`](crate::Controller) that a decorator hands to the controller in its field, as they are.
///
/// `forward!(inner: handle_sent, cwnd)` is what the `impl` of a decorator has in place of these two methods. What is named
/// neither here nor written out keeps the trait's default.
#[macro_export]
macro_rules! forward {
    ($inner:ident: $($method:ident),+ $(,)?) => { $($crate::forward!(@$method $inner);)+ };
    (@handle_sent $inner:ident) => {
        fn handle_sent(&mut self, sent: &$crate::Departure, size: $crate::forwarded::Bytes) {
            self.$inner.handle_sent(sent, size);
        }
    };
    (@handle_delivered $inner:ident) => {
        fn handle_delivered(&mut self, delivered: &$crate::Delivered) {
            self.$inner.handle_delivered(delivered);
        }
    };
    (@handle_ack $inner:ident) => {
        fn handle_ack(&mut self, ack: &$crate::Ack) {
            self.$inner.handle_ack(ack);
        }
    };
    (@handle_loss $inner:ident) => {
        fn handle_loss(&mut self, loss: &$crate::Loss) {
            self.$inner.handle_loss(loss);
        }
    };
    (@handle_timeout $inner:ident) => {
        fn handle_timeout(&mut self, now: $crate::forwarded::HostInstant) {
            self.$inner.handle_timeout(now);
        }
    };
    (@handle_spurious_timeout $inner:ident) => {
        fn handle_spurious_timeout(&mut self, now: $crate::forwarded::HostInstant) {
            self.$inner.handle_spurious_timeout(now);
        }
    };
    (@handle_estimate $inner:ident) => {
        fn handle_estimate(
            &mut self,
            now: $crate::forwarded::HostInstant,
            estimate: &$crate::forwarded::LinkEstimate,
            flows: u32,
        ) {
            self.$inner.handle_estimate(now, estimate, flows);
        }
    };
    (@handle_part $inner:ident) => {
        fn handle_part(&mut self, now: $crate::forwarded::HostInstant, part: $crate::sharing::Part) {
            self.$inner.handle_part(now, part);
        }
    };
    (@handle_delays $inner:ident) => {
        fn handle_delays(
            &mut self,
            now: $crate::forwarded::HostInstant,
            data: $crate::forwarded::Direction,
            delays: &$crate::forwarded::DelayUpdate,
        ) {
            self.$inner.handle_delays(now, data, delays);
        }
    };
    (@handle_revision $inner:ident) => {
        fn handle_revision(&mut self, revision: &$crate::Revision) {
            self.$inner.handle_revision(revision);
        }
    };
    (@handle_time $inner:ident) => {
        fn handle_time(&mut self, now: $crate::forwarded::HostInstant) {
            self.$inner.handle_time(now);
        }
    };
    (@wakeup $inner:ident) => {
        fn wakeup(&self) -> Option<$crate::forwarded::HostInstant> {
            self.$inner.wakeup()
        }
    };
    (@not_before $inner:ident) => {
        fn not_before(&self) -> Option<$crate::forwarded::HostInstant> {
            self.$inner.not_before()
        }
    };
    (@cwnd $inner:ident) => {
        fn cwnd(&self) -> $crate::forwarded::Bytes {
            self.$inner.cwnd()
        }
    };
    (@pacing_rate $inner:ident) => {
        fn pacing_rate(&self) -> Option<$crate::forwarded::Rate> {
            self.$inner.pacing_rate()
        }
    };
    (@state $inner:ident) => {
        fn state(&self) -> &'static str {
            self.$inner.state()
        }
    };
}

/// The types of other crates that [`forward`](crate::forward) names.
#[doc(hidden)]
pub mod types {
    pub use sounding_estimate::{DelayUpdate, Direction, LinkEstimate};
    pub use sounding_units::{Bytes, HostInstant, Rate};
}
