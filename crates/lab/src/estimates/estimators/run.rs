//! One saturating flow over one modelled link, and every method's estimate from the modem's bytes.

use std::time::Duration;

use sounding_cell::config::{CarrierConfig, InvalidConfig, Rat};
use sounding_cell::modem::{Modem, ModemConfig};
use sounding_cell::{DeviceId, Event, Outcome, Ran, sniffer};
use sounding_link::{Arrival, Bound, CellRates, Config, Method, Sounder};
use sounding_trace::dci::{Format, Heard, Reader};
use sounding_units::{Bytes, HostInstant};

use super::crowd::Crowd;
use super::scenario::Scenario;

/// Interval at which estimates are read and bytes counted.
pub(crate) const STEP: Duration = Duration::from_millis(10);

/// A packet of the flow, in bytes of IP; and how much of it waits at the link all the time.
const PACKET: Bytes = Bytes::new(1_500);
const WAITING: u64 = 300_000;

/// Limit on the data that other users have waiting, as with transports.
const MAX_WAITING: u64 = 500_000;

const DEVICE: DeviceId = DeviceId(0);

/// A trial of a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trial {
    /// Which.
    pub method: Method,
    /// Span that it averages over.
    pub window: Duration,
    /// Whether it uses the sniffer.
    pub sniffs: bool,
}

/// Goodput and estimate, one of each for each [`STEP`].
#[derive(Clone, Debug)]
pub(crate) struct Series {
    /// IP bytes that the receiver got in the step.
    pub(crate) carried: Vec<u64>,
    /// By trial: bits per second at the end of the step, if the method had a rate. The last, after
    /// those of the trials, is the CQI's rate on the whole carriers of LTE, whatever the
    /// device's share (CQIC Fig. 3).
    pub(crate) estimates: Vec<Vec<Option<f64>>>,
    /// As `estimates`: whether the estimate at the end of the step says that it is the capacity.
    pub(crate) is_capacity: Vec<Vec<bool>>,
    /// What CQIC's tables learnt.
    pub(crate) rates: Vec<CellRates>,
}

/// Runs the flow for this long.
pub(crate) fn run(
    scenario: &Scenario,
    trials: &[Trial],
    ip_share_permille: u32,
    span: Duration,
    seed: u64,
) -> Result<Series, InvalidConfig> {
    let carriers = scenario.carriers();
    let origin = HostInstant::from_nanos(1_000_000_000);
    let mut ran: Ran<()> = Ran::new(&carriers, origin, seed)?;
    let devices = scenario.devices(seed);
    let mut modem = Modem::new(ModemConfig::default(), DEVICE, &devices[0], &carriers, origin)?;
    let mut crowd = Crowd::new(devices.len() - 1, origin, seed);
    for device in devices {
        ran.add_device(device)?;
    }
    ran.sniff();
    ran.watch(DEVICE);
    let mut sounders: Vec<Sounder> = trials
        .iter()
        .map(|trial| {
            let Trial { method, window, .. } = *trial;
            let config = Config::new(scenario.direction);
            Sounder::new(Config { method, window, ip_share_permille, ..config })
        })
        .collect();
    let mut log = SnifferLog::new(scenario, carriers.clone());
    let steps = (span.as_nanos() / STEP.as_nanos()) as usize;
    let mut series = Series {
        carried: vec![0; steps],
        estimates: vec![Vec::with_capacity(steps); trials.len() + 1],
        is_capacity: vec![vec![false; steps]; trials.len() + 1],
        rates: Vec::new(),
    };
    let by_cqi = trials.iter().position(|trial| trial.method == Method::Cqi);
    let (mut now, mut events) = (origin, Vec::new());
    for step in 0..steps {
        let end = now + STEP;
        while now < end {
            now = now + Duration::from_millis(1);
            let has_data = scenario.ends.is_none_or(|ends| now - origin <= ends);
            while has_data && ran.backlog(DEVICE, scenario.direction).count() < WAITING {
                ran.handle_packet(now, DEVICE, scenario.direction, PACKET, ());
            }
            for (user, packets) in (1..).zip(crowd.packets(now, PACKET.count())) {
                let other = DeviceId(user);
                for _ in 0..packets {
                    if ran.backlog(other, scenario.direction).count() < MAX_WAITING {
                        ran.handle_packet(now, other, scenario.direction, PACKET, ());
                    }
                }
            }
            ran.handle_time(now);
            ran.drain_events(&mut events);
            for event in events.drain(..) {
                modem.handle_event(&event);
                log.handle_event(&event);
            }
            modem.handle_time(now);
            let heard = log.take();
            for (sounder, _) in sounders.iter_mut().zip(trials).filter(|(_, trial)| trial.sniffs) {
                heard.iter().for_each(|heard| sounder.handle_heard(now, heard));
            }
            while let Some(record) = modem.poll_record() {
                for sounder in &mut sounders {
                    sounder.handle_bytes(Arrival::At(now), &record.bytes, |_, _| {});
                }
            }
            while let Some(output) = ran.poll_output() {
                if let (DEVICE, Outcome::Delivered(passage)) = (output.device, output.outcome) {
                    let at = (passage.delivered - origin).as_nanos() / STEP.as_nanos();
                    if let Some(carried) = series.carried.get_mut(at as usize) {
                        *carried += output.size.count();
                    }
                }
            }
        }
        let kept = series.estimates.iter_mut().zip(&mut series.is_capacity);
        for (sounder, (estimates, is_capacity)) in sounders.iter().zip(kept) {
            let estimate = sounder.estimate(now);
            is_capacity[step] = estimate.bound == Bound::Capacity;
            let rate = estimate.rate.bits_per_sec() as f64;
            estimates.push((estimate.source != sounding_link::Source::None).then_some(rate));
        }
        let whole = by_cqi.and_then(|at| whole(&sounders[at], &carriers));
        let share = f64::from(ip_share_permille) / 1000.0;
        series.estimates[trials.len()].push(whole.map(|bits| bits * share));
    }
    series.rates = by_cqi.into_iter().flat_map(|at| sounders[at].rates()).collect();
    Ok(series)
}

/// The rate of the reported CQIs on the whole carriers, which only the cell's configuration says
/// how wide they are; `None` for NR.
fn whole(sounder: &Sounder, carriers: &[CarrierConfig]) -> Option<f64> {
    /// Subframes of LTE in a second.
    const SUBFRAMES: f64 = 1_000.0;
    let mut views = sounder.channels().peekable();
    views.peek()?;
    views
        .map(|view| {
            let carrier = carriers.get(usize::from(view.carrier))?;
            let is_lte = carrier.rat == Rat::Lte;
            is_lte.then(|| view.bits_per_prb * f64::from(carrier.prb) * SUBFRAMES)
        })
        .sum()
}

/// A sniffer's log, as text and read back.
struct SnifferLog {
    format: Format,
    carriers: Vec<CarrierConfig>,
    /// A file for each cell.
    text: Vec<String>,
}

impl SnifferLog {
    fn new(scenario: &Scenario, carriers: Vec<CarrierConfig>) -> Self {
        let format = match scenario.rat {
            Rat::Lte => Format::DciLog(scenario.direction),
            Rat::Nr => Format::NrScope,
        };
        let text = carriers.iter().map(|_| String::new()).collect();
        Self { format, carriers, text }
    }

    fn handle_event(&mut self, event: &Event) {
        if let Event::Dci(dci) = event {
            let cell = usize::from(dci.sent_in.carrier.0);
            let message = sniffer::message(dci, &self.carriers[cell]);
            self.format.write(&Heard::Dci(message), &mut self.text[cell]);
        }
    }

    /// The messages since the last call.
    fn take(&mut self) -> Vec<Heard> {
        let mut heard = Vec::new();
        for (cell, lines) in (0..).zip(&mut self.text) {
            let text = format!("{}\n{}", self.format.header(), core::mem::take(lines));
            heard.extend(Reader::new(self.format, cell, text.as_bytes()).flatten());
        }
        heard
    }
}

#[cfg(test)]
mod tests {
    use super::super::{IP_SHARE_PERMILLE, Pace};
    use super::*;

    #[test]
    fn a_link_that_has_been_idle_for_a_second_has_no_known_capacity() {
        let trial =
            Trial { method: Method::Grants, window: Duration::from_millis(50), sniffs: false };
        let ends = Some(Duration::from_secs(2));
        let walks = Scenario::all().into_iter().filter(|scenario| scenario.pace == Pace::Walk);
        for scenario in walks.map(|scenario| Scenario { ends, ..scenario }) {
            let span = Duration::from_secs(12);
            let series = run(&scenario, &[trial], IP_SHARE_PERMILLE, span, 7).unwrap();
            let says = &series.is_capacity[0];
            let last = series.carried.iter().rposition(|bytes| *bytes > 0).unwrap();
            let name = scenario.name();
            assert!(says[..last].iter().any(|capacity| *capacity), "{name}: never known");
            assert!(last + 300 < says.len(), "{name}: data left until step {last}");
            let idle = &says[last + 100..];
            assert!(idle.iter().all(|capacity| !capacity), "{name}: {idle:?}");
        }
    }
}
