//! A radio link in an experiment: its capacity over time, and the bytes that its modem writes. Both
//! come from one source, so a controller that reads the modem is tested on exactly the link that
//! the modem describes.

mod links;
mod scripted;

use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sounding_experiment::plan::{PlanError, Text};
use sounding_experiment::simulate::{About, SimulateError, capture};
use sounding_kpi::{Direction, Kpi};
use sounding_link::{Arrival, Config, Granted, Seen, Sounder};
use sounding_trace::{Carried, InvalidTrace, Trace};
use sounding_units::{Bytes, ModemInstant};
use thiserror::Error;

pub use links::{
    Entry, LinksError, ReadCapture, SHORTEST, Scenario, chosen, dataset, own_capture, own_trace,
    real,
};
pub use scripted::Scripted;

/// A link's capacity and its modem's records.
#[derive(Clone, Debug)]
pub struct RadioLink {
    /// For people: where it comes from.
    pub name: String,
    /// Its direction, seen from the device.
    pub direction: Direction,
    /// Delivery opportunities of the direction under test.
    pub offered: Trace,
    /// The modem's byte stream.
    pub capture: Vec<u8>,
    /// The modem time at which `offered` begins.
    pub begin: ModemInstant,
    /// Duration of `offered` without repetition.
    pub duration: Duration,
}

/// Why a capture is not a link.
#[derive(Debug, Error)]
pub enum RadioError {
    /// No grants, or too few.
    #[error(
        "{direction}: no stretch of {shortest:?} with grants: this capture shows no load in that direction"
    )]
    Idle {
        /// The direction.
        direction: Direction,
        /// The required duration.
        shortest: Duration,
    },
    /// The opportunities are no trace.
    #[error("the grants make no trace: {0}")]
    Trace(#[from] InvalidTrace),
    /// The modelled cell is invalid: an error of this program.
    #[error(transparent)]
    Plan(Box<PlanError>),
    /// It does not run.
    #[error(transparent)]
    Run(Box<SimulateError>),
}

/// An opportunity carries one packet of 1500 bytes of IP (mahimahi's rule).
const OPPORTUNITY: u64 = sounding_trace::OPPORTUNITY_PAYLOAD.count();

/// Grants show how much was sent, not when more could have been sent: a phone that sends a burst
/// every 100 ms is granted a burst every 100 ms. So grants are averaged over this time, the
/// interval of the MAC summary (BISCAY §3.2.2).
const SPREAD: Duration = Duration::from_millis(100);

impl RadioLink {
    /// The link behind a capture: its capacity is the granted bytes, in the longest span in which
    /// grants are never more than half a second apart, or in its first four hours.
    pub fn of_capture(
        name: &str,
        capture: Vec<u8>,
        direction: Direction,
    ) -> Result<Self, RadioError> {
        const SHORTEST: Duration = Duration::from_secs(2);
        const LONGEST: Duration = Duration::from_secs(4 * 3600);
        let config = Config::new(direction);
        let grants = new_data(&capture, config);
        let busy = longest_stretch(&grants, Duration::from_millis(500));
        let (Some(&(first, _)), Some(&(last, _))) = (busy.first(), busy.last()) else {
            return Err(RadioError::Idle { direction, shortest: SHORTEST });
        };
        // Memory is needed for each millisecond.
        let busy = &busy[..busy.partition_point(|(at, _)| *at - first < LONGEST)];
        if last - first < SHORTEST {
            return Err(RadioError::Idle { direction, shortest: SHORTEST });
        }
        let spread = spread(busy, first, u64::from(config.ip_share_permille));
        let loaded = loaded(&spread);
        let begin = first + Duration::from_millis(loaded.start as u64);
        let spread = &spread[loaded];
        let offered = opportunities(spread)?;
        let duration = Duration::from_millis(offered.period_millis().into());
        Ok(Self { name: name.into(), direction, offered, capture, begin, duration })
    }

    /// A link with the capacity of a trace, and a modelled modem with exactly those grants.
    pub fn of_trace(name: &str, offered: Trace, duration: Duration) -> Self {
        let direction = Direction::Uplink;
        let share = Config::new(direction).ip_share_permille;
        let mut link = Self {
            name: name.into(),
            direction,
            offered,
            capture: Vec::new(),
            begin: EPOCH,
            duration,
        };
        link.capture = sounding_modem::uplink_capture(&link.bytes_per_ms(), EPOCH, share);
        link
    }

    /// The same link with a modem that always reports the mean; only for uplinks.
    pub fn averaged(&self) -> Option<Self> {
        let bytes_per_ms = self.bytes_per_ms();
        let mean = bytes_per_ms.iter().sum::<u64>() / bytes_per_ms.len().max(1) as u64;
        let share = Config::new(self.direction).ip_share_permille;
        let steady = vec![mean; bytes_per_ms.len()];
        let capture = sounding_modem::uplink_capture(&steady, self.begin, share);
        (self.direction == Direction::Uplink).then(|| Self { capture, ..self.clone() })
    }

    /// A link made from a seed, with a modelled modem: a rate that wanders between 1 and 40 Mbit/s.
    pub fn generated(seed: u64, duration: Duration) -> Result<Self, RadioError> {
        let spread = wandering(seed, duration);
        let offered = opportunities(&spread)?;
        let name = format!("generated from seed {seed}");
        Ok(Self::of_trace(&name, offered, duration))
    }

    /// The downlink of a phone in a modelled LTE cell, some 14 Mbit/s, as its modem logs an endless
    /// download for a little longer than `duration`. A seed determines how the radio fades;
    /// without one it is constant.
    pub fn cell(seed: Option<u64>, duration: Duration) -> Result<Self, RadioError> {
        // In which the download begins, and the last reports are written.
        let around = Duration::from_secs(3);
        let text = Download { sinr_db: 10.0, fades: seed.is_some(), seed: seed.unwrap_or(1) };
        let text = text.lasting(duration + around);
        let runs = text.runs().map_err(|error| RadioError::Plan(error.into()))?;
        let capture = capture(&runs[0], &About::new(&text));
        let capture = capture.map_err(|error| RadioError::Run(error.into()))?;
        Self::of_capture("a modelled cell", capture, Direction::Downlink)
    }

    /// The link's bytes in each millisecond of its duration.
    pub fn bytes_per_ms(&self) -> Vec<u64> {
        let mut bytes_per_ms = vec![0; self.duration.as_millis() as usize];
        let period = self.offered.period_millis().max(1) as usize;
        for start in (0..bytes_per_ms.len()).step_by(period) {
            for &ms in self.offered.millis() {
                if let Some(bytes) = bytes_per_ms.get_mut(start + ms as usize) {
                    *bytes += OPPORTUNITY;
                }
            }
        }
        bytes_per_ms
    }

    /// The link's capacity between two times after its beginning.
    pub fn capacity(&self, from: Duration, to: Duration) -> Bytes {
        sounding_trace::Schedule::from(self.offered.clone()).capacity(from, to)
    }
}

/// A block of new data: when it was granted, and its bytes.
type Block = (ModemInstant, Bytes);

/// Blocks in time order, each once.
fn new_data(capture: &[u8], config: Config) -> Vec<Block> {
    let (mut blocks, mut granted) = (Vec::new(), Granted::new(config.direction));
    let mut stamped = ModemInstant::default();
    let mut sounder = Sounder::new(config);
    let mut watch = |sounder: &Sounder, seen: Seen<'_>| match seen {
        Seen::Next(record) => {
            stamped = record.at;
            granted.handle_time(sounder.clock().unwrap_or(record.at));
            blocks.extend(std::iter::from_fn(|| granted.poll()));
        }
        Seen::Kpi(Kpi::Grant(grant)) => granted.handle_grant(stamped, grant),
        Seen::Kpi(_) | Seen::Record(_) | Seen::Other { .. } => {}
    };
    sounder.handle_bytes(Arrival::AsStamped, capture, &mut watch);
    sounder.handle_end(Arrival::AsStamped, &mut watch);
    granted.handle_end();
    blocks.extend(std::iter::from_fn(|| granted.poll()));
    blocks.sort_by_key(|(at, _)| *at);
    blocks
}

/// IP bytes that the link carries in each millisecond: the grants of every [`SPREAD`], spread
/// evenly over it.
fn spread(grants: &[Block], begin: ModemInstant, share_permille: u64) -> Vec<u64> {
    let bins = grants.chunk_by(|(a, _), (b, _)| bin_of(*a, begin) == bin_of(*b, begin));
    let mut millis = Vec::new();
    for bin in bins {
        let start = bin_of(bin[0].0, begin) * SPREAD.as_millis() as usize;
        let total: Bytes = bin.iter().map(|(_, size)| *size).sum();
        let total = total.count() * share_permille / 1000;
        let width = SPREAD.as_millis() as u64;
        millis.resize(start, 0);
        millis.extend((0..width).map(|i| total * (i + 1) / width - total * i / width));
    }
    millis
}

/// The modelled modem's clock when a link begins: 2026-01-01.
const EPOCH: ModemInstant = ModemInstant::from_nanos(1_451_260_800_000_000_000);

/// IP bytes in each millisecond. Every 100 ms the rate changes by up to a fifth, with a tendency to
/// 10 Mbit/s, as in a walk through a cell. About every ten seconds it falls to a tenth for half a
/// second, as behind a corner.
fn wandering(seed: u64, duration: Duration) -> Vec<u64> {
    const MEAN: f64 = 10e6;
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut uniform = move || f64::from(random.next_u32()) / f64::from(u32::MAX);
    let (mut rate, mut shadowed) = (MEAN, 0);
    let mut millis = Vec::new();
    while (millis.len() as u128) < duration.as_millis() {
        rate *= 0.8 + 0.4 * uniform();
        rate = (rate * (MEAN / rate).powf(0.1)).clamp(1e6, 40e6);
        shadowed =
            if shadowed == 0 && uniform() < 0.01 { 5 } else { u32::saturating_sub(shadowed, 1) };
        let now = if shadowed > 0 { rate / 10.0 } else { rate };
        let per_ms = (now / 8000.0) as u64;
        millis.resize(millis.len() + SPREAD.as_millis() as usize, per_ms);
    }
    millis
}

fn bin_of(at: ModemInstant, begin: ModemInstant) -> usize {
    ((at - begin).as_millis() / SPREAD.as_millis()) as usize
}

/// The part between the first and the last bin that carries a quarter of the mean: a transfer
/// starts and ends with trickles that do not show the capacity.
fn loaded(bytes_per_ms: &[u64]) -> Range<usize> {
    let width = SPREAD.as_millis() as usize;
    let mean = bytes_per_ms.iter().sum::<u64>() / bytes_per_ms.len().max(1) as u64;
    let busy = |bin: &[u64]| bin.iter().sum::<u64>() * 4 >= mean * bin.len() as u64;
    let first = bytes_per_ms.chunks(width).position(busy).unwrap_or(0);
    let last = bytes_per_ms.chunks(width).rposition(busy).unwrap_or(0);
    first * width..((last + 1) * width).min(bytes_per_ms.len())
}

/// Delivery opportunities that carry the given bytes of each millisecond, to a packet.
fn opportunities(bytes_per_ms: &[u64]) -> Result<Trace, InvalidTrace> {
    let mut carried = Carried::with_headers(Bytes::ZERO);
    for (ms, bytes) in (0..).zip(bytes_per_ms) {
        carried.handle_bytes(ms, Bytes::new(*bytes))?;
    }
    carried.finish(0)
}

fn longest_stretch(grants: &[Block], gap: Duration) -> &[Block] {
    let mut longest: &[Block] = &[];
    for stretch in grants.chunk_by(|(a, _), (b, _)| *b - *a <= gap) {
        let span = |s: &[Block]| s.last().zip(s.first()).map(|(last, first)| last.0 - first.0);
        if span(stretch) > span(longest) {
            longest = stretch;
        }
    }
    longest
}

/// A phone with a modem that downloads in a modelled cell of LTE, 20 ms from the server.
#[derive(Clone, Copy, Debug)]
pub struct Download {
    /// Mean SINR of the radio.
    pub sinr_db: f64,
    /// Whether it fades.
    pub fades: bool,
    /// Seed of the modelled cell.
    pub seed: u64,
}

impl Download {
    /// As a plan.
    pub fn lasting(self, duration: Duration) -> Text {
        let Self { sinr_db, fades, seed } = self;
        let fading = if fades { ", fading = {}" } else { "" };
        let plan = format!(
            "duration = \"{}us\"\nseeds = [{seed}]\nwire = {{ delay = \"20ms\" }}\n\
             [[cell.carriers]]\nprb = 50\n[[cell.devices]]\nmodem = {{}}\n\
             channel = {{ kind = \"script\", levels = [{{ at_s = 0.0, sinr_db = {sinr_db:?} }}]{fading} }}\n\
             [[flows]]\ndirection = \"down\"\ncontroller = \"cubic\"\n",
            duration.as_micros(),
        );
        Text::new("a download", plan, PathBuf::new())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_generated_link_is_its_seeds_to_the_byte() {
        let make = |seed| RadioLink::generated(seed, Duration::from_secs(3)).expect("a link");
        let (one, again, other) = (make(7), make(7), make(8));
        assert!(one.capture == again.capture && one.offered == again.offered);
        assert!(one.capture != other.capture);
    }

    #[test]
    fn a_cell_has_a_downlink_as_long_as_was_asked_for_and_it_fades_by_its_seed() {
        let span = Duration::from_secs(5);
        let make = |seed| RadioLink::cell(seed, span).expect("a link");
        let (still, one, other) = (make(None), make(Some(7)), make(Some(8)));
        assert!(one.capture != other.capture && one.offered != still.offered);
        for link in [still, one, other] {
            assert!(link.duration >= span, "{:?}", link.duration);
            let rate = link.capacity(Duration::ZERO, span).per(span);
            assert!((2.0..20.0).contains(&rate.mbit_per_sec()), "{rate}");
        }
    }

    #[test]
    fn the_modem_of_a_link_describes_what_the_link_offers() {
        let span = Duration::from_secs(5);
        let link = RadioLink::generated(1, span).expect("a link");
        let described = RadioLink::of_capture("again", link.capture.clone(), Direction::Uplink)
            .expect("the modem was granted something");
        let (offered, granted) =
            (link.capacity(Duration::ZERO, span), described.capacity(Duration::ZERO, span));
        let difference = offered.count().abs_diff(granted.count());
        assert!(difference * 100 < offered.count(), "{offered} offered, {granted} granted");
    }
}
