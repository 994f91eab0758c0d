//! Streams of random numbers, one for each thing that draws: one more draw in one stream does not
//! change the others.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::ids::{CarrierId, DeviceCarrierId, DeviceId};

const CARRIERS: u64 = 1 << 40;
const PLACES: u64 = 2 << 40;
const CHANNELS: u64 = 3 << 40;
const TRAFFIC: u64 = 4 << 40;
const DEVICES: u64 = 5 << 40;

/// The streams of one seed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Streams {
    pub(crate) seed: u64,
}

impl Streams {
    pub(crate) fn carrier(self, carrier: CarrierId) -> ChaCha8Rng {
        self.stream(CARRIERS + u64::from(carrier.0))
    }

    /// Random numbers of a device's movement.
    pub(crate) fn place(self, device: DeviceId) -> ChaCha8Rng {
        self.stream(PLACES + u64::from(device.0))
    }

    pub(crate) fn channel(self, device: DeviceId, carrier: DeviceCarrierId) -> ChaCha8Rng {
        self.stream(CHANNELS + (u64::from(device.0) << 16) + u64::from(carrier.0))
    }

    pub(crate) fn traffic(self, device: DeviceId) -> ChaCha8Rng {
        self.stream(TRAFFIC + u64::from(device.0))
    }

    /// Other random numbers of a device.
    pub(crate) fn device(self, device: DeviceId) -> ChaCha8Rng {
        self.stream(DEVICES + u64::from(device.0))
    }

    fn stream(self, number: u64) -> ChaCha8Rng {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        rng.set_stream(number);
        rng
    }
}
