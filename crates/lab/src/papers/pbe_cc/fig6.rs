//! What a cell's bits are spent on besides data, which blocks are lost, and what that makes of
//! packets' delays (§4.2, Figs. 6 and 8).

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;
use sounding_cell::{DeviceId, Direction, Event as CellEvent};
use sounding_experiment::observe::Setup as Shows;
use sounding_experiment::plan::{Run, Wrong};
use sounding_experiment::provenance::Provenance;

use super::Item;
use super::rig::{Setup, observe};
use crate::paper::{Ours, Report};
use crate::table::Table;

/// IP and UDP: γ is up to the payload (§4.2.1).
const UDP_HEADERS: u64 = 28;

/// A retransmission of HARQ takes so long (§4.2.2), and jitter so much beside it.
const STEP_MS: f64 = 8.0;
const JITTER_MS: f64 = 3.0;

/// Sizes of blocks, up to so many kbit each.
const KBITS: [f64; 5] = [5.0, 10.0, 20.0, 40.0, 80.0];

/// Bit error rates of the paper's curves.
const CURVES: [f64; 3] = [1e-6, 3e-6, 5e-6];

/// A load at a place.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Load {
    /// The swept values.
    place: String,
    rate: String,
    /// Bits of first transmissions, of repeats, and of padding in the former.
    first_bits: f64,
    again_bits: f64,
    padding_bits: f64,
    /// Bits of IP that arrived, and of UDP's payload.
    ip_bits: f64,
    udp_bits: f64,
    /// Packets by multiples of 8 ms later than the earliest: 0, 1, 2, 3 and more.
    steps: [u64; 4],
    /// Packets within 3 ms of such a multiple.
    on_step: u64,
    packets: u64,
    /// By size in kbit: blocks that were sent for the first time, those that were lost, and their
    /// bits.
    blocks: [(u64, u64, f64); KBITS.len()],
}

impl Load {
    fn add(&mut self, other: &Self) {
        self.first_bits += other.first_bits;
        self.again_bits += other.again_bits;
        self.padding_bits += other.padding_bits;
        self.ip_bits += other.ip_bits;
        self.udp_bits += other.udp_bits;
        self.on_step += other.on_step;
        self.packets += other.packets;
        for (sum, step) in self.steps.iter_mut().zip(other.steps) {
            *sum += step;
        }
        for (sum, block) in self.blocks.iter_mut().zip(other.blocks) {
            *sum = (sum.0 + block.0, sum.1 + block.1, sum.2 + block.2);
        }
    }

    /// Part of all bits that repeat.
    fn repeats(&self) -> f64 {
        self.again_bits / (self.first_bits + self.again_bits)
    }

    /// γ: part of what was sent for the first time that is headers, up to UDP's payload, and up to
    /// IP.
    fn headers(&self) -> [f64; 2] {
        let data = self.first_bits - self.padding_bits;
        [self.udp_bits, self.ip_bits].map(|bits| 1.0 - bits / data)
    }
}

/// Makes one run.
pub(super) fn measure(run: &Run) -> Result<Load, Wrong> {
    let observed = observe(run, Setup::of(Shows { radio: true, ..Shows::default() }))?;
    let value = |at: usize| run.values.get(at).map_or("", |(_, value)| value.trim_matches('"'));
    let mut load =
        Load { place: format!("{} dB", value(0)), rate: value(1).into(), ..Load::default() };
    for event in &observed.cell {
        let CellEvent::Transmission(DeviceId(0), block) = event else { continue };
        if block.direction != Direction::Downlink {
            continue;
        }
        let bits = f64::from(block.size) * 8.0;
        if block.number > 0 {
            load.again_bits += bits;
            continue;
        }
        load.first_bits += bits;
        load.padding_bits += f64::from(block.padding) * 8.0;
        let at = KBITS.iter().position(|most| bits <= most * 1e3).unwrap_or(KBITS.len() - 1);
        let (all, lost, sum) = &mut load.blocks[at];
        *all += 1;
        *lost += u64::from(!block.arrived);
        *sum += bits;
    }
    let delays: Vec<f64> = observed
        .packets
        .arrivals
        .iter()
        .map(|arrival| arrival.delay().as_secs_f64() * 1e3)
        .collect();
    let least = delays.iter().copied().fold(f64::INFINITY, f64::min);
    for (arrival, delay) in observed.packets.arrivals.iter().zip(delays) {
        load.ip_bits += arrival.size() as f64 * 8.0;
        load.udp_bits += (arrival.size() - UDP_HEADERS) as f64 * 8.0;
        let steps = ((delay - least) / STEP_MS).floor();
        load.steps[(steps as usize).min(3)] += 1;
        load.on_step += u64::from(delay - least - steps * STEP_MS <= JITTER_MS);
        load.packets += 1;
    }
    Ok(load)
}

/// The loads.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Evidence {
    loads: Vec<Load>,
}

/// The item's table beside the paper's figures.
pub(super) fn report(
    runs: Vec<Load>,
    provenance: Provenance,
) -> Result<Report<Evidence>, toml::de::Error> {
    let expected = Item::Fig6.files().expected()?;
    let mut loads: Vec<Load> = Vec::new();
    for run in runs {
        match loads.iter_mut().find(|load| load.place == run.place && load.rate == run.rate) {
            Some(load) => load.add(&run),
            None => loads.push(run),
        }
    }
    let mut all = Load::default();
    loads.iter().for_each(|load| all.add(load));
    let mut ours = Ours::new(["ours"], []);
    let mut row = |name: &str, value: String, holds: bool| {
        if !holds {
            ours.misses.push(expected.miss(name, &["the value"]));
        }
        ours.rows.push((name.into(), vec![value]));
    };
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    let [udp, ip] = all.headers();
    row("γ, headers up to UDP's payload", percent(udp), (0.058..=0.078).contains(&udp));
    row("headers up to IP", percent(ip), true);
    let jitter = all.on_step as f64 / all.packets as f64;
    row("packets within 3 ms of a multiple of 8 ms", percent(jitter), jitter >= 0.9);
    let spread = |load: &Load| 1.0 - load.steps[0] as f64 / load.packets as f64;
    let grows =
        loads.chunks(3).all(|place| place.windows(2).all(|two| spread(&two[1]) >= spread(&two[0])));
    row("more packets are late by 8 ms and more at higher loads", grows.to_string(), grows);
    let by_size = by_size(&all);
    let rises = by_size.windows(2).all(|two| two[1].1 >= two[0].1);
    row("larger blocks are lost more often", rises.to_string(), rises);
    Ok(Report::new(Item::Fig6.files().about, expected, ours, Evidence { loads }, provenance))
}

/// Mean size in kbit, and the part that was lost, of sizes with 100 blocks and more.
fn by_size(load: &Load) -> Vec<(f64, f64)> {
    let known = load.blocks.iter().filter(|(all, ..)| *all >= 100);
    known.map(|(all, lost, bits)| (bits / *all as f64 / 1e3, *lost as f64 / *all as f64)).collect()
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\nBy place and load:\n")?;
        let mut table = Table::new().left(["SINR", "load"]).right([
            "repeats",
            "γ",
            "0 ms",
            "8 ms",
            "16 ms",
            "24 ms and more",
        ]);
        let percent = |share: f64| format!("{:.1} %", share * 100.0);
        for load in &self.loads {
            let steps = load.steps.map(|step| percent(step as f64 / load.packets as f64));
            let names = [load.place.clone(), load.rate.clone()].into_iter();
            let parts = [percent(load.repeats()), percent(load.headers()[0])];
            table.row(names.chain(parts).chain(steps));
        }
        table.fmt(f)?;
        writeln!(f, "\nLost blocks by size, and the paper's curves 1 − (1 − p)^L:\n")?;
        let mut table =
            Table::new().left(["SINR"]).right(["kbit", "lost", "p = 1e-6", "3e-6", "5e-6"]);
        let mut places: BTreeMap<&str, Load> = BTreeMap::new();
        for load in &self.loads {
            places.entry(&load.place).or_default().add(load);
        }
        for (place, load) in &places {
            for (kbit, lost) in by_size(load) {
                let curves = CURVES.map(|p| percent(1.0 - (1.0 - p).powf(kbit * 1e3)));
                let cells = [(*place).to_owned(), format!("{kbit:.1}"), percent(lost)];
                table.row(cells.into_iter().chain(curves));
            }
        }
        table.fmt(f)
    }
}

#[cfg(test)]
mod tests {

    use super::*;

    #[test]
    fn what_is_no_payload_is_headers_padding_or_repeats() {
        let mut text = Item::Fig6.files().text();
        for set in ["seeds=1", "duration=\"5s\""] {
            text.set(set).unwrap();
        }
        let load = measure(&text.runs().unwrap()[1]).unwrap();
        assert_eq!((load.place.as_str(), load.rate.as_str()), ("16.0 dB", "18Mbit"));
        let [udp, ip] = load.headers();
        // IP and UDP of a packet of 1500 bytes are 1.9 %.
        assert!((0.015..0.025).contains(&(udp - ip)), "{udp} {ip}");
        assert!((0.0..0.05).contains(&ip), "{ip}");
        assert!((0.01..0.2).contains(&load.repeats()), "{load:?}");
        assert_eq!(load.steps.iter().sum::<u64>(), load.packets);
    }
}
