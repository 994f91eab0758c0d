//! Which cell a device is on, and whether it listens.

use core::time::Duration;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use sounding_units::HostInstant;

use crate::config::{HandoverConfig, SleepConfig};
use crate::dual::Secondary;
use crate::event::{DeviceId, Direction, Event, Rrc};
use crate::ran::Ran;

/// How often neighbours are measured (TS 36.133 §8.1.2.2: a measurement period of 200 ms, layer 1 samples of 40 ms).
pub(crate) const MEASURED_EVERY: Duration = Duration::from_millis(40);

/// The way from one cell to another.
///
/// ```text
/// Here ──a neighbour is better by the offset──▶ Better ──for time-to-trigger──▶ Prepared ──command──▶ Here (there)
///   ▲                                             │
///   └──────────── it is not any more ─────────────┘
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Handover {
    #[default]
    Here,
    /// A neighbour is better since then.
    Better { cell: usize, since: HostInstant },
    /// The command comes then.
    Prepared { cell: usize, at: HostInstant },
}

impl Handover {
    /// Neighbours were measured: the best of them, by how many dB it is better than the serving cell.
    pub(crate) fn handle_measurement(
        &mut self,
        now: HostInstant,
        best: Option<(usize, f32)>,
        config: &HandoverConfig,
    ) {
        let better = best.filter(|(_, by_db)| *by_db >= config.a3_offset_db);
        *self = match (*self, better) {
            (prepared @ Self::Prepared { .. }, _) => prepared,
            (Self::Better { cell, since }, Some((found, _))) if cell == found => {
                if now - since >= config.time_to_trigger {
                    Self::Prepared { cell, at: now + config.preparation }
                } else {
                    Self::Better { cell, since }
                }
            }
            (_, Some((cell, _))) => Self::Better { cell, since: now },
            (_, None) => Self::Here,
        };
    }

    /// The cell to go to now.
    pub(crate) fn command(&mut self, now: HostInstant) -> Option<usize> {
        match *self {
            Self::Prepared { cell, at } if at <= now => {
                *self = Self::Here;
                Some(cell)
            }
            _ => None,
        }
    }
}

/// Whether a device is connected and awake (TS 36.321 §5.7, TS 38.321 §5.7).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attention {
    pub(crate) connected: bool,
    last_data: HostInstant,
}

impl Attention {
    pub(crate) const fn new(now: HostInstant) -> Self {
        Self { connected: true, last_data: now }
    }

    pub(crate) fn handle_data(&mut self, now: HostInstant) {
        self.last_data = self.last_data.max(now);
    }

    /// Whether it listens to the PDCCH.
    pub(crate) fn is_awake(&self, now: HostInstant, config: &SleepConfig) -> bool {
        self.connected
            && (now - self.last_data <= config.inactivity || {
                let cycle = config.cycle.as_nanos().max(1) as u64;
                now.as_nanos() % cycle < config.on.as_nanos() as u64
            })
    }

    /// Whether the network lets the connection go.
    pub(crate) fn is_released(&self, now: HostInstant, config: &SleepConfig) -> bool {
        self.connected && now - self.last_data > config.release
    }

    /// Data came for a device without a connection: when the connection will be there.
    fn connect(&mut self, now: HostInstant, way: Direction, config: &SleepConfig) -> HostInstant {
        self.connected = true;
        let paged = match way {
            Direction::Uplink => now,
            Direction::Downlink => {
                let cycle = config.paging.as_nanos().max(1) as u64;
                HostInstant::from_nanos(now.as_nanos().next_multiple_of(cycle))
            }
        };
        let there = paged + config.setup;
        self.last_data = there;
        there
    }
}

impl<P> Ran<P> {
    /// Data came for a device: one without a connection gets one.
    #[inline]
    pub(crate) fn wake(&mut self, now: HostInstant, device: u16, way: Direction) {
        if !self.devices[usize::from(device)].attention.connected {
            self.connect(now, device, way);
        }
    }

    fn connect(&mut self, now: HostInstant, device: u16, way: Direction) {
        let state = &mut self.devices[usize::from(device)];
        let there = state.attention.connect(now, way, &state.config.sleep);
        state.away_until = state.away_until.max(there);
        if way == Direction::Uplink {
            state.belief.handle_request(there, &state.config.scheduling);
        }
        self.tell(device, there, Rrc::Setup);
    }

    /// Measures the neighbours, goes to a better one, and lets an idle connection go.
    pub(crate) fn roam(&mut self, device: u16, now: HostInstant) {
        let state = &mut self.devices[usize::from(device)];
        if state.attention.is_released(now, &state.config.sleep) && !state.is_busy() {
            state.attention.connected = false;
            state.forget_secondary();
            self.tell(device, now, Rrc::Released);
            return;
        }
        if state.config.cells.len() < 2 || state.away_until > now {
            return;
        }
        let motion = state.place.at(now);
        let serving = state.serving;
        let mut best: Option<(usize, f32)> = None;
        let mut here = f32::MIN;
        for leg in state.legs.iter_mut().filter(|leg| leg.primary) {
            if leg.cell != serving {
                leg.channel.advance(now, motion);
            }
            let rsrp = leg.channel.rsrp_dbm();
            if leg.cell == serving {
                here = rsrp;
            } else if best.is_none_or(|(_, found)| rsrp > found) {
                best = Some((leg.cell, rsrp));
            }
        }
        let best = best.map(|(cell, rsrp)| (cell, rsrp - here));
        state.handover.handle_measurement(now, best, &state.config.handover);
        let scripted = state.config.handover.at.get(state.scripted).copied();
        let forced = scripted.is_some_and(|at| self.origin + at <= now);
        let to = if forced {
            state.scripted += 1;
            Some((serving + 1) % state.config.cells.len())
        } else {
            state.handover.command(now)
        };
        if let Some(cell) = to {
            self.hand_over(device, now, cell);
        }
    }

    fn hand_over(&mut self, device: u16, now: HostInstant, cell: usize) {
        let state = &mut self.devices[usize::from(device)];
        let resumes = now + between(state.config.handover.interruption, &mut state.rng);
        let from = state.legs[state.primary].carrier;
        for leg in &mut state.legs {
            leg.usable = None;
            leg.down.processes.reset();
            leg.up.processes.reset();
        }
        state.serving = cell;
        state.secondary = Secondary::Off;
        let Some(primary) = state.legs.iter().position(|leg| leg.cell == cell && leg.primary)
        else {
            return;
        };
        state.primary = primary;
        state.legs[primary].usable = Some(resumes);
        state.away_until = resumes;
        state.asking.reset();
        state.belief.reset();
        let forward = state.config.handover.forward;
        state.downlink.reestablish(now, forward);
        // The device keeps what was not confirmed (TS 36.323 §5.2.1.1).
        state.uplink.reestablish(now, true);
        // Random access in the new cell comes with a grant.
        state.belief.handle_request(resumes, &state.config.scheduling);
        state.asking.handle_data();
        let to = state.legs[primary].carrier;
        self.tell(device, now, Rrc::Handover { from, to, resumes });
        self.collect(device);
    }

    pub(crate) fn tell(&mut self, device: u16, at: HostInstant, change: Rrc) {
        let watched = self.devices[usize::from(device)].watched;
        if let (true, Some(events)) = (watched, &mut self.events) {
            events.push(Event::Rrc { device: DeviceId(device), at, change });
        }
    }
}

fn between([least, most]: [Duration; 2], rng: &mut ChaCha8Rng) -> Duration {
    let part: f64 = rng.random();
    least + most.saturating_sub(least).mul_f64(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> HostInstant {
        HostInstant::from_nanos(ms * 1_000_000)
    }

    #[test]
    fn a_neighbour_has_to_stay_better_for_the_time_to_trigger() {
        let config = HandoverConfig::default();
        let mut handover = Handover::default();
        for ms in (0..300).step_by(40) {
            handover.handle_measurement(at(ms), Some((1, 4.0)), &config);
        }
        handover.handle_measurement(at(300), Some((1, 2.9)), &config);
        assert_eq!(handover, Handover::Here);
        for ms in (340..680).step_by(40) {
            handover.handle_measurement(at(ms), Some((1, 3.0)), &config);
        }
        assert_eq!(handover.command(at(709)), None);
        assert_eq!(handover.command(at(710)), Some(1));
        assert_eq!(handover, Handover::Here);
    }

    #[test]
    fn a_device_sleeps_after_its_inactivity_and_listens_once_a_cycle() {
        let config = SleepConfig::default();
        let mut attention = Attention::new(at(0));
        attention.handle_data(at(1_000));
        assert!(attention.is_awake(at(1_200), &config));
        assert!(!attention.is_awake(at(1_201), &config));
        let awake = (2_000..5_200).filter(|&ms| attention.is_awake(at(ms), &config)).count();
        assert_eq!(awake, 100, "10 ms of each of ten cycles");
        assert!(attention.is_released(at(11_001), &config));
    }

    #[test]
    fn a_paged_device_answers_at_its_occasion() {
        let config = SleepConfig::default();
        let mut attention = Attention::new(at(0));
        attention.connected = false;
        assert_eq!(attention.connect(at(2_000), Direction::Downlink, &config), at(2_560 + 80));
        attention.connected = false;
        assert_eq!(attention.connect(at(9_000), Direction::Uplink, &config), at(9_080));
    }
}
