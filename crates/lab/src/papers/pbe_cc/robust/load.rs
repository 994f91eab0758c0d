//! A device whose own load comes and goes: the monitor's capacity beside the truth.

use std::collections::BTreeSet;
use std::time::Duration;

use sounding_cell::event::{SlotUse, Transmission};
use sounding_cell::{DeviceId, Direction, Event as CellEvent};
use sounding_experiment::metrics::sorted;
use sounding_experiment::observe::Setup as Shows;
use sounding_experiment::plan::Wrong;
use sounding_units::HostInstant;

use super::super::rig::{Observed, Setup, observe};
use super::{Check, Plan, each, run_of};

/// The first second in which the monitor knows the device's RNTI for certain.
const KNOWN: usize = 2;

/// One second's truth.
#[derive(Clone, Copy, Debug, Default)]
struct Second {
    /// Resource blocks of the device, and its part of the idle ones.
    prb: f64,
    bits: f64,
    bits_prb: f64,
    first: f64,
    again: f64,
    seen: f64,
    views: f64,
}

impl Second {
    /// C_t as Equations 3 and 5 have it, of what really was granted and lost, Mbit/s.
    /// `overhead` is the share of headers.
    fn truth(&self, overhead: f64) -> f64 {
        let lost = self.again / self.first.max(1.0);
        self.prb * self.bits / self.bits_prb.max(1.0) * (1.0 - overhead) / (1.0 + lost) * 1e-6
    }
}

fn seconds(observed: &Observed) -> Vec<Second> {
    let mut seconds = vec![Second::default(); observed.span.as_secs() as usize];
    let second = |at: HostInstant| (at - HostInstant::default()).as_secs() as usize;
    let mut window = Window::default();
    for event in &observed.cell {
        match event {
            CellEvent::Use(used) => {
                let at = (used.slot.at - HostInstant::default()).as_nanos() / WINDOW.as_nanos();
                if window.at != at {
                    let second = (window.at * WINDOW.as_nanos() / 1_000_000_000) as usize;
                    if let Some(of) = seconds.get_mut(second) {
                        of.prb += window.own_and_idle();
                    }
                    window = Window { at, ..Window::default() };
                }
                window.add(used);
            }
            CellEvent::Transmission(DeviceId(0), block)
                if block.direction == Direction::Downlink =>
            {
                let Some(of) = seconds.get_mut(second(block.slot.at)) else { continue };
                let Transmission { number, size, prb, .. } = block;
                if *number == 0 {
                    of.bits += f64::from(*size) * 8.0;
                    of.bits_prb += f64::from(*prb);
                    of.first += 1.0;
                } else {
                    of.again += 1.0;
                }
            }
            _ => {}
        }
    }
    for (at, view) in &observed.views {
        if let (Some(of), Some(view)) = (seconds.get_mut(at.as_secs() as usize), view) {
            of.seen += view.rate.mbit_per_sec();
            of.views += 1.0;
        }
    }
    seconds
}

/// What users are counted over (§4.2.1, Fig. 7).
const WINDOW: Duration = Duration::from_millis(40);

/// Resource blocks of 40 ms.
#[derive(Clone, Debug, Default)]
struct Window {
    at: u128,
    own: u32,
    idle: u32,
    others: BTreeSet<DeviceId>,
}

impl Window {
    fn add(&mut self, used: &SlotUse) {
        self.idle += u32::from(used.idle_prb());
        for user in &used.users {
            if user.device.0 == 0 {
                self.own += u32::from(user.prb);
            } else if user.prb > 0 {
                self.others.insert(user.device);
            }
        }
    }

    /// P_a + P_idle/N.
    fn own_and_idle(&self) -> f64 {
        f64::from(self.own) + f64::from(self.idle) / (self.others.len() + 1) as f64
    }
}

/// A load that is on for 700 ms and off for 500 ms.
pub(super) fn toggled(plan: &Plan) -> Result<Check, Wrong> {
    let sets = [
        "flows.download.traffic={kind = \"on-off\", on = \"700ms\", off = \"500ms\"}",
        // On a channel that does not change the truth of a second is one number.
        "cell.devices.phone.channel={kind = \"script\", levels = [{at_s = 0.0, sinr_db = 20.0}]}",
    ];
    let ratios = each(plan, plan.seeds, |seed| {
        let shows = Shows { radio: true, slots: true, ..Shows::default() };
        let setup = Setup { views: true, ..Setup::of(shows) };
        let run = run_of(seed, &sets)?;
        let phone = run.plan.cell.as_ref().and_then(|cell| cell.devices.first());
        let modem = phone.and_then(|phone| phone.modem.as_ref());
        let overhead = modem.and_then(|modem| modem.overhead).unwrap_or(0.0);
        let observed = observe(&run, setup)?;
        let seconds = seconds(&observed);
        let known = seconds.iter().skip(KNOWN).filter(|of| of.bits_prb > 0.0 && of.views > 0.0);
        Ok(known.map(|of| of.seen / of.views / of.truth(overhead)).collect::<Vec<f64>>())
    })?;
    let ratios = sorted(ratios.into_iter().flatten());
    let (least, most) =
        (ratios.first().copied().unwrap_or(f64::NAN), ratios.last().copied().unwrap_or(f64::NAN));
    let mean = super::mean(ratios.iter().copied());
    Ok(Check {
        name: "own load comes and goes: capacity over the truth, by the second".into(),
        limit: "85 to 115 %".into(),
        ours: format!(
            "{:.0} to {:.0} %, mean {:.0} % of {}",
            least * 100.0,
            most * 100.0,
            mean * 100.0,
            ratios.len()
        ),
        holds: least >= 0.85 && most <= 1.15,
    })
}
