//! What `sounding link --delays` says of an upload: how often HARQ repeated blocks, how late that
//! made them, and how often RLC repeated something.
//!
//! Every repeat of a block is a row, which counts from the block's first transmission.

use std::ops::AddAssign;
use std::time::Duration;

use sounding_cell::Direction;
use sounding_cell::config::{DeviceConfig, HarqPreset, InvalidConfig};
use sounding_diag::capture::Kind;
use sounding_kpi::{Kpi, Layer};
use sounding_link::{Arrival, Config, DelayKind, Delays, Seen, Sounder};
use sounding_units::{HostInstant, ModemInstant};

use super::rig::{ORIGIN, Rig, saturate};
use super::walk::{lte, on_lte, standing};
use super::{Measured, Noted};

/// Round trip of LTE's HARQ in FDD.
const ROUND_MS: f64 = 8.0;

/// Uploads' transmissions, and what `--delays` says of them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Held {
    /// Transmissions of blocks, repeats included.
    pub(super) sent: u64,
    /// Rows of HARQ: all, those of a second repeat or a later one, and of a third or later.
    pub(super) rows: [u64; 3],
    /// The delays of these rows, all together.
    ms: f64,
    /// Rows of RLC.
    rlc: u64,
    /// From the first block to the last.
    pub(super) secs: f64,
}

impl AddAssign for Held {
    fn add_assign(&mut self, other: Self) {
        self.sent += other.sent;
        for (all, more) in self.rows.iter_mut().zip(other.rows) {
            *all += more;
        }
        self.ms += other.ms;
        self.rlc += other.rlc;
        self.secs += other.secs;
    }
}

impl Held {
    /// The figures by their names in the table, unless no block was repeated.
    pub(super) fn figures(&self) -> Option<[(&'static str, f64); 5]> {
        let [all, second, third] = self.rows.map(|count| count as f64);
        (all > 0.0).then(|| {
            [
                ("rough.held", 100.0 * all / self.sent as f64),
                ("rough.twice", 100.0 * second / all),
                ("rough.thrice", 100.0 * third / all),
                ("rough.ms", self.ms / all),
                ("rough.rlc", self.rlc as f64 * 60.0 / self.secs),
            ]
        })
    }
}

/// Reads the uplink's blocks in a modem's records.
struct Upload {
    sounder: Sounder,
    held: Held,
    /// When the first and the last block was sent.
    span: Option<[ModemInstant; 2]>,
}

impl Upload {
    fn new() -> Self {
        let sounder = Sounder::new(Config::new(Direction::Uplink)).with_delays();
        Self { sounder, held: Held::default(), span: None }
    }

    fn handle_bytes(&mut self, bytes: &[u8]) {
        for piece in bytes.chunks(Delays::PIECE) {
            let (held, span) = (&mut self.held, &mut self.span);
            let watch = |_: &Sounder, seen: Seen<'_>| note(held, span, &seen);
            self.sounder.handle_bytes(Arrival::AsStamped, piece, watch);
            self.handle_events();
        }
    }

    fn handle_events(&mut self) {
        while let Some(event) = self.sounder.poll_delay() {
            match (event.direction, event.kind) {
                (Direction::Uplink, DelayKind::Harq) => {
                    let ms = event.amount.as_secs_f64() * 1e3;
                    let repeat = (ms / ROUND_MS).round();
                    for (count, from) in self.held.rows.iter_mut().zip([0.0, 2.0, 3.0]) {
                        *count += u64::from(repeat >= from);
                    }
                    self.held.ms += ms;
                }
                (Direction::Uplink, DelayKind::Rlc) => self.held.rlc += 1,
                _ => {}
            }
        }
    }

    fn end(mut self) -> Held {
        let (held, span) = (&mut self.held, &mut self.span);
        let watch = |_: &Sounder, seen: Seen<'_>| note(held, span, &seen);
        self.sounder.handle_end(Arrival::AsStamped, watch);
        self.handle_events();
        let secs = self.span.map_or(0.0, |[first, last]| (last - first).as_secs_f64());
        Held { secs, ..self.held }
    }
}

fn note(held: &mut Held, span: &mut Option<[ModemInstant; 2]>, seen: &Seen<'_>) {
    if let Seen::Kpi(Kpi::Grant(grant)) = seen
        && (grant.direction, grant.layer) == (Direction::Uplink, Layer::Phy)
    {
        held.sent += 1;
        span.get_or_insert([grant.at; 2])[1] = grant.at;
    }
}

/// The uplink of a capture.
pub(super) fn read(capture: &[u8], kind: Kind) -> Held {
    let mut upload = Upload::new();
    upload.sounder.read(kind);
    upload.handle_bytes(capture);
    upload.end()
}

/// A saturated upload over LTE with this HARQ.
pub(super) fn upload(preset: HarqPreset, span: Duration, seed: u64) -> Result<Held, InvalidConfig> {
    let device = DeviceConfig { harq: preset.config(), ..on_lte(standing(seed)) };
    let mut rig = Rig::new(vec![lte()], &[device], seed)?;
    rig.bytes = Some(Vec::new());
    let mut upload = Upload::new();
    let mut now: HostInstant = ORIGIN;
    while now < ORIGIN + span {
        saturate(&mut rig, Direction::Uplink, now);
        rig.step(&mut |_, _| {}, &mut |_| {});
        if let Some(bytes) = &mut rig.bytes {
            upload.handle_bytes(bytes);
            bytes.clear();
        }
        now = now + Duration::from_millis(1);
    }
    Ok(upload.end())
}

/// The preset `rough` as a modem's records show it.
pub(super) fn measure(span: Duration, seed: u64, into: &mut Measured) -> Result<(), InvalidConfig> {
    let held = upload(HarqPreset::Rough, span, seed)?;
    for (figure, value) in held.figures().into_iter().flatten() {
        into.note(figure, Some(value));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::ops::RangeInclusive;

    use super::*;

    /// The figures over some seeds.
    fn figures(preset: HarqPreset, seeds: RangeInclusive<u64>) -> [f64; 5] {
        let mut all = Held::default();
        for seed in seeds {
            all += upload(preset, Duration::from_secs(60), seed).expect("a sound network");
        }
        let figures = all.figures().expect("blocks are lost");
        println!("{preset:?} {figures:?}");
        figures.map(|(_, value)| value)
    }

    // Nothing was chosen with these seeds.
    #[test]
    fn rough_repeats_as_captures_do_and_calm_rarely_repeats_twice() {
        let [held, twice, thrice, ms, rlc] = figures(HarqPreset::Rough, 201..=205);
        assert!((11.0..=14.0).contains(&held), "{held} %");
        assert!((20.0..=28.0).contains(&twice), "{twice} %");
        assert!((6.0..=10.0).contains(&thrice), "{thrice} %");
        assert!((10.0..=13.0).contains(&ms), "{ms} ms");
        assert!((10.0..=16.0).contains(&rlc), "{rlc} a minute");
        let [held, twice, ..] = figures(HarqPreset::Calm, 201..=201);
        assert!((5.0..=9.0).contains(&held) && twice < 1.0, "{held} %, {twice} %");
    }
}
