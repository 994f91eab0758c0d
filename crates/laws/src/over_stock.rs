use core::time::Duration;

use sounding_cc::sharing::Part;
use sounding_cc::{Ack, Controller, Departure, Loss, Start};
use sounding_estimate::LinkEstimate;
use sounding_units::{Bytes, HostInstant, Rate};

use crate::radio_law::{Ack as LawAck, Beside, FeedUpdate, RadioLaw};
use crate::stock::{Fallback, Stock};

/// A law of the radio over a stock algorithm, which controls the flow while the law does not. The
/// composition is that of `tcp_flow.h` of `sounding-bpf`.
#[derive(Clone, Debug)]
pub struct OverStock<L> {
    law: L,
    stock: Stock,
    part: Part,
    flows: u32,
    /// Two segments: with one, each acknowledgement could wait for its receiver's timer.
    floor: Bytes,
    updated_at: HostInstant,
    silence: Option<Duration>,
}

impl<L: RadioLaw> OverStock<L> {
    /// A flow without any estimate. After `silence` without an update the law receives
    /// [`FeedUpdate::Nothing`]; `None` where the law itself ends old estimates.
    pub(crate) fn over(
        law: L,
        fallback: Fallback,
        start: &Start,
        silence: Option<Duration>,
    ) -> Self {
        let (stock, updated_at) = (Stock::new(start, fallback), start.now);
        let (part, floor) = (Part::default(), start.segments(2));
        Self { law, stock, part, flows: 1, floor, updated_at, silence }
    }

    /// Calls the law.
    #[inline]
    fn call<T>(&mut self, call: impl FnOnce(&mut L, &Beside<'_>) -> T) -> T {
        let Self { law, stock, part, flows, .. } = self;
        call(law, &Beside { part: *part, flows: *flows, stock })
    }

    #[inline]
    fn controls(&self) -> bool {
        self.law.phase().law_controls()
    }

    fn handle_feed(&mut self, now: HostInstant, update: FeedUpdate) {
        if self.call(|law, beside| law.handle_feed(now, update, beside)) {
            self.share_verdict(now, None);
        }
    }

    /// An estimate of a publisher that is silent is not used any longer.
    #[inline]
    pub(crate) fn check_silence(&mut self, now: HostInstant) {
        if self.silence.is_some_and(|silence| now - self.updated_at > silence) {
            self.handle_feed(now, FeedUpdate::Nothing);
        }
    }

    /// Lets the stock algorithm know whether the law controls the flow.
    #[inline]
    fn share_verdict(&mut self, now: HostInstant, cut: Option<Rate>) {
        if let Some(most) = cut.filter(|_| !L::CUT_DOUBTS_RTT) {
            self.stock.cap_bandwidth(most);
        }
        let doubtful = cut.filter(|_| L::CUT_DOUBTS_RTT);
        let controls = self.controls();
        self.stock.handle_verdict(now, controls, || self.law.cwnd(), doubtful);
        // Under the law's window BBR never sees an empty path: it would keep a shorter path's RTT.
        if let Some(least) = self.law.least_rtt() {
            self.stock.raise_rtt_min(least);
        }
    }
}

impl<L: RadioLaw> Controller for OverStock<L> {
    #[inline]
    fn handle_sent(&mut self, sent: &Departure, size: Bytes) {
        self.stock.handle_sent(sent, size);
        self.check_silence(sent.at);
        if self.call(|law, beside| law.handle_sent(sent, size, beside)) {
            self.share_verdict(sent.at, None);
        }
    }

    #[inline]
    fn handle_ack(&mut self, ack: &Ack) {
        self.stock.handle_ack(ack);
        self.check_silence(ack.now);
        let cut = self.call(|law, beside| law.handle_ack(&LawAck::to::<L>(ack), beside));
        self.share_verdict(ack.now, cut);
    }

    fn handle_loss(&mut self, loss: &Loss) {
        self.stock.handle_loss(loss);
    }

    fn handle_timeout(&mut self, now: HostInstant) {
        self.stock.handle_timeout(now);
        self.call(|law, beside| law.handle_timeout(now, beside));
        self.share_verdict(now, None);
    }

    fn handle_spurious_timeout(&mut self, now: HostInstant) {
        self.stock.handle_spurious_timeout(now);
        self.call(|law, beside| law.handle_undone(now, beside));
        self.share_verdict(now, None);
    }

    fn handle_part(&mut self, _now: HostInstant, part: Part) {
        self.part = part;
    }

    fn handle_estimate(&mut self, now: HostInstant, estimate: &LinkEstimate, flows: u32) {
        (self.updated_at, self.flows) = (now, flows);
        self.handle_feed(now, FeedUpdate::of(now, estimate));
    }

    #[inline]
    fn handle_time(&mut self, now: HostInstant) {
        self.stock.handle_time(now);
        self.law.handle_time(now);
        self.share_verdict(now, None);
    }

    #[inline]
    fn wakeup(&self) -> Option<HostInstant> {
        [self.stock.wakeup(), self.law.wakeup()].into_iter().flatten().min()
    }

    #[inline]
    fn not_before(&self) -> Option<HostInstant> {
        if self.controls() { self.law.not_before() } else { None }
    }

    #[inline]
    fn cwnd(&self) -> Bytes {
        if self.controls() {
            return self.law.cwnd();
        }
        self.law.stock_cwnd(self.stock.cwnd()).max(self.floor)
    }

    #[inline]
    fn pacing_rate(&self) -> Option<Rate> {
        if self.controls()
            && let Some(pacing) = self.law.pacing()
        {
            return Some(pacing);
        }
        let stock = self.stock.pacing_rate()?;
        Some(self.law.limit().map_or(stock, |limit| stock.min(limit)))
    }

    fn state(&self) -> &'static str {
        self.law.phase().name()
    }
}
