//! Copa whose RTTs are without the radio's own delays (Gandalf §4.3 and §5.1), in whole numbers and
//! with bounded work for each acknowledgement: in the kernel, in QUIC and in virtual time alike.
//!
//! * [`DelaySlots`] writes the radio's delays by time, from a modem's delay events. The daemon does
//!   that for the kernel.
//! * [`Table`] holds these words, and a flow reads one word of it for each packet.
//! * [`Corrected`] is the flow: RTTs go in, a window comes out. Without events it is Copa.
//! * [`CopaGandalf`] is the flow as a [`Controller`].
//!
//! In C: `delays.h`, `corrected.h` and `copa.h` of `crates/bpf/src/bpf/copa`. A test compares both
//! (`crates/bpf/tests/copa_conformance.rs`). The paper leaves gaps:
//! docs/interpretations/gandalf.md, interpretations 20 to 23.

mod config;
mod corrected;
mod law;
mod mean;
mod slots;
mod table;

use core::time::Duration;

use sounding_cc::{Ack, Controller, Loss, Recovery, Start};
use sounding_estimate::delay::{Lately, SILENT};
use sounding_estimate::wire::RadioDelay;
use sounding_estimate::{DelayUpdate, Direction};
use sounding_units::{Bytes, HostInstant, Rate};

pub use config::{Config, DELTA};
pub use corrected::{Corrected, CorrectedBy};
pub use law::{CopaAck, CopaLaw, CopaPhase};
pub use slots::DelaySlots;
pub use table::{Place, SLOT, SLOTS, Table};

/// One flow, as the kernel runs it.
#[derive(Clone, Debug)]
pub struct CopaGandalf {
    mss: Bytes,
    law: Corrected,
    /// What a sender knows of its own modem, once it was heard.
    modem: Option<(DelaySlots, Table)>,
    /// What a device that receives says, once it was heard.
    device: Option<Said>,
}

/// The averages of a device, and when its newest record came.
#[derive(Clone, Debug, Default)]
struct Said {
    lately: Lately,
    delay: RadioDelay,
    heard_at: HostInstant,
}

impl CopaGandalf {
    /// A flow that begins, with the kernel's parameters.
    pub fn new(start: &Start) -> Self {
        Self::with(start, Config::default())
    }

    /// The same, with other parameters.
    pub fn with(start: &Start, config: Config) -> Self {
        Self {
            mss: Bytes::new(start.mss.count().max(1)),
            law: Corrected::with(0, config),
            modem: None,
            device: None,
        }
    }

    /// The RTT that Copa was shown with the last acknowledgement that measured one.
    pub fn believed(&self) -> Option<Duration> {
        self.law.believed().map(|rtt| Duration::from_micros(rtt.into()))
    }

    fn segments(&self, bytes: Bytes) -> u32 {
        // Counters wrap, as the kernel's do.
        (bytes.count() / self.mss.count()) as u32
    }
}

impl Controller for CopaGandalf {
    fn handle_ack(&mut self, ack: &Ack) {
        let rtt = ack.rtt.map_or(0, |rtt| rtt.as_micros());
        let said = self.device.as_ref().filter(|said| ack.now - said.heard_at <= SILENT);
        let said = said.map_or(RadioDelay::default(), |said| said.delay);
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
        self.law.handle_ack(self.modem.as_ref().map(|(_, table)| table), said, &ack);
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

    /// A server of a download knows two averages of the device's radio, as one in the kernel does.
    fn handle_delays(&mut self, _now: HostInstant, data: Direction, delays: &DelayUpdate) {
        match data {
            Direction::Uplink => {
                let (slots, table) = self.modem.get_or_insert_default();
                slots.handle_update(delays, |place, word| table.put(place, word));
                table.set_interval(delays.report_interval);
                table.set_heard(delays.heard_at);
            }
            Direction::Downlink => {
                let said = self.device.get_or_insert_default();
                // The option that carries it has 16 bits.
                let code = said.lately.handle_update(delays).code();
                (said.delay, said.heard_at) = (RadioDelay::of_code(code), delays.heard_at);
            }
        }
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

#[cfg(test)]
mod tests;
