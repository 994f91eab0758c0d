use core::time::Duration;

use sounding_units::{Bytes, HostInstant, Rate};

/// A packet with the largest payload of Ethernet and its header.
const MTU: Bytes = Bytes::new(1_514);

/// The constants of the queue management at one rate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Aims {
    target: Duration,
    interval: Duration,
    /// The time of one large packet.
    packet: Duration,
}

impl Aims {
    /// The target is a twentieth of the interval (tc-cake(8): `rtt`). At a low rate it is one and a
    /// half packets (cake_set_rate of Linux).
    pub(super) fn of(rate: Rate, interval: Duration) -> Self {
        let packet = MTU.time_at(rate).unwrap_or(Duration::MAX);
        let usual = interval / 20;
        let target = usual.max(packet.saturating_mul(3) / 2);
        let interval = interval.saturating_add(target - usual).max(target.saturating_mul(2));
        Self { target, interval, packet }
    }
}

/// COBALT's CoDel half for one flow: which packets are dropped as they leave (RFC 8289 §3; COBALT
/// counts down while the queue is short, instead of forgetting). Its other half, BLUE, begins where
/// a queue of 4 MiB overflows and is not modelled.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cobalt {
    /// Drops of the present episode.
    count: u32,
    is_dropping: bool,
    next: HostInstant,
}

impl Cobalt {
    /// Whether a packet that waited for so long is dropped.
    pub(super) fn drops(&mut self, now: HostInstant, waited: Duration, aims: &Aims) -> bool {
        let is_late = waited > aims.target && waited > aims.packet.saturating_mul(4);
        let is_due = self.count > 0 && now >= self.next;
        if is_late && !self.is_dropping {
            self.is_dropping = true;
            self.count = self.count.max(1);
            self.next = self.after(now, aims);
        } else if !is_late {
            self.is_dropping = false;
        }
        if is_due && self.is_dropping {
            self.count = self.count.saturating_add(1);
            self.next = self.after(self.next, aims);
            return true;
        }
        self.count_down(now, aims);
        false
    }

    /// The queue was served and is empty.
    pub(super) fn handle_empty(&mut self, now: HostInstant, aims: &Aims) {
        self.is_dropping = false;
        self.count_down(now, aims);
    }

    /// Time without drops lowers the pressure step by step.
    fn count_down(&mut self, now: HostInstant, aims: &Aims) {
        while !self.is_dropping && self.count > 0 && now >= self.next {
            self.count -= 1;
            self.next = self.after(self.next, aims);
        }
        if self.count == 0 {
            self.next = now + aims.interval;
        }
    }

    /// The interval shrinks with the square root of the count.
    fn after(&self, at: HostInstant, aims: &Aims) -> HostInstant {
        let root = libm::sqrt(f64::from(self.count.max(1)));
        at + Duration::from_nanos((aims.interval.as_nanos() as f64 / root) as u64)
    }
}
