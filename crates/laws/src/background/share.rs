use core::time::Duration;

use sounding_cc::part::{Slot, Windowed};

use super::turns::Turns;

/// The unit of judgement: so much time in which data was waiting.
const PIECE: Duration = Duration::from_millis(20);
/// The first pieces of a burst after silence: a proportional-fair cell serves a newcomer first.
const HEAD: u32 = 4;
/// Pieces of a sample of the share: longer than a fade of a walking user, and than HARQ's holes.
const LONG: u32 = 10;
/// Pieces that suffice where the share is small.
const SHORT: u32 = 5;
/// The highest rate over [`LONG`] pieces is remembered for so long: a rival that came has shown
/// itself by then, and a fade of a walking user has not made an old rate wrong.
const REMEMBERED: Duration = Duration::from_millis(1_500);
/// The shortest gap between readings is remembered for so long: it is the receiver's way of
/// working, which seldom changes. A rival that came under a round-robin scheduler shows as long as
/// that is known (interpretation 36).
const BATCHED: Duration = Duration::from_secs(60);
/// Heads that have to be seen before the cell is called free: one may be a moment of a fading
/// channel.
const HEADS: u32 = 6;
/// Of so many no share is judged yet: beside a head that was lower than the cell every share is
/// large, and the mean remembers it.
const KNOWN: u32 = 4;
/// In thousandths of the cell: below, others use it; above, it is free. In between the verdict
/// stays.
const BUSY: u64 = 580;
const FREE: u64 = 650;
/// Over [`SHORT`] pieces.
const SURELY_BUSY: u64 = 380;
/// A sample above this is a free cell, whatever the mean of before is.
const SURELY_FREE: u64 = 800;
/// So many of them in one burst wait for the mean: the rival may be gone by then.
const DOUBTS: u32 = 4;
/// Where turns cannot be seen, the highest rate of a sample counts for so long, in hundredths: a
/// fading channel has some high ones (interpretation 41).
const EVER: Duration = Duration::from_secs(30);
const OF_EVER: u64 = 95;
/// Weight of a new sample, one of so many.
const WEIGHT: u64 = 3;

/// Whether others use the cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// One other flow has data, as far as the newest sample shows.
    Busy,
    /// Several have.
    Crowded,
    Free,
    /// It is free as far as is known, which is not far.
    Likely,
    /// Not enough is known yet.
    Open,
}

/// The flow's share of its cell while it had data waiting: its rate beside what the cell gives a
/// flow that is alone.
///
/// The latter is the highest of three figures: the mean of the best 20 ms at the head of each
/// burst, the median of what one reading of the receiver's clock brings, and, in a flow that sends
/// on, its rate over 200 ms in the last seconds. The first is true beside one or two rivals, the
/// second beside many, the third where the flow was alone lately.
///
/// All in whole numbers, as the kernel has them. Rates are bytes a second.
#[derive(Clone, Copy, Debug)]
pub(super) struct Share {
    /// Of the current piece.
    bytes: u64,
    nanos: u64,
    /// Pieces since the burst began.
    count: u32,
    /// The burst follows silence. The first one is a slow start, which shows no cell.
    follows_silence: bool,
    best_of_head: u64,
    /// The rates of the last two pieces of this burst, the newest first; zero is none.
    last: [u64; 2],
    /// Of the sample in hand.
    pieces: u32,
    sum: u64,
    /// Over [`LONG`] pieces.
    most: Option<Windowed<u64>>,
    heads: Option<u64>,
    seen: u32,
    reading: Option<u64>,
    /// The shortest gap between readings, in ticks.
    batch: Option<Windowed<u32>>,
    /// In thousandths.
    share: Option<u64>,
    turns: Turns,
    /// Over [`LONG`] pieces.
    ever: Option<Windowed<u64>>,
    /// Samples of this burst that the mean contradicts.
    doubts: u32,
    is_free: bool,
}

impl Share {
    pub(super) fn new(mss: u64) -> Self {
        Self {
            bytes: 0,
            nanos: 0,
            count: 0,
            follows_silence: false,
            best_of_head: 0,
            last: [0; 2],
            pieces: 0,
            sum: 0,
            most: None,
            heads: None,
            seen: 0,
            reading: None,
            batch: None,
            share: None,
            turns: Turns::new(mss),
            ever: None,
            doubts: 0,
            is_free: false,
        }
    }

    /// A burst begins after silence.
    pub(super) fn begin(&mut self) {
        (self.bytes, self.nanos, self.count, self.best_of_head) = (0, 0, 0, 0);
        (self.pieces, self.sum, self.doubts) = (0, 0, 0);
        self.last = [0; 2];
        self.turns.begin();
        self.follows_silence = true;
    }

    /// Takes in what one reading of the receiver's clock brought.
    /// `acked` is what the acknowledgement that ended it brought: readings are known no more
    /// exactly than that. `modem` is the part of the device's most resource blocks that it had
    /// while data waited, in thousandths.
    pub(super) fn handle_slot(
        &mut self,
        now: u64,
        slot: &Slot,
        acked: u64,
        modem: Option<u16>,
    ) -> Verdict {
        let Some(gap) = slot.before.filter(|gap| gap.backlogged) else { return Verdict::Open };
        let tick = (slot.tick.as_nanos() as u64).max(1);
        self.learn_reading(now, slot.bytes.count(), acked, gap.ticks, tick);
        self.turns.handle_slot(gap, slot.bytes.count());
        self.bytes += slot.bytes.count();
        self.nanos += u64::from(gap.ticks) * tick;
        if self.nanos < PIECE.as_nanos() as u64 {
            return Verdict::Open;
        }
        let rate = self.bytes.saturating_mul(1_000_000_000) / self.nanos;
        // A hole of HARQ can be longer than a piece.
        let pieces = (self.nanos / PIECE.as_nanos() as u64).clamp(1, LONG.into()) as u32;
        (self.bytes, self.nanos) = (0, 0);
        self.handle_piece(now, rate, pieces, modem)
    }

    fn handle_piece(&mut self, now: u64, rate: u64, pieces: u32, modem: Option<u16>) -> Verdict {
        self.count = self.count.saturating_add(pieces);
        self.last = [rate, self.last[0]];
        if self.count <= HEAD {
            self.best_of_head = self.best_of_head.max(rate);
            if self.count == HEAD && self.follows_silence {
                let best = self.best_of_head;
                let weight = u64::from(self.seen.min(3));
                let heads = self.heads.unwrap_or(0);
                self.heads = Some((weight * heads + best) / (weight + 1));
                self.seen += 1;
            }
            return Verdict::Open;
        }
        self.pieces += pieces;
        self.sum += rate * u64::from(pieces);
        let mean = self.sum / u64::from(self.pieces);
        let share = match modem {
            Some(part) => self.of_blocks(part),
            None => self.of_cell(mean),
        };
        if modem.is_none() && self.pieces >= SHORT {
            let batch = self.batch.map_or(1, |batch| batch.best());
            if let Some(turns) = self.turns.of(now, batch, share) {
                (self.pieces, self.sum) = (0, 0);
                return self.handle_turns(share.min(1000 / turns));
            }
        }
        if self.pieces >= LONG {
            (self.pieces, self.sum) = (0, 0);
            self.turns.end(now);
            match &mut self.most {
                Some(most) => most.update(now, mean),
                None => self.most = Some(Windowed::max(REMEMBERED.as_nanos() as u64, now, mean)),
            }
            let ever = EVER.as_nanos() as u64;
            self.ever.get_or_insert(Windowed::max(ever, now, mean)).update(now, mean);
            return self.handle_sample(share);
        }
        if self.pieces >= SHORT && share < SURELY_BUSY {
            (self.pieces, self.sum) = (0, 0);
            self.turns.begin();
            return self.handle_sample(share);
        }
        Verdict::Open
    }

    /// Others have turns.
    fn handle_turns(&mut self, share: u64) -> Verdict {
        self.turns.begin();
        self.share = Some(share);
        self.is_free = false;
        if share < SURELY_BUSY { Verdict::Crowded } else { Verdict::Busy }
    }

    fn handle_sample(&mut self, share: u64) -> Verdict {
        if self.seen < KNOWN {
            return Verdict::Likely;
        }
        let mean = self.share.map_or(share, |mean| ((WEIGHT - 1) * mean + share) / WEIGHT);
        self.share = Some(mean);
        self.is_free = share >= SURELY_BUSY && mean >= if self.is_free { BUSY } else { FREE };
        if !self.is_free && share >= SURELY_FREE && self.doubts < DOUBTS {
            self.doubts += 1;
            return Verdict::Open;
        }
        match (self.is_free, self.seen) {
            (false, _) if share < SURELY_BUSY => Verdict::Crowded,
            (false, _) => Verdict::Busy,
            (true, ..HEADS) => Verdict::Likely,
            (true, _) => Verdict::Free,
        }
    }

    /// The least that most readings bring. A receiver that processes arrivals in batches never has
    /// neighbouring readings.
    fn learn_reading(&mut self, now: u64, bytes: u64, acked: u64, ticks: u32, tick: u64) {
        let window = BATCHED.as_nanos() as u64;
        let batch = self.batch.get_or_insert(Windowed::min(window, now, ticks));
        batch.update(now, ticks);
        let per_second = |bytes: u64| {
            bytes.saturating_mul(1_000_000_000) / tick.saturating_mul(batch.best().into()).max(1)
        };
        let rate = per_second(bytes.saturating_sub(acked));
        self.reading = Some(self.reading.map_or(rate, |median| {
            let step = (median / 32).max(1000);
            if rate > median { median + step } else { median.saturating_sub(step) }
        }));
    }

    /// What the cell gives this flow when it is alone; `None` while that is unknown.
    pub(super) fn capacity(&self) -> Option<u64> {
        self.most.map(|most| most.best()).max(self.heads).max(self.reading)
    }

    /// What the cell gives this flow now, in this burst; `None` before the first 20 ms of it are
    /// over.
    pub(super) fn given(&self) -> Option<u64> {
        let [newest, before] = self.last;
        Some(newest.max(before)).filter(|rate| *rate > 0)
    }

    /// Whether the newest verdict was that the cell is free, and enough was known for it.
    pub(super) fn is_free(&self) -> bool {
        self.is_free && self.seen >= HEADS
    }

    /// A modem's part relates to the most that the device had. Beside a rival that was there all
    /// along, heads show that. So it is the share of as much of the cell as single readings
    /// show (interpretation 35).
    fn of_blocks(&self, part: u16) -> u64 {
        let heads = self.heads.unwrap_or(0);
        let cell = heads.max(self.reading.unwrap_or(0)).max(1);
        u64::from(part) * heads / cell
    }

    fn of_cell(&self, rate: u64) -> u64 {
        let lately = self.most.filter(|_| self.is_free).map(|most| most.best());
        let ever = self.ever.filter(|_| self.turns.are_unseen());
        let ever = ever.map(|ever| ever.best().saturating_mul(OF_EVER) / 100);
        let cell = self.heads.max(self.reading).max(lately).max(ever);
        rate.saturating_mul(1000) / cell.unwrap_or(0).max(1)
    }
}

#[cfg(test)]
mod tests {
    use sounding_units::Bytes;

    use super::*;
    use sounding_cc::part::Gap;

    /// What a flow with data waiting makes of 300 ms whose first 80 bring 9 kB each, and the others
    /// so much.
    fn burst(share: &mut Share, now: &mut u64, bytes: u64, modem: Option<u16>) -> Verdict {
        share.begin();
        let gap = Gap { ticks: 1, backlogged: true };
        let tick = Duration::from_millis(1);
        let mut newest = Verdict::Open;
        for at in 0..300 {
            *now += 1_000_000;
            let bytes = Bytes::new(if at < 80 { 9_000 } else { bytes });
            let slot = Slot { bytes, tick, before: Some(gap), after: gap };
            let verdict = share.handle_slot(*now, &slot, 0, modem);
            newest = if verdict == Verdict::Open { newest } else { verdict };
        }
        newest
    }

    /// Four bursts in a cell that six have shown.
    fn bursts(bytes: u64, modem: Option<u16>) -> [Verdict; 4] {
        let (mut share, mut now) = (Share::new(1448), 0);
        for _ in 0..HEADS {
            burst(&mut share, &mut now, 9_000, None);
        }
        [(); 4].map(|()| burst(&mut share, &mut now, bytes, modem))
    }

    #[test]
    fn where_the_modem_speaks_a_fade_is_no_rival_and_a_rival_is() {
        let free = [Verdict::Free; 4];
        assert_eq!(bursts(9_000, None), free);
        assert_eq!(bursts(3_500, None)[2..], [Verdict::Busy; 2]);
        assert_eq!(bursts(3_500, Some(1_000)), free);
        assert_eq!(bursts(9_000, Some(300)), [Verdict::Crowded; 4]);
    }
}
