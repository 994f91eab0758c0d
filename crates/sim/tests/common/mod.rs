//! The path of most tests: 12 Mbit/s, 20 ms in each direction. A full packet takes a millisecond,
//! and the BDP is 40 packets.

#![allow(dead_code, reason = "each test uses a part of it")]

use std::time::Duration;

use sounding_cc::{Controller, Start};
use sounding_sim::world::Segment;
use sounding_sim::{Device, Links, Path, PathConfig, Port, QueueLimit, World};
use sounding_trace::Schedule;
use sounding_units::{Bytes, HostInstant, Rate};

/// Payload of a segment.
pub(crate) const MSS: u64 = 1448;
/// A packet, in bytes of IP.
pub(crate) const PACKET: u64 = 1500;
/// 12 Mbit/s over 40 ms.
pub(crate) const BDP: u64 = 40 * PACKET;
/// The device of every flow.
pub(crate) const UP: Port = Port::up(Device(0));

pub(crate) type TestWorld = World<Links<Path<Segment>>>;

pub(crate) fn mbit(mbit: u64) -> Rate {
    Rate::from_bits_per_sec(mbit * 1_000_000)
}

pub(crate) fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

pub(crate) fn at_secs(secs: u64) -> HostInstant {
    HostInstant::from_nanos(secs * 1_000_000_000)
}

/// The constructor of a controller in the registry.
pub(crate) fn named(name: &str) -> fn(&Start) -> Box<dyn Controller> {
    sounding_baselines::by_name(name).unwrap()
}

/// A bottleneck in the uplink with a queue of `buffer` bytes, 20 ms in each direction, and a
/// gigabit on the return path.
pub(crate) fn links<P>(
    bottleneck: impl Into<Schedule>,
    buffer: u64,
    origin: HostInstant,
) -> Links<Path<P>> {
    let (up, down) = directions(bottleneck, buffer);
    Links::one(&up, &down, origin)
}

fn directions(bottleneck: impl Into<Schedule>, buffer: u64) -> (PathConfig, PathConfig) {
    let mut up = PathConfig::new(bottleneck);
    up.delay = millis(20);
    up.queue = QueueLimit::bytes(Bytes::new(buffer));
    let mut down = PathConfig::new(mbit(1000));
    down.delay = millis(20);
    (up, down)
}

pub(crate) fn world(bottleneck: impl Into<Schedule>, buffer: u64) -> TestWorld {
    World::new(links(bottleneck, buffer, HostInstant::default()), 1)
}
