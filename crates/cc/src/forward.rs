/// Methods of [`Controller`](crate::Controller) that a decorator hands to the controller in its
/// field: all but its own.
///
/// `forward!(inner; but handle_ack, cwnd)` is what the `impl` of a decorator has beside its own
/// `handle_ack` and `cwnd`. `forward!(inner)` hands on all. A method that is new in the trait needs
/// its lines here: Clippy refuses the decorator in `crates/baselines/tests/decorators.rs` without
/// them.
#[macro_export]
macro_rules! forward {
    ($inner:ident $(; but $($own:ident),+ $(,)?)?) => {
        $crate::forward!(@all $inner [$($($own)+)?]);
    };
    (@all $inner:ident $own:tt) => {
        $crate::forward!(@handle_sent $inner $own);
        $crate::forward!(@handle_delivered $inner $own);
        $crate::forward!(@handle_ack $inner $own);
        $crate::forward!(@handle_loss $inner $own);
        $crate::forward!(@handle_timeout $inner $own);
        $crate::forward!(@handle_spurious_timeout $inner $own);
        $crate::forward!(@handle_estimate $inner $own);
        $crate::forward!(@handle_report $inner $own);
        $crate::forward!(@handle_part $inner $own);
        $crate::forward!(@handle_delays $inner $own);
        $crate::forward!(@handle_revision $inner $own);
        $crate::forward!(@handle_time $inner $own);
        $crate::forward!(@wakeup $inner $own);
        $crate::forward!(@not_before $inner $own);
        $crate::forward!(@cwnd $inner $own);
        $crate::forward!(@pacing_rate $inner $own);
        $crate::forward!(@state $inner $own);
    };
    (@handle_sent $inner:ident []) => {
        fn handle_sent(&mut self, sent: &$crate::Departure, size: $crate::forwarded::Bytes) {
            self.$inner.handle_sent(sent, size);
        }
    };
    (@handle_delivered $inner:ident []) => {
        fn handle_delivered(&mut self, delivered: &$crate::Delivered) {
            self.$inner.handle_delivered(delivered);
        }
    };
    (@handle_ack $inner:ident []) => {
        fn handle_ack(&mut self, ack: &$crate::Ack) {
            self.$inner.handle_ack(ack);
        }
    };
    (@handle_loss $inner:ident []) => {
        fn handle_loss(&mut self, loss: &$crate::Loss) {
            self.$inner.handle_loss(loss);
        }
    };
    (@handle_timeout $inner:ident []) => {
        fn handle_timeout(&mut self, now: $crate::forwarded::HostInstant) {
            self.$inner.handle_timeout(now);
        }
    };
    (@handle_spurious_timeout $inner:ident []) => {
        fn handle_spurious_timeout(&mut self, now: $crate::forwarded::HostInstant) {
            self.$inner.handle_spurious_timeout(now);
        }
    };
    (@handle_estimate $inner:ident []) => {
        fn handle_estimate(
            &mut self,
            now: $crate::forwarded::HostInstant,
            estimate: &$crate::forwarded::LinkEstimate,
            flows: u32,
        ) {
            self.$inner.handle_estimate(now, estimate, flows);
        }
    };
    (@handle_report $inner:ident []) => {
        fn handle_report(
            &mut self,
            now: $crate::forwarded::HostInstant,
            report: &$crate::forwarded::LinkEstimate,
            flows: u32,
        ) {
            self.$inner.handle_report(now, report, flows);
        }
    };
    (@handle_part $inner:ident []) => {
        fn handle_part(&mut self, now: $crate::forwarded::HostInstant, part: $crate::sharing::Part) {
            self.$inner.handle_part(now, part);
        }
    };
    (@handle_delays $inner:ident []) => {
        fn handle_delays(
            &mut self,
            now: $crate::forwarded::HostInstant,
            data: $crate::forwarded::Direction,
            delays: &$crate::forwarded::DelayUpdate,
        ) {
            self.$inner.handle_delays(now, data, delays);
        }
    };
    (@handle_revision $inner:ident []) => {
        fn handle_revision(&mut self, revision: &$crate::Revision) {
            self.$inner.handle_revision(revision);
        }
    };
    (@handle_time $inner:ident []) => {
        fn handle_time(&mut self, now: $crate::forwarded::HostInstant) {
            self.$inner.handle_time(now);
        }
    };
    (@wakeup $inner:ident []) => {
        fn wakeup(&self) -> Option<$crate::forwarded::HostInstant> {
            self.$inner.wakeup()
        }
    };
    (@not_before $inner:ident []) => {
        fn not_before(&self) -> Option<$crate::forwarded::HostInstant> {
            self.$inner.not_before()
        }
    };
    (@cwnd $inner:ident []) => {
        fn cwnd(&self) -> $crate::forwarded::Bytes {
            self.$inner.cwnd()
        }
    };
    (@pacing_rate $inner:ident []) => {
        fn pacing_rate(&self) -> Option<$crate::forwarded::Rate> {
            self.$inner.pacing_rate()
        }
    };
    (@state $inner:ident []) => {
        fn state(&self) -> &'static str {
            self.$inner.state()
        }
    };
    (@handle_sent $inner:ident [handle_sent $($own:ident)*]) => {};
    (@handle_delivered $inner:ident [handle_delivered $($own:ident)*]) => {};
    (@handle_ack $inner:ident [handle_ack $($own:ident)*]) => {};
    (@handle_loss $inner:ident [handle_loss $($own:ident)*]) => {};
    (@handle_timeout $inner:ident [handle_timeout $($own:ident)*]) => {};
    (@handle_spurious_timeout $inner:ident [handle_spurious_timeout $($own:ident)*]) => {};
    (@handle_estimate $inner:ident [handle_estimate $($own:ident)*]) => {};
    (@handle_report $inner:ident [handle_report $($own:ident)*]) => {};
    (@handle_part $inner:ident [handle_part $($own:ident)*]) => {};
    (@handle_delays $inner:ident [handle_delays $($own:ident)*]) => {};
    (@handle_revision $inner:ident [handle_revision $($own:ident)*]) => {};
    (@handle_time $inner:ident [handle_time $($own:ident)*]) => {};
    (@wakeup $inner:ident [wakeup $($own:ident)*]) => {};
    (@not_before $inner:ident [not_before $($own:ident)*]) => {};
    (@cwnd $inner:ident [cwnd $($own:ident)*]) => {};
    (@pacing_rate $inner:ident [pacing_rate $($own:ident)*]) => {};
    (@state $inner:ident [state $($own:ident)*]) => {};
    (@$method:ident $inner:ident [$other:ident $($own:ident)*]) => {
        $crate::forward!(@$method $inner [$($own)*]);
    };
}

/// The types of other crates that [`forward`](crate::forward) and tests of decorators name.
#[doc(hidden)]
pub mod types {
    pub use sounding_estimate::{Bound, DelayUpdate, Direction, LinkEstimate, Source, State};
    pub use sounding_units::{Bytes, HostInstant, Rate};
}
