//! The entry of a given link: its losses and its queue, by direction.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sounding_sim::{Losses, QueueLimit};

use super::Wrong;

/// Random streams for losses and drops, separate from those of the network: two for each link.
const LOSSES: u64 = 1 << 62;

/// The two of the wire, after those of all links.
pub(super) const WIRE: u64 = 1 << 32;

/// The entry of one direction.
pub(super) struct Entry {
    pub(super) name: &'static str,
    pub(super) queue: QueueLimit,
    share: Option<f64>,
    outages: Option<Losses>,
}

impl Entry {
    /// Up and down.
    pub(super) fn both(
        queues: [QueueLimit; 2],
        shares: [Option<f64>; 2],
        outages: [Option<Losses>; 2],
    ) -> [Self; 2] {
        let entry = |at: usize, name| Self {
            name,
            queue: queues[at],
            share: shares[at],
            outages: outages[at],
        };
        [entry(0, "up"), entry(1, "down")]
    }

    /// The losses; `key` is the table's.
    pub(super) fn losses(&self, key: &str) -> Result<Losses, Wrong> {
        let Self { name, share, outages, .. } = self;
        match (*share, *outages) {
            (Some(_), Some(_)) => {
                let why = format!("a direction has {name}_loss or {name}_outages");
                Err(Wrong::new(format!("{key}.{name}_outages"), why))
            }
            (Some(share), None) => Ok(Losses::Share(share)),
            (None, outages) => Ok(outages.unwrap_or_default()),
        }
    }

    /// The seed of this direction, of the streams at this place.
    pub(super) fn seed(&self, seed: u64, pair: u64) -> u64 {
        let mut lots = ChaCha8Rng::seed_from_u64(seed);
        lots.set_stream(LOSSES + pair + u64::from(self.name == "down"));
        lots.random()
    }
}
