//! Whether a device is connected, and whether it listens.

use sounding_kpi::Direction;
use sounding_units::HostInstant;

use crate::config::SleepConfig;

/// Whether a device is connected and awake (TS 36.321 §5.7, TS 38.321 §5.7).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Connection {
    connected: bool,
    last_data: HostInstant,
}

impl Connection {
    pub(crate) const fn new(now: HostInstant) -> Self {
        Self { connected: true, last_data: now }
    }

    pub(crate) fn is_connected(&self) -> bool {
        self.connected
    }

    pub(crate) fn handle_data(&mut self, now: HostInstant) {
        self.last_data = self.last_data.max(now);
    }

    /// Whether it listens to the PDCCH.
    pub(crate) fn is_awake(&self, now: HostInstant, config: &SleepConfig) -> bool {
        self.connected
            && (now - self.last_data <= config.inactivity || {
                let cycle = config.cycle.as_nanos().max(1) as u64;
                now.as_nanos() % cycle < config.on.as_nanos() as u64
            })
    }

    /// Whether the network lets the connection go.
    pub(crate) fn is_released(&self, now: HostInstant, config: &SleepConfig) -> bool {
        self.connected && now - self.last_data > config.release
    }

    /// The network lets the connection go.
    pub(crate) fn release(&mut self) {
        self.connected = false;
    }

    /// Data came for a device without a connection: when the connection will be there.
    pub(crate) fn connect(
        &mut self,
        now: HostInstant,
        direction: Direction,
        config: &SleepConfig,
    ) -> HostInstant {
        self.connected = true;
        let paged = match direction {
            Direction::Uplink => now,
            Direction::Downlink => {
                let cycle = config.paging.as_nanos().max(1) as u64;
                HostInstant::from_nanos(now.as_nanos().next_multiple_of(cycle))
            }
        };
        let there = paged + config.setup;
        self.last_data = there;
        there
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> HostInstant {
        HostInstant::from_nanos(ms * 1_000_000)
    }

    #[test]
    fn a_device_sleeps_after_its_inactivity_and_listens_once_a_cycle() {
        let config = SleepConfig::default();
        let mut connection = Connection::new(at(0));
        connection.handle_data(at(1_000));
        assert!(connection.is_awake(at(1_200), &config));
        assert!(!connection.is_awake(at(1_201), &config));
        let awake = (2_000..5_200).filter(|&ms| connection.is_awake(at(ms), &config)).count();
        assert_eq!(awake, 100, "10 ms of each of ten cycles");
        assert!(connection.is_released(at(11_001), &config));
    }

    #[test]
    fn a_paged_device_answers_at_its_occasion() {
        let config = SleepConfig::default();
        let mut connection = Connection::new(at(0));
        connection.release();
        assert_eq!(connection.connect(at(2_000), Direction::Downlink, &config), at(2_560 + 80));
        connection.release();
        assert_eq!(connection.connect(at(9_000), Direction::Uplink, &config), at(9_080));
    }
}
