//! Blocks and PDUs that are sent again: how many, and how much later (Gandalf §3.1, §B.3, §B.4).

use std::collections::BTreeMap;

use super::reader::{Air, Data, Heard};

const SECOND: u64 = 1_000_000_000;
const MS: f64 = 1e6;

/// For each second the share of blocks that did not arrive, in percent; seconds with fewer than 50
/// blocks are too few.
pub(super) fn error_percent(blocks: &[Air]) -> Vec<f64> {
    let mut seconds: BTreeMap<u64, [u32; 2]> = BTreeMap::new();
    for block in blocks {
        let [all, lost] = seconds.entry(block.at / SECOND).or_default();
        *all += 1;
        // A device learns of a lost uplink block when it is to send it again.
        *lost += u32::from(block.arrived.map_or(block.again, |arrived| !arrived));
    }
    let full = seconds.into_values().filter(|[all, _]| *all >= 50);
    full.map(|[all, lost]| 100.0 * f64::from(lost) / f64::from(all)).collect()
}

/// From a block that did not arrive to its repeat: slot of the frame it was sent in, and
/// nanoseconds.
pub(super) fn repeat_delays(blocks: &[Air]) -> Vec<(u8, u64)> {
    /// A later repetition has another cause.
    const LATEST: u64 = 100_000_000;
    let mut blocks = blocks.to_vec();
    blocks.sort_by_key(|block| block.at);
    let mut last: BTreeMap<u32, Air> = BTreeMap::new();
    let mut delays = Vec::new();
    for block in blocks {
        let Some(process) = block.process else { continue };
        let before = last.insert(process, block);
        let Some(before) = before.filter(|_| block.again) else { continue };
        let same = before.ndi == block.ndi && before.arrived != Some(true);
        if same && block.at - before.at <= LATEST {
            delays.push((before.slot, block.at - before.at));
        }
    }
    delays
}

/// Time from the first transmission of an uplink RLC PDU to its retransmission, in ms: its number
/// appears a second time, and the network requested it again.
pub(super) fn uplink_rlc_ms(heard: &Heard) -> Vec<f64> {
    let asked = Asked::of(&heard.up_nacks);
    let mut delays = Vec::new();
    for pdus in by_bearer(&heard.up_data).values() {
        let mut numbers = Numbers::new(heard.wide);
        let mut first: BTreeMap<i64, Option<u64>> = BTreeMap::new();
        for pdu in pdus {
            let Some((number, newest)) = numbers.place(pdu.sn) else { continue };
            if number > newest {
                first.insert(number, Some(pdu.at));
                first = first.split_off(&(number - numbers.window()));
            } else if let Some(Some(at)) = first.insert(number, None)
                && pdu.at > at
            {
                // Only the first of several segments counts.
                if asked.between(pdu.sn, at, pdu.at) {
                    delays.push((pdu.at - at) as f64 / MS);
                }
            }
        }
    }
    delays
}

/// The same, downlink. The time of a lost PDU is that of the next received one. A late PDU without
/// a request was delayed by HARQ alone.
pub(super) fn downlink_rlc_ms(heard: &Heard) -> Vec<f64> {
    let asked = Asked::of(&heard.down_nacks);
    let mut delays = Vec::new();
    for pdus in by_bearer(&heard.down_data).values() {
        let mut numbers = Numbers::new(heard.wide);
        let mut missing: BTreeMap<i64, u64> = BTreeMap::new();
        for pdu in pdus {
            let Some((number, newest)) = numbers.place(pdu.sn) else { continue };
            if number > newest {
                missing.extend((newest + 1..number).map(|gap| (gap, pdu.at)));
                missing = missing.split_off(&(number - numbers.window()));
            } else if let Some(since) = missing.remove(&number)
                && asked.between(pdu.sn, since, pdu.at)
            {
                delays.push((pdu.at - since) as f64 / MS);
            }
        }
    }
    delays
}

/// The times at which each number was requested.
struct Asked(BTreeMap<u32, Vec<u64>>);

impl Asked {
    fn of(nacks: &[Data]) -> Self {
        let mut asked: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
        for nack in nacks {
            asked.entry(nack.sn).or_default().push(nack.at);
        }
        Self(asked)
    }

    fn between(&self, sn: u32, from: u64, to: u64) -> bool {
        self.0.get(&sn).is_some_and(|times| times.iter().any(|at| (from..=to).contains(at)))
    }
}

fn by_bearer(pdus: &[Data]) -> BTreeMap<u64, Vec<Data>> {
    let mut bearers: BTreeMap<u64, Vec<Data>> = BTreeMap::new();
    for pdu in pdus {
        bearers.entry(pdu.bearer).or_default().push(*pdu);
    }
    // Records of several carriers are written one after the other.
    bearers.values_mut().for_each(|pdus| pdus.sort_by_key(|pdu| pdu.at));
    bearers
}

/// Sequence numbers without wrap.
struct Numbers {
    count: i64,
    newest: Option<i64>,
}

impl Numbers {
    fn new(wide: bool) -> Self {
        // TS 36.322 §6.2.2.3, TS 38.322 §6.2.3.3.
        Self { count: if wide { 1 << 18 } else { 1 << 10 }, newest: None }
    }

    fn window(&self) -> i64 {
        self.count / 2
    }

    /// Position of a number, and the newest before it; `None` for the first.
    fn place(&mut self, sn: u32) -> Option<(i64, i64)> {
        let sn = i64::from(sn);
        let Some(newest) = self.newest else {
            self.newest = Some(sn);
            return None;
        };
        let ahead = (sn - newest).rem_euclid(self.count);
        let number = newest + if ahead < self.window() { ahead } else { ahead - self.count };
        self.newest = Some(newest.max(number));
        Some((number, newest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(ms: u64, sn: u32) -> Data {
        Data { at: ms * 1_000_000, bearer: 0, sn }
    }

    #[test]
    fn a_number_that_comes_again_is_a_retransmission_and_one_after_1023_is_not() {
        let up_data =
            [(0, 1022), (1, 1023), (2, 0), (3, 1), (70, 1023), (71, 1023), (72, 2), (80, 1)]
                .map(|(ms, sn)| data(ms, sn))
                .to_vec();
        let mut heard = Heard::default();
        (heard.up_data, heard.up_nacks) = (up_data, vec![data(60, 1023)]);
        assert_eq!(uplink_rlc_ms(&heard), [69.0]);
    }

    #[test]
    fn a_gap_without_a_request_was_harqs() {
        let down_data = [(0, 4), (2, 7), (10, 5), (80, 6)].map(|(ms, sn)| data(ms, sn)).to_vec();
        let mut heard = Heard::default();
        (heard.down_data, heard.down_nacks) = (down_data, vec![data(40, 6)]);
        assert_eq!(downlink_rlc_ms(&heard), [78.0]);
    }

    #[test]
    fn a_repeat_belongs_to_the_block_before_it_of_its_process() {
        let air = |ms: u64, process, again, arrived| Air {
            at: ms * 1_000_000,
            slot: (ms % 10) as u8,
            process: Some(process),
            ndi: Some(true),
            again,
            arrived: Some(arrived),
        };
        let blocks = [air(3, 0, false, false), air(4, 1, false, true), air(11, 0, true, true)];
        assert_eq!(repeat_delays(&blocks), [(3, 8_000_000)]);
        assert_eq!(error_percent(&blocks), Vec::<f64>::new());
    }
}
