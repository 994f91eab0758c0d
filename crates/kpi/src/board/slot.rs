//! One slot: three buffers. The writer fills the one that was published longest ago.
//!
//! ```text
//!           post n                      post n + 1                  post n + 2
//! buffer 0  [mark n | sample] ◀ latest  [mark n | sample]           [mark n | sample]
//! buffer 1  [n − 2 …]                   [mark n + 1 | …] ◀ latest   [mark n + 1 | …]
//! buffer 2  [n − 1 …]                   [n − 1 …]                   [mark n + 2 | …] ◀ latest
//! ```
//!
//! A reader takes the latest buffer and checks its mark before and after. It starts over only if
//! the writer meanwhile posted twice more and began a third time. It never waits for the writer: a
//! writer that stops at any point leaves the latest buffer complete.

use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use sounding_units::{HostInstant, ModemInstant};

use super::Word;

const BUFFERS: u64 = 3;
const SAMPLE_WORDS: usize = 6;
const BUFFER_WORDS: usize = 1 + SAMPLE_WORDS;
const LATEST: usize = 0;
const FIRST_BUFFER: usize = 1;
const _: () = assert!(FIRST_BUFFER + BUFFERS as usize * BUFFER_WORDS <= super::SLOT_WORDS);

/// No post has this number: posts count from 1.
const NONE: u64 = 0;

/// A reader that starts over this often in a row reads memory that is not written by these rules.
const ATTEMPTS: u32 = 1_000;

/// The latest value of a KPI.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sample {
    /// When the modem stamped its record.
    pub modem_at: ModemInstant,
    /// When the record arrived at the host.
    pub received_at: HostInstant,
    /// The number of values so far, this one included: a reader can count the values that it
    /// missed.
    pub sequence: u64,
    /// The value, in the unit of the KPI.
    pub value: f64,
    /// Sum of all values so far, in the unit of the KPI. The difference of two reads is the sum of
    /// the values in between, also of missed ones.
    pub total: f64,
    /// Its item in the record, [packed](sounding_diag::layout::Item::packed).
    pub item: u64,
}

/// The writer posted faster than the slot could be read, many times in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("overtaken by the writer {ATTEMPTS} times in a row")]
pub struct Overtaken;

impl Sample {
    const fn words(&self) -> [u64; SAMPLE_WORDS] {
        [
            self.modem_at.as_nanos(),
            self.received_at.as_nanos(),
            self.sequence,
            self.value.to_bits(),
            self.total.to_bits(),
            self.item,
        ]
    }

    const fn from_words(
        [modem, received, sequence, value, total, item]: [u64; SAMPLE_WORDS],
    ) -> Self {
        Self {
            modem_at: ModemInstant::from_nanos(modem),
            received_at: HostInstant::from_nanos(received),
            sequence,
            value: f64::from_bits(value),
            total: f64::from_bits(total),
            item,
        }
    }
}

fn buffer<W>(slot: &[W], number: u64) -> &[W] {
    let start = FIRST_BUFFER + (number % BUFFERS) as usize * BUFFER_WORDS;
    slot.get(start..start + BUFFER_WORDS).unwrap_or_default()
}

/// The writer's half: makes `sample` the latest, as post `number`, one more than the last.
pub(super) fn post<W: Word>(slot: &[W], number: u64, sample: &Sample) {
    let [mark, words @ ..] = buffer(slot, number) else { return };
    // A reader that sees the cleared mark also sees the previous post, and uses that.
    mark.store(NONE, Release);
    // No word of the sample changes before the mark is cleared.
    W::fence(Release);
    for (to, word) in words.iter().zip(sample.words()) {
        to.store(word, Relaxed);
    }
    // A reader that sees the mark sees the sample.
    mark.store(number, Release);
    if let Some(latest) = slot.get(LATEST) {
        latest.store(number, Release);
    }
}

/// The reader's side; `None` before the first post.
pub(super) fn read<W: Word>(slot: &[W]) -> Result<Option<Sample>, Overtaken> {
    for _ in 0..ATTEMPTS {
        if let Some(read) = attempt(slot) {
            return Ok(read);
        }
        core::hint::spin_loop();
    }
    Err(Overtaken)
}

/// `None` if the writer was faster.
fn attempt<W: Word>(slot: &[W]) -> Option<Option<Sample>> {
    let number = slot.first().map_or(NONE, |latest| latest.load(Acquire));
    if number == NONE {
        return Some(None);
    }
    let [mark, words @ ..] = buffer(slot, number) else { return Some(None) };
    if mark.load(Acquire) != number {
        return None;
    }
    let mut sample = [0; SAMPLE_WORDS];
    for (to, word) in sample.iter_mut().zip(words) {
        *to = word.load(Relaxed);
    }
    // A reader that saw a word of a later sample sees that the mark is cleared.
    W::fence(Acquire);
    (mark.load(Relaxed) == number).then(|| Some(Sample::from_words(sample)))
}
