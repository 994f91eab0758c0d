//! Measurements that need all of a run: shares over sliding windows, when flows converged to a fair
//! share, and how long they stalled. Memory does not grow with a run's length.

use std::collections::VecDeque;
use std::time::Duration;

use sounding_sim::PathConfig;
use sounding_sim::world::{Event, Observer};
use sounding_units::{Bytes, HostInstant};

use super::at;
use crate::metrics::jain;
use crate::plan::{Actors, Plan, Run, TrafficPlan, Wrong, given, offered};

/// Windows slide by this part of their width.
const STEPS: usize = 5;

/// A flow whose data does not arrive for longer than this is stalled. Chosen: a user of a video
/// call notices it, and it is Linux's minimum retransmission timeout.
const STALL: Duration = Duration::from_millis(200);

/// A flow has converged when its windows differ from the fair share by at most this part, for a
/// time. Chosen.
const NEAR: f64 = 0.25;
const FOR: Duration = Duration::from_secs(5);

/// Its results for a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Found {
    /// From its beginning to the first of the windows.
    pub(super) converged: Option<Duration>,
    /// Total time in which it was stalled.
    pub(super) stalled: Option<Duration>,
    /// The longest time between two packets.
    pub(super) longest_gap: Option<Duration>,
}

/// Jain's index of flows that share a network, over sliding windows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Shares {
    windows: u64,
    total: f64,
    least: Option<f64>,
}

impl Shares {
    /// Mean and minimum; `None` without a window in which two flows sent and one received data.
    pub(super) fn figures(&self) -> Option<(f64, f64)> {
        Some((self.total / self.windows as f64, self.least?))
    }

    fn add(&mut self, index: f64) {
        self.windows += 1;
        self.total += index;
        self.least = Some(self.least.map_or(index, |least| least.min(index)));
    }
}

/// Watches the flows of a run.
pub(super) struct Gauge {
    flows: Vec<Watched>,
    /// Groups of flows that share a network.
    groups: Vec<Group>,
    step: Duration,
    /// When the current step began.
    begins: HostInstant,
    /// The time from which stalls and shares count.
    measured: HostInstant,
}

struct Group {
    flows: Vec<usize>,
    shares: Shares,
}

struct Watched {
    begins: HostInstant,
    ends: HostInstant,
    /// Whether it always has data: then only network and controller limit it.
    bulk: bool,
    given: Vec<PathConfig>,
    /// The other flows on the given link.
    beside: Vec<usize>,
    steps: VecDeque<Bytes>,
    step: Bytes,
    near_since: Option<HostInstant>,
    last: HostInstant,
    found: Found,
}

impl Watched {
    fn is_there(&self, from: HostInstant, to: HostInstant) -> bool {
        self.bulk && self.begins <= from && to <= self.ends
    }

    fn window(&self) -> Bytes {
        self.steps.iter().fold(Bytes::ZERO, |sum, &step| sum + step)
    }

    /// The time from its last packet to `now`, as far as it counts.
    fn gap(&mut self, now: HostInstant, measured: HostInstant) {
        let from = self.last.max(self.begins).max(measured);
        let now = now.min(self.ends);
        if now <= from {
            return;
        }
        let gap = now - from;
        let Found { stalled, longest_gap, .. } = &mut self.found;
        *longest_gap = Some(longest_gap.unwrap_or_default().max(gap));
        let still = if gap > STALL { gap } else { Duration::ZERO };
        *stalled = Some(stalled.unwrap_or_default() + still);
    }
}

impl Gauge {
    pub(super) fn new(run: &Run, actors: &Actors) -> Result<Self, Wrong> {
        let plan = &run.plan;
        let mut flows = Vec::new();
        for actor in &actors.flows {
            let stated = &plan.flows[actor.plan];
            let begins = at(stated.start) + stated.stagger.saturating_mul(actor.number);
            let beside = actors.flows.iter().enumerate();
            let beside = beside.filter(|(_, other)| other.port == actor.port);
            flows.push(Watched {
                begins,
                ends: if stated.stop == Duration::MAX {
                    at(plan.duration)
                } else {
                    at(stated.stop)
                },
                bulk: stated.traffic == TrafficPlan::Bulk,
                given: given(run, actor.port)?,
                beside: beside.map(|(at, _)| at).collect(),
                steps: VecDeque::with_capacity(STEPS + 1),
                step: Bytes::ZERO,
                near_since: None,
                last: begins,
                found: Found::default(),
            });
        }
        let groups = groups(plan, actors);
        let groups = groups.into_iter().map(|flows| Group { flows, shares: Shares::default() });
        Ok(Self {
            flows,
            groups: groups.collect(),
            step: plan.window / STEPS as u32,
            begins: HostInstant::default(),
            measured: at(plan.warmup),
        })
    }

    /// The capacity of each flow's link in a span of time, if it is known.
    pub(super) fn offered(&self, span: (Duration, Duration)) -> Vec<Option<Bytes>> {
        self.flows.iter().map(|flow| offered(&flow.given, span)).collect()
    }

    /// Closes the steps that have ended by `now`.
    fn reach(&mut self, now: HostInstant) {
        while self.begins + self.step <= now {
            self.begins = self.begins + self.step;
            for flow in &mut self.flows {
                flow.steps.push_back(std::mem::take(&mut flow.step));
                if flow.steps.len() > STEPS {
                    flow.steps.pop_front();
                }
            }
            let to = self.begins;
            let window = self.step * STEPS as u32;
            if to - HostInstant::default() >= window {
                self.close(at(to - HostInstant::default() - window), to);
            }
        }
    }

    /// Looks at a whole window.
    fn close(&mut self, from: HostInstant, to: HostInstant) {
        for group in self.groups.iter_mut().filter(|_| from >= self.measured) {
            let there = group.flows.iter().map(|&flow| &self.flows[flow]);
            let there = there.filter(|flow| flow.is_there(from, to));
            let carried: Vec<f64> = there.map(|flow| flow.window().count() as f64).collect();
            if carried.len() > 1
                && let Some(index) = jain(&carried)
            {
                group.shares.add(index);
            }
        }
        for flow in 0..self.flows.len() {
            let Some(fair) = self.fair(flow, from, to) else { continue };
            let flow = &mut self.flows[flow];
            let carried = flow.window().count() as f64;
            let is_near = fair > 0.0 && (carried / fair - 1.0).abs() <= NEAR;
            flow.near_since = is_near.then(|| flow.near_since.unwrap_or(from));
            if let Some(since) = flow.near_since.filter(|&since| to - since >= FOR) {
                flow.found.converged.get_or_insert(since - flow.begins);
            }
        }
    }

    /// The fair share in a window: an equal part of a given link's capacity or, in a cell, of its
    /// flows' throughput. `None` before the flow begins, and without other flows.
    fn fair(&self, flow: usize, from: HostInstant, to: HostInstant) -> Option<f64> {
        let flow = &self.flows[flow];
        if !flow.is_there(from, to) {
            return None;
        }
        let there = flow.beside.iter().map(|&beside| &self.flows[beside]);
        let there: Vec<&Watched> = there.filter(|beside| beside.is_there(from, to)).collect();
        let since = |at: HostInstant| at - HostInstant::default();
        let whole = match offered(&flow.given, (since(from), since(to))) {
            Some(capacity) => capacity.count(),
            None if there.len() > 1 => there.iter().map(|flow| flow.window().count()).sum(),
            None => return None,
        };
        Some(whole as f64 / there.len() as f64)
    }

    /// Its results for each flow, and for each group of flows that share a network.
    pub(super) fn finish(mut self, end: HostInstant) -> (Vec<Found>, Vec<(Vec<usize>, Shares)>) {
        self.reach(end);
        let measured = self.measured;
        self.flows.iter_mut().filter(|flow| flow.bulk).for_each(|flow| flow.gap(end, measured));
        let groups = self.groups.into_iter().map(|group| (group.flows, group.shares));
        (self.flows.into_iter().map(|flow| flow.found).collect(), groups.collect())
    }
}

/// Groups of bulk flows of a direction that share a network: over given links those of a device;
/// behind a wire or in a cell all of them.
fn groups(plan: &Plan, actors: &Actors) -> Vec<Vec<usize>> {
    let shared = plan.cell.is_some() || plan.wire.is_some();
    let mut groups: Vec<(_, Vec<usize>)> = Vec::new();
    for (number, actor) in actors.flows.iter().enumerate() {
        if plan.flows[actor.plan].traffic != TrafficPlan::Bulk {
            continue;
        }
        let key = ((!shared).then_some(actor.port.device), actor.port.direction);
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, flows)) => flows.push(number),
            None => groups.push((key, vec![number])),
        }
    }
    groups.into_iter().map(|(_, flows)| flows).filter(|flows| flows.len() > 1).collect()
}

impl Observer for Gauge {
    fn handle_event(&mut self, now: HostInstant, event: &Event<'_>) {
        self.reach(now);
        let Event::Arrived { flow, packet } = event else { return };
        let measured = self.measured;
        let flow = &mut self.flows[flow.0 as usize];
        flow.step += packet.size;
        if flow.bulk {
            flow.gap(now, measured);
        }
        flow.last = now;
    }
}
