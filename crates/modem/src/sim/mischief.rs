use std::time::Duration;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sounding_diag::hdlc;
use sounding_units::ModemInstant;

/// Faults of a simulated modem. All times count from its first record.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mischief {
    /// A broken copy comes before this many of the frames, 0 to 1.
    pub corrupt: f64,
    /// Part of the frames that lose their end, 0 to 1.
    pub truncate: f64,
    /// Part of the frames with random bytes before them, 0 to 1.
    pub garbage: f64,
    /// No output from the first time until the second.
    pub stall: Option<(Duration, Duration)>,
    /// The modem restarts: its port goes away for a while and its masks are forgotten.
    pub reboot: Option<Duration>,
    /// The clock counts from 1980 until then: the network has not sent the time.
    pub unset_until: Option<Duration>,
    /// The clock is set forward at the first time by the second.
    pub jump: Option<(Duration, Duration)>,
    /// Seed of all random choices.
    pub seed: u64,
}

/// Random faults of frames.
#[derive(Clone, Debug)]
pub(super) struct Chance {
    mischief: Mischief,
    random: ChaCha8Rng,
}

/// The fault of one frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Fate {
    /// Bytes on the wire before it.
    pub(super) before: Option<Vec<u8>>,
    /// Bytes on the wire in its place.
    pub(super) instead: Option<Vec<u8>>,
}

const MARK: u8 = 0x7E;
const ESCAPE: u8 = 0x7D;

impl Chance {
    pub(super) fn new(mischief: Mischief) -> Self {
        let random = ChaCha8Rng::seed_from_u64(mischief.seed);
        Self { mischief, random }
    }

    pub(super) fn mischief(&self) -> &Mischief {
        &self.mischief
    }

    fn happens(&mut self, probability: f64) -> bool {
        probability > 0.0 && f64::from(self.random.next_u32()) < probability * 2f64.powi(32)
    }

    fn below(&mut self, limit: usize) -> usize {
        self.random.next_u32() as usize % limit.max(1)
    }

    pub(super) fn fate(&mut self, payload: &[u8]) -> Fate {
        let Mischief { corrupt, truncate, garbage, .. } = self.mischief;
        let mut fate = Fate::default();
        if self.happens(corrupt) {
            fate.before = Some(self.broken(payload));
        }
        if self.happens(garbage) {
            let len = 1 + self.below(64);
            let mut noise: Vec<u8> = (0..len).map(|_| self.random.next_u32() as u8).collect();
            // The bytes end like a frame, so that the next frame is not lost. Terminators inside
            // are replaced.
            noise.retain(|&byte| byte != MARK);
            noise.extend([b'!', MARK]);
            fate.before.get_or_insert_default().extend(noise);
        }
        if self.happens(truncate) {
            let mut frame = Vec::new();
            hdlc::encode(payload, &mut frame);
            let keep = 1 + self.below(frame.len().saturating_sub(2));
            frame.truncate(keep);
            frame.push(MARK);
            fate.instead = Some(frame);
        }
        fate
    }

    /// The frame with one bit of it wrong.
    fn broken(&mut self, payload: &[u8]) -> Vec<u8> {
        let mut frame = Vec::new();
        hdlc::encode(payload, &mut frame);
        // Not into its terminator, and not so that a terminator or an escape comes or goes: one
        // frame stays one frame.
        let within = frame.len() - 1;
        let start = self.below(within);
        for at in (start..within).chain(0..start) {
            let special = |byte: u8| byte == MARK || byte == ESCAPE;
            let escaped = at > 0 && frame[at - 1] == ESCAPE;
            if !special(frame[at]) && !special(frame[at] ^ 1) && !escaped {
                frame[at] ^= 1;
                break;
            }
        }
        frame
    }

    /// The clock's reading for a record that is made `due` after the first, or `None` if it is
    /// right.
    pub(super) fn stamp(
        &self,
        first: ModemInstant,
        right: ModemInstant,
        due: Duration,
    ) -> Option<ModemInstant> {
        if self.mischief.unset_until.is_some_and(|until| due < until) {
            // Some seconds after the modem started.
            return Some(ModemInstant::from_nanos(5_000_000_000) + (right - first));
        }
        let (_, by) = self.mischief.jump.filter(|(at, _)| due >= *at)?;
        Some(right + by)
    }
}
