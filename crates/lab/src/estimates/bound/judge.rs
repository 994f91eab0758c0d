//! One run: the modelled cell, all steps from its modem's bytes to an estimate, and the truth.

use std::time::Duration;

use sounding_cell::config::{DeviceConfig, InvalidConfig, NetworkKind, UplinkConfig};
use sounding_cell::event::Rrc;
use sounding_cell::modem::{Modem, ModemConfig};
use sounding_cell::{DeviceId, Direction, Event, Outcome, Ran};
use sounding_link::{Arrival, Bound, Config, Sounder, State};
use sounding_units::{Bytes, HostInstant};

use super::scenario::Scenario;
use super::source::Source;
use super::{Counts, PACKET};

/// One moment of the truth is one millisecond: a subframe of LTE, one or two slots of NR.
const TICK: Duration = Duration::from_millis(1);
/// A label covers so long before its moment: see [`Bound`].
const HELD_FOR: usize = 20;
/// Ticks before the first judgement, so that the modem has written records.
const WARM_UP: usize = 300;

/// Length of a grant cycle, in ticks: see [`Bound::Capacity`]. In the uplink it is the longest time
/// from a packet's arrival to the first block that may carry it in an idle cell: the wait for the
/// next report, and the cell's own time from a report to the grant. An operator's network answers
/// within 10 ms, by Gandalf's Equation 4. srsRAN needs 9 ms, and up to 6 ms pass until a report,
/// which no timer delays as long as grants come. In `before` all of it follows the timer.
fn cycle(direction: Direction, config: &UplinkConfig) -> usize {
    if direction == Direction::Downlink {
        return 1;
    }
    let timer = config.periodic_bsr.as_millis() as usize;
    match config.network {
        NetworkKind::Operator => timer + 10,
        NetworkKind::Srsran => 15,
        NetworkKind::Before => 3 * timer,
    }
}

/// The cell's own state, tick by tick, as of each tick's beginning.
#[derive(Debug, Default)]
struct Truth {
    backlog: Vec<u64>,
    /// Bytes that have entered since the beginning.
    entered: Vec<u64>,
    /// Whether the device was on its way to another cell.
    away: Vec<bool>,
}

impl Truth {
    /// Whether data waits that entered at least a cycle ago.
    fn is_unmet(&self, at: usize, cycle: usize) -> bool {
        let since = self.entered[at] - self.entered[at.saturating_sub(cycle)];
        self.backlog[at] > since
    }

    /// Whether the truth was different within this many ticks of `at`.
    fn changes_near(&self, at: usize, cycle: usize) -> bool {
        let now = self.bound(at, cycle);
        let end = (at + HELD_FOR + 1).min(self.backlog.len());
        (at.saturating_sub(HELD_FOR)..end).any(|beside| self.bound(beside, cycle) != now)
    }

    fn bound(&self, at: usize, cycle: usize) -> Bound {
        let held = (at.saturating_sub(HELD_FOR) + 1..=at).all(|at| self.is_unmet(at, cycle));
        if held { Bound::Capacity } else { Bound::Floor }
    }
}

/// The bounds of all ticks of a run.
struct Bounds(Vec<Bound>);

impl Bounds {
    fn of(truth: &Truth, cycle: usize) -> Self {
        Self((0..truth.backlog.len()).map(|at| truth.bound(at, cycle)).collect())
    }

    /// Whether the truth changes within this many ticks of `at`, before or after.
    fn change_near(&self, at: usize) -> bool {
        let from = at.saturating_sub(HELD_FOR);
        let until = (at + HELD_FOR + 1).min(self.0.len());
        self.0[from..until].iter().any(|bound| *bound != self.0[at])
    }
}

struct Bench {
    ran: Ran<bool>,
    modem: Modem,
    greedy: Vec<DeviceId>,
    events: Vec<Event>,
    away_until: HostInstant,
}

/// The watched device: the first.
const DEVICE: DeviceId = DeviceId(0);

impl Bench {
    fn new(scenario: &Scenario, seed: u64) -> Result<Self, InvalidConfig> {
        let origin = HostInstant::default();
        let carriers = &scenario.carriers;
        let mut ran = Ran::new(carriers, origin, seed)?;
        let modem = Modem::new(ModemConfig::default(), DEVICE, &scenario.device, carriers, origin)?;
        ran.add_device(scenario.device.clone())?;
        ran.watch(DEVICE);
        let add = |ran: &mut Ran<bool>, device: &DeviceConfig| ran.add_device(device.clone());
        let greedy = scenario.greedy.iter().map(|device| add(&mut ran, device));
        let greedy = greedy.collect::<Result<_, _>>()?;
        for device in &scenario.others {
            add(&mut ran, device)?;
        }
        Ok(Self { ran, modem, greedy, events: Vec::new(), away_until: origin })
    }

    fn offer(&mut self, now: HostInstant, direction: Direction, packets: u32) {
        for _ in 0..packets {
            self.ran.handle_packet(now, DEVICE, direction, PACKET, true);
        }
        for &device in &self.greedy {
            while self.ran.backlog(device, direction) < Bytes::new(60_000) {
                self.ran.handle_packet(now, device, direction, PACKET, false);
            }
        }
    }

    /// Gives events to the modem, and the modem's bytes to its host.
    fn write(&mut self, now: HostInstant, sounder: &mut Sounder) {
        self.ran.drain_events(&mut self.events);
        for event in self.events.drain(..) {
            if let Event::Rrc { change: Rrc::Handover { resumes, .. }, .. } = event {
                self.away_until = resumes;
            }
            self.modem.handle_event(&event);
        }
        self.modem.handle_time(now);
        while let Some(record) = self.modem.poll_record() {
            sounder.handle_bytes(Arrival::At(now), &record.bytes, |_, _| {});
        }
    }
}

/// Runs a scenario, and counts how often its labels were right.
pub(super) fn run(scenario: &Scenario, seed: u64) -> Result<Counts, InvalidConfig> {
    let direction = scenario.kind.direction();
    let mut bench = Bench::new(scenario, seed)?;
    let mut source = Source::new(scenario);
    let mut sounder = Sounder::new(Config::new(direction));
    let begins = ModemConfig::default().clock.begins;
    let cycle = cycle(direction, &scenario.device.scheduling);
    let (mut truth, mut counts) = (Truth::default(), Counts::default());
    let mut judged = Vec::new();
    let overhead = scenario.device.uplink.packet_overhead;
    let mut entered = 0;
    let ticks = (scenario.span.as_millis() / TICK.as_millis()) as usize;
    for tick in 0..ticks {
        let elapsed = TICK * tick as u32;
        let now = HostInstant::default() + elapsed;
        // The slots before this tick, and none that begins with it.
        bench.ran.handle_time(now.saturating_before(Duration::from_nanos(1)));
        while let Some(output) = bench.ran.poll_output() {
            if output.payload {
                let at = match output.outcome {
                    Outcome::Delivered(passage) => passage.delivered,
                    Outcome::Lost(at) => at,
                };
                source.handle_outcome(at - HostInstant::default());
            }
        }
        bench.write(now, &mut sounder);
        truth.backlog.push(bench.ran.backlog(DEVICE, direction).count());
        truth.entered.push(entered);
        truth.away.push(bench.away_until > now);
        let packets = source.poll(elapsed);
        entered += u64::from(packets) * (PACKET + overhead).count();
        bench.offer(now, direction, packets);

        if tick < WARM_UP {
            continue;
        }
        let estimate = sounder.estimate(now);
        counts.ticks += 1;
        if truth.away[tick] {
            counts.away += 1;
            counts.away_known += u64::from(!estimate.is_usable());
            counts.away_named += u64::from(estimate.state == State::Handover);
        }
        let Some(spoken) = sounder.bound_speaks_of().filter(|_| estimate.is_usable()) else {
            continue;
        };
        // The backlog that a block left is known at its end. LTE's subframes are dated by their
        // beginning. NR's slots are dated by their end, because no record reports them
        // sooner.
        let over = if scenario.kind.nr { spoken } else { spoken + TICK };
        let spoken = (over - begins).as_nanos().div_ceil(TICK.as_nanos()) as usize;
        counts.lag_ms += tick.saturating_sub(spoken) as u64;
        let spoken = spoken.min(tick);
        let label = usize::from(estimate.bound == Bound::Capacity);
        let is = usize::from(truth.bound(spoken, cycle) == Bound::Capacity);
        counts.labels[is][label] += 1;
        judged.push((spoken, is == label));
        counts.near_change += u64::from(is != label && truth.changes_near(spoken, cycle));
        counts.at_once[usize::from(truth.backlog[spoken] > 0)][label] += 1;
    }
    let bounds = Bounds::of(&truth, cycle);
    for (_, right) in judged.into_iter().filter(|(at, _)| bounds.change_near(*at)) {
        counts.near_one[usize::from(right)] += 1;
    }
    Ok(counts)
}
