//! Traffic of the other users of a cell: periods of activity, each with its own length and rate.

use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sounding_units::HostInstant;

/// One user, which sends or fetches data at intervals.
#[derive(Clone, Debug)]
struct User {
    busy: bool,
    until: HostInstant,
    bits_per_sec: f64,
    credit: f64,
}

/// All users.
#[derive(Clone, Debug)]
pub(super) struct Crowd {
    users: Vec<User>,
    rng: ChaCha8Rng,
    before: HostInstant,
}

/// Mean seconds of a transfer and of the pause after it, and the range of its rate in Mbit/s.
/// Chosen: pages, videos in pieces, and downloads at any rate.
const TURNS: [(f64, f64, f64, f64); 3] =
    [(0.4, 2.0, 5.0, 20.0), (2.0, 4.0, 2.0, 8.0), (5.0, 12.0, 30.0, 60.0)];

impl Crowd {
    pub(super) fn new(users: usize, now: HostInstant, seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(1);
        let user = User { busy: true, until: now, bits_per_sec: 0.0, credit: 0.0 };
        Self { users: vec![user; users], rng, before: now }
    }

    /// Packets of `size` that came since the last time, by user.
    pub(super) fn packets(&mut self, now: HostInstant, size: u64) -> Vec<u32> {
        let passed = (now - self.before).as_secs_f64();
        self.before = now;
        let rng = &mut self.rng;
        let mut turn = |at: usize, user: &mut User| {
            let (busy, pause, least, most) = TURNS[at % TURNS.len()];
            while user.until <= now {
                user.busy = !user.busy;
                let mean = if user.busy { busy } else { pause };
                let drawn = -mean * (1.0 - rng.random_range(0.0..1.0_f64)).ln();
                user.until = user.until + Duration::from_secs_f64(drawn.clamp(0.05, 60.0));
                user.bits_per_sec = 1e6 * rng.random_range(least..most);
            }
            if user.busy {
                user.credit += user.bits_per_sec * passed / 8.0;
            }
            let packets = (user.credit / size as f64) as u32;
            user.credit -= f64::from(packets) * size as f64;
            packets
        };
        self.users.iter_mut().enumerate().map(|(at, user)| turn(at, user)).collect()
    }
}
