use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::time::Duration;

use sounding_units::HostInstant;

use super::{
    HEADER_WORDS, MAX_NAME, MAX_SLOTS, MAX_UNIT, NAME_WORDS, Overtaken, SLOT_WORDS, Sample, Word,
    slot, words_for,
};

/// "SOUNDBRD" in the machine's byte order.
const MAGIC: u64 = u64::from_ne_bytes(*b"SOUNDBRD");
const VERSION: u64 = 1;

const AT_MAGIC: usize = 0;
const AT_VERSION: usize = 1;
const AT_STARTED: usize = 2;
const AT_PID: usize = 3;
const AT_HEARTBEAT: usize = 4;
const AT_STATE: usize = 5;
const AT_POSTS: usize = 6;

const CLOSED: u64 = 1;

/// A board in memory.
#[derive(Debug)]
pub struct Board<'w, W> {
    words: &'w [W],
    slots: usize,
}

/// Memory that is no board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotABoard {
    /// It does not begin as one, or its writer has not finished making it.
    #[error("not a board, or not complete yet")]
    Magic,
    /// It is one of another version.
    #[error("a board of version {found}, this reads version {VERSION}")]
    Version {
        /// The value found.
        found: u64,
    },
    /// It is shorter than its slots.
    #[error("a board of {slots} KPIs takes {need} words, has {have}")]
    Short {
        /// The number of slots in its header.
        slots: usize,
        /// Words they take.
        need: usize,
        /// Words there are.
        have: usize,
    },
}

/// The writer's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Life {
    /// When the board was made.
    pub started: HostInstant,
    /// The writer's process.
    pub pid: u64,
    /// Time of its last heartbeat or post.
    pub heartbeat: HostInstant,
    /// It ended in good order.
    pub closed: bool,
    /// Number of posts.
    pub posts: u64,
}

impl Life {
    /// Whether the writer has ended, or has been silent for longer than `patience`.
    pub fn is_over(&self, now: HostInstant, patience: Duration) -> bool {
        self.closed || now - self.heartbeat > patience
    }
}

impl<W> Clone for Board<'_, W> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<W> Copy for Board<'_, W> {}

impl<'w, W: Word> Board<'w, W> {
    /// Makes a board of zeroed memory: the names and units first, and the mark that it is one last.
    ///
    /// Names longer than [`MAX_NAME`] are cut.
    ///
    /// # Errors
    ///
    /// [`NotABoard::Short`] if `words` are too few for the names.
    pub fn create<'n>(
        words: &'w [W],
        names: impl ExactSizeIterator<Item = (&'n str, &'n str)>,
        pid: u32,
        now: HostInstant,
    ) -> Result<Self, NotABoard> {
        let slots = names.len();
        let board = Self::sized(words, slots)?;
        for (index, (name, unit)) in names.enumerate() {
            let entry = board.entry(index);
            let (name_words, unit_words) = entry.split_at(MAX_NAME / 8);
            write_text(name_words, name);
            write_text(unit_words.get(..MAX_UNIT / 8).unwrap_or_default(), unit);
        }
        board.set(AT_VERSION, VERSION << 32 | slots as u64);
        board.set(AT_STARTED, now.as_nanos());
        board.set(AT_PID, u64::from(pid));
        board.set(AT_HEARTBEAT, now.as_nanos());
        if let Some(magic) = words.get(AT_MAGIC) {
            // A reader that sees it sees all of the above.
            magic.store(MAGIC, Release);
        }
        Ok(board)
    }

    /// The board that is in `words`, if one is.
    ///
    /// # Errors
    ///
    /// [`NotABoard`] if `words` hold no complete board of this version.
    pub fn open(words: &'w [W]) -> Result<Self, NotABoard> {
        if words.get(AT_MAGIC).map(|word| word.load(Acquire)) != Some(MAGIC) {
            return Err(NotABoard::Magic);
        }
        let word = words.get(AT_VERSION).map_or(0, |word| word.load(Relaxed));
        if word >> 32 != VERSION {
            return Err(NotABoard::Version { found: word >> 32 });
        }
        Self::sized(words, (word & u64::from(u32::MAX)) as usize)
    }

    fn sized(words: &'w [W], slots: usize) -> Result<Self, NotABoard> {
        let (need, have) = (words_for(slots.min(MAX_SLOTS)), words.len());
        if slots > MAX_SLOTS || have < need {
            return Err(NotABoard::Short { slots, need, have });
        }
        Ok(Self { words, slots })
    }

    /// How many KPIs it has.
    pub const fn slots(&self) -> usize {
        self.slots
    }

    /// The KPI of a slot, as many bytes of its name as `text` has room for.
    pub fn name<'t>(&self, slot: usize, text: &'t mut [u8; MAX_NAME]) -> &'t str {
        read_text(self.entry(slot).get(..MAX_NAME / 8).unwrap_or_default(), text)
    }

    /// The unit of a slot's KPI.
    pub fn unit<'t>(&self, slot: usize, text: &'t mut [u8; MAX_UNIT]) -> &'t str {
        read_text(self.entry(slot).get(MAX_NAME / 8..NAME_WORDS - 1).unwrap_or_default(), text)
    }

    /// The slot of a KPI.
    pub fn find(&self, name: &str) -> Option<usize> {
        let mut text = [0; MAX_NAME];
        (0..self.slots).find(|&slot| self.name(slot, &mut text) == name)
    }

    /// The latest sample of a slot; `None` without a sample, or if the slot does not exist.
    ///
    /// # Errors
    ///
    /// [`Overtaken`] if the writer changed the slot at each attempt to read it.
    pub fn read(&self, slot: usize) -> Result<Option<Sample>, Overtaken> {
        slot::read(self.slot(slot))
    }

    /// The writer's state.
    pub fn life(&self) -> Life {
        Life {
            started: HostInstant::from_nanos(self.word(AT_STARTED)),
            pid: self.word(AT_PID),
            heartbeat: HostInstant::from_nanos(self.word(AT_HEARTBEAT)),
            closed: self.word(AT_STATE) == CLOSED,
            posts: self.word(AT_POSTS),
        }
    }

    /// Records that the writer is alive.
    pub(super) fn set_heartbeat(&self, now: HostInstant) {
        self.set(AT_HEARTBEAT, now.as_nanos());
    }

    /// Records that the writer has ended.
    pub(super) fn set_closed(&self) {
        self.set(AT_STATE, CLOSED);
    }

    pub(super) fn set_posts(&self, posts: u64) {
        self.set(AT_POSTS, posts);
    }

    pub(super) fn slot(&self, slot: usize) -> &'w [W] {
        let start = HEADER_WORDS + self.slots * NAME_WORDS + slot * SLOT_WORDS;
        let words =
            if slot < self.slots { self.words.get(start..start + SLOT_WORDS) } else { None };
        words.unwrap_or_default()
    }

    fn entry(&self, slot: usize) -> &'w [W] {
        let start = HEADER_WORDS + slot * NAME_WORDS;
        let words =
            if slot < self.slots { self.words.get(start..start + NAME_WORDS) } else { None };
        words.unwrap_or_default()
    }

    fn word(&self, at: usize) -> u64 {
        self.words.get(at).map_or(0, |word| word.load(Relaxed))
    }

    fn set(&self, at: usize, value: u64) {
        if let Some(word) = self.words.get(at) {
            word.store(value, Relaxed);
        }
    }
}

fn write_text<W: Word>(words: &[W], text: &str) {
    let mut bytes = text.as_bytes().chunks(8);
    for word in words {
        let mut chunk = [0; 8];
        let part = bytes.next().unwrap_or_default();
        chunk.iter_mut().zip(part).for_each(|(to, byte)| *to = *byte);
        word.store(u64::from_ne_bytes(chunk), Relaxed);
    }
}

/// Up to the first zero byte or the first that is no text.
fn read_text<'t, W: Word, const N: usize>(words: &[W], text: &'t mut [u8; N]) -> &'t str {
    for (chunk, word) in text.chunks_exact_mut(8).zip(words) {
        chunk.copy_from_slice(&word.load(Relaxed).to_ne_bytes());
    }
    let bytes = text.get(..words.len() * 8).unwrap_or_default();
    let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    match core::str::from_utf8(text) {
        Ok(text) => text,
        Err(broken) => core::str::from_utf8(text.get(..broken.valid_up_to()).unwrap_or_default())
            .unwrap_or_default(),
    }
}
