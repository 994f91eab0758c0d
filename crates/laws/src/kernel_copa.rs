//! Copa as this project's eBPF runs it in the kernel, with what the radio itself added to packets taken off (Gandalf §4.3
//! and §5.1): `Copa` and `Compensated` of `sounding-baselines` in whole numbers and with bounded work for each
//! acknowledgement.
//!
//! * [`DelaySlots`] writes what the radio added by time, from a modem's delay events. The daemon does that for the kernel.
//! * [`Table`] is what it writes to, and what a flow reads one word of for each packet.
//! * [`Corrected`] is the flow: RTTs go in, a window comes out. Without events it is Copa.
//!
//! In C: `delays.h`, `corrected.h` and `copa.h` of `crates/bpf/src/bpf`. A test compares both
//! (`crates/bpf/tests/copa_conformance.rs`). docs/interpretations/gandalf.md, interpretations 20 to 23, says where this differs from
//! the controllers of virtual time.

mod corrected;
mod law;
mod mean;
mod slots;
mod table;

use sounding_cc::{Ack, Controller, Loss, Recovery, Start};
use sounding_estimate::wire::RadioDelay;
use sounding_estimate::{DelayUpdate, Direction};
use sounding_units::{Bytes, HostInstant, Rate};

pub use corrected::{Corrected, CorrectedBy};
pub use law::{CopaAck, CopaLaw, CopaPhase};
pub use slots::DelaySlots;
pub use table::{Place, SLOT, SLOTS, Table};

/// One flow, as the kernel would run it, for virtual time.
#[derive(Clone, Debug)]
pub struct KernelCopa {
    mss: Bytes,
    law: Corrected,
    slots: DelaySlots,
    table: Table,
}

impl KernelCopa {
    /// A flow that begins.
    pub fn new(start: &Start) -> Self {
        Self {
            mss: Bytes::new(start.mss.count().max(1)),
            law: Corrected::new(0),
            slots: DelaySlots::default(),
            table: Table::default(),
        }
    }

    fn segments(&self, bytes: Bytes) -> u32 {
        u32::try_from(bytes.count() / self.mss.count()).unwrap_or(u32::MAX)
    }
}

impl Controller for KernelCopa {
    fn handle_ack(&mut self, ack: &Ack) {
        let rtt = ack.rtt.map_or(0, |rtt| rtt.as_micros());
        let ack = CopaAck {
            now: ack.now,
            sent: ack.sent.at,
            rtt_us: u32::try_from(rtt).unwrap_or(u32::MAX),
            // A segment that is not full is one, as in the kernel.
            acked: u32::try_from(ack.acked.count().div_ceil(self.mss.count())).unwrap_or(u32::MAX),
            app_limited: ack.sent.app_limited,
            timed_out: ack.recovery == Recovery::Timeout,
            sent_delivered: self.segments(ack.sent.delivered),
            delivered: self.segments(ack.delivered),
        };
        self.law.handle_ack(Some(&self.table), RadioDelay::default(), &ack);
    }

    fn handle_loss(&mut self, loss: &Loss) {
        if loss.begins_recovery {
            self.law.handle_loss();
        }
    }

    fn handle_timeout(&mut self, _now: HostInstant) {
        self.law.handle_timeout();
    }

    fn handle_spurious_timeout(&mut self, _now: HostInstant) {
        self.law.handle_spurious_timeout();
    }

    /// Of uploads: the kernel's flows are the device's own.
    fn handle_delays(&mut self, _now: HostInstant, _data: Direction, delays: &DelayUpdate) {
        let Self { slots, table, .. } = self;
        slots.handle_update(delays, |place, word| table.put(place, word));
        table.set_heard(delays.heard_at);
    }

    fn cwnd(&self) -> Bytes {
        Bytes::new(u64::from(self.law.copa().cwnd()) * self.mss.count())
    }

    fn pacing_rate(&self) -> Option<Rate> {
        let mss = u32::try_from(self.mss.count()).unwrap_or(u32::MAX);
        self.law.copa().pacing(mss).map(Rate::from_bytes_per_sec)
    }

    fn state(&self) -> &'static str {
        self.law.copa().phase().name()
    }
}
