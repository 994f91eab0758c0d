//! What background takes of the cell while foreground waits, by the phase of its law; and laws that know when foreground waits.
//!
//! An oracle has the cell's own account. It begins to yield when a foreground device has had data waiting for some time, and
//! sends again when none has. It needs no probe. What it harms is harmed by every law at the sender that needs so much time to
//! see a rival: half a round trip passes before its silence reaches the cell, and its queue there still has to drain.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sounding_cc::parameter::Choice;
use sounding_cc::{Ack, Controller, Departure, Loss, Start, forward};
use sounding_cell::event::SlotUse;
use sounding_experiment::plan::{Actors, Run, Wrong};
use sounding_units::{Bytes, HostInstant, Rate};

use super::measured::{Figures, figure};
use super::rig::{self, Shown};

/// What controls the watched flows.
#[derive(Clone, Copy, Debug)]
pub(super) enum Watched {
    /// A law of the registry.
    Law(&'static str),
    /// That of the plan.
    Own,
    /// One that yields to what has waited for so long.
    Oracle {
        /// Milliseconds.
        ms: u32,
    },
}

/// Its name in the plan.
const NAME: &str = "watched";
/// A device whose data has not waited for so long has none. Longer than the pauses of HARQ's order.
const GAP: Duration = Duration::from_millis(10);
/// An oracle looks again after so long.
const AGAIN: Duration = Duration::from_millis(2);
/// What an oracle keeps waiting at the cell, as `background` does.
const QUEUE: Duration = Duration::from_millis(40);
/// Phases of a law, and what still drains after it has yielded.
const PHASES: [&str; 4] = ["opening %", "probing %", "sending %", "drained %"];
const PROBING: usize = 1;
const SENDING: usize = 2;
const YIELDED: usize = 3;

/// What the cell knows.
#[derive(Debug, Default)]
struct Truth {
    /// Devices of background flows.
    background: Range<u16>,
    /// When foreground began to wait, and when it last did.
    since: Option<HostInstant>,
    last: Option<HostInstant>,
    /// Resource blocks, and in each millisecond those that each background device had while foreground waited.
    all: Vec<u64>,
    taken: Vec<Vec<u16>>,
    /// Changes of phase of each flow, by millisecond.
    phases: Vec<Vec<(usize, usize)>>,
}

type Shared = Arc<Mutex<Truth>>;

fn with<T>(truth: &Shared, of: impl FnOnce(&mut Truth) -> T) -> T {
    of(&mut truth.lock().unwrap_or_else(PoisonError::into_inner))
}

fn millis(at: HostInstant) -> usize {
    (at.as_nanos() / 1_000_000) as usize
}

impl Truth {
    fn handle(&mut self, used: &SlotUse) {
        let at = used.slot.at;
        let ms = millis(at);
        if self.all.len() <= ms {
            self.all.resize(ms + 1, 0);
        }
        self.all[ms] += u64::from(used.prb);
        let is_background = |device: u16| self.background.contains(&device);
        if !used.users.iter().any(|user| user.waits && !is_background(user.device.0)) {
            return;
        }
        if self.last.is_none_or(|last| at - last > GAP) {
            self.since = Some(at);
        }
        self.last = Some(at);
        for user in used.users.iter().filter(|user| self.background.contains(&user.device.0)) {
            let flow = usize::from(user.device.0 - self.background.start);
            if self.taken.len() <= flow {
                self.taken.resize(flow + 1, Vec::new());
            }
            let taken = &mut self.taken[flow];
            if taken.len() <= ms {
                taken.resize(ms + 1, 0);
            }
            taken[ms] += user.prb;
        }
    }

    /// For how long foreground has been waiting, if it is.
    fn waits(&self, now: HostInstant) -> Option<Duration> {
        self.last.filter(|last| now - *last <= GAP)?;
        self.since.map(|since| now - since)
    }

    /// The part of the time between two milliseconds that flows sent freely in.
    fn free(&self, from: usize, to: usize) -> f64 {
        let free = |phases: &Vec<(usize, usize)>| {
            let ends = phases.iter().skip(1).map(|(ms, _)| *ms).chain([to]);
            let spans = phases.iter().zip(ends).filter(|((_, phase), _)| *phase == SENDING);
            spans
                .map(|((begins, _), ends)| ends.min(to).saturating_sub((*begins).max(from)))
                .sum::<usize>()
        };
        let all: usize = self.phases.iter().map(free).sum();
        all as f64 / (self.phases.len() * (to - from)).max(1) as f64
    }

    /// The part of the resource blocks between two milliseconds that background took in each phase, and probes by flow.
    fn figures(&self, from: usize, to: usize) -> Figures {
        let all: u64 = self.all.iter().take(to).skip(from).sum();
        let mut taken = [0_u64; PHASES.len()];
        let (mut probes, mut flows) = (0_usize, 0_usize);
        for (flow, phases) in self.phases.iter().enumerate() {
            flows += 1;
            probes += phases.iter().filter(|(_, phase)| *phase == PROBING).count();
            let mut at = phases.iter().peekable();
            let mut phase = 0;
            for (ms, prb) in self.taken.get(flow).into_iter().flatten().enumerate() {
                while let Some((_, next)) = at.next_if(|(begins, _)| *begins <= ms) {
                    phase = *next;
                }
                if (from..to).contains(&ms) {
                    taken[phase] += u64::from(*prb);
                }
            }
        }
        let of_all = |prb: u64| prb as f64 * 1e2 / all.max(1) as f64;
        let minutes = (to - from) as f64 / 60e3;
        let mut figures: Figures =
            PHASES.iter().zip(taken).map(|(head, prb)| figure(head, of_all(prb))).collect();
        figures.push(figure("taken %", of_all(taken.iter().sum())));
        figures.push(figure("normal %", self.free(from, to) * 1e2));
        figures.push(figure("probes a minute", probes as f64 / flows.max(1) as f64 / minutes));
        figures
    }
}

/// A law whose phases are kept.
#[derive(Debug)]
struct Kept {
    law: Box<dyn Controller>,
    flow: usize,
    phase: Option<usize>,
    truth: Shared,
}

impl Kept {
    fn keep(&mut self, now: HostInstant) {
        let phase = match self.law.state() {
            _ if self.law.not_before().is_some() => YIELDED,
            "opening" => 0,
            "probing" | "proving" | "gap I" | "gap II" | "gap III" => PROBING,
            _ => SENDING,
        };
        if self.phase != Some(phase) {
            self.phase = Some(phase);
            let ms = millis(now);
            with(&self.truth, |truth| truth.phases[self.flow].push((ms, phase)));
        }
    }
}

impl Controller for Kept {
    forward!(law; but handle_sent, handle_ack, handle_timeout, handle_time);

    fn handle_sent(&mut self, sent: &Departure, size: Bytes) {
        self.law.handle_sent(sent, size);
        self.keep(sent.at);
    }

    fn handle_ack(&mut self, ack: &Ack) {
        self.law.handle_ack(ack);
        self.keep(ack.now);
    }

    fn handle_timeout(&mut self, now: HostInstant) {
        self.law.handle_timeout(now);
        self.keep(now);
    }

    fn handle_time(&mut self, now: HostInstant) {
        self.law.handle_time(now);
        self.keep(now);
    }
}

/// Keeps a queue of 40 ms, except while it knows of a rival.
#[derive(Debug)]
struct Oracle {
    truth: Shared,
    sees_after: Duration,
    until: Option<HostInstant>,
    cwnd: u64,
    least: Option<Duration>,
    mss: u64,
}

impl Oracle {
    fn new(start: &Start, truth: Shared, ms: u32) -> Self {
        let sees_after = Duration::from_millis(ms.into());
        let (cwnd, mss) = (start.initial_cwnd().count(), start.mss.count());
        Self { truth, sees_after, until: None, cwnd, least: None, mss }
    }

    fn look(&mut self, now: HostInstant) {
        let waits = with(&self.truth, |truth| truth.waits(now));
        let yields = match (waits, self.until) {
            (Some(_), Some(_)) => true,
            (Some(waited), None) => waited >= self.sees_after,
            (None, _) => false,
        };
        self.until = yields.then(|| now + AGAIN);
    }
}

impl Controller for Oracle {
    fn handle_ack(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt.filter(|rtt| !rtt.is_zero()) {
            let least = self.least.map_or(rtt, |least| least.min(rtt));
            self.least = Some(least);
            self.cwnd = if rtt < least + QUEUE {
                self.cwnd + ack.acked.count()
            } else {
                self.cwnd.saturating_sub(ack.acked.count()).max(4 * self.mss)
            };
        }
        self.look(ack.now);
    }

    fn handle_loss(&mut self, _loss: &Loss) {}

    fn handle_timeout(&mut self, now: HostInstant) {
        self.look(now);
    }

    fn handle_time(&mut self, now: HostInstant) {
        self.look(now);
    }

    fn wakeup(&self) -> Option<HostInstant> {
        self.until
    }

    fn not_before(&self) -> Option<HostInstant> {
        self.until
    }

    fn cwnd(&self) -> Bytes {
        Bytes::new(self.cwnd)
    }

    fn pacing_rate(&self) -> Option<Rate> {
        None
    }

    fn state(&self) -> &'static str {
        "sending"
    }
}

/// A run whose background is watched, and what it took.
pub(super) fn run(run: &Run, watched: Watched) -> Result<(Shown, Figures), Wrong> {
    let mut run = run.clone();
    let wrong = |message: String| Wrong::new("", message);
    let actors = Actors::new(&run.plan)?;
    let entry = run.plan.flows.iter().position(|flow| flow.name.as_deref() == Some("background"));
    let entry = entry.ok_or_else(|| wrong("no flow is called background".into()))?;
    let devices = actors.flows.iter().filter(|actor| actor.plan == entry);
    let devices: Vec<u16> = devices.map(|actor| actor.port.device.0).collect();
    let background = match (devices.iter().min(), devices.iter().max()) {
        (Some(first), Some(last)) => *first..last + 1,
        _ => 0..0,
    };
    let truth = Shared::default();
    with(&truth, |truth| truth.background = background);
    let make = {
        let truth = Arc::clone(&truth);
        let law = match watched {
            Watched::Law(name) => Some(Choice::plain(name)),
            Watched::Own => Some(run.plan.flows[entry].controller.clone()),
            Watched::Oracle { .. } => None,
        };
        let choose = |choice| run.controllers.choose(&choice).map(|(_, make)| make);
        let law = law.map(choose).transpose().map_err(|error| wrong(error.to_string()))?;
        move |start: &Start| -> Box<dyn Controller> {
            let flow = with(&truth, |truth| {
                truth.phases.push(Vec::new());
                truth.phases.len() - 1
            });
            let law: Box<dyn Controller> = match (&law, watched) {
                (Some(make), _) => make(start),
                (None, Watched::Oracle { ms }) => {
                    Box::new(Oracle::new(start, Arc::clone(&truth), ms))
                }
                (None, Watched::Law(_) | Watched::Own) => unreachable!("a law was found"),
            };
            Box::new(Kept { law, flow, phase: None, truth: Arc::clone(&truth) })
        }
    };
    run.controllers.add(NAME, make).map_err(|error| wrong(error.to_string()))?;
    run.plan.flows[entry].controller = Choice::plain(NAME);
    let sees = Arc::clone(&truth);
    let shown = rig::run_seeing(&run, false, move |used| with(&sees, |truth| truth.handle(used)))?;
    let ends = run.plan.flows.iter().map(|flow| flow.stop).min().unwrap_or(run.plan.duration);
    let until = ends.min(run.plan.duration);
    let [from, to] = [run.plan.warmup, until].map(|at| at.as_millis() as usize);
    let figures = with(&truth, |truth| truth.figures(from, to));
    Ok((shown, figures))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::Probe;

    #[test]
    fn a_law_whose_phases_are_kept_hears_every_method() {
        let (probe, truth) = (Probe::default(), Shared::default());
        with(&truth, |truth| truth.phases.push(Vec::new()));
        let mut kept = Kept { law: Box::new(probe.clone()), flow: 0, phase: None, truth };
        assert_eq!(probe.not_heard(&mut kept), [""; 0]);
    }
}
