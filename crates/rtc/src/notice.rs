use sounding_estimate::Direction;
use sounding_link::Sounder;
use sounding_units::HostInstant;

use crate::{Reported, Wait};

/// News of a device's modem for [`Reported`], in the order in which it came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// The radio made data wait.
    Wait(Wait),
    /// Records came. All waits that began before `until` are known, if anything is. In the downlink those that ended before.
    Heard {
        /// On the clock of the device's host.
        until: Option<HostInstant>,
    },
}

/// Makes notices of what a sounder read, which must be one with delays. By default of the uplink.
///
/// ```
/// use sounding_estimate::Direction;
/// use sounding_link::{Arrival, Config, Sounder};
/// use sounding_rtc::{Notices, Reported};
/// # let (now, bytes) = (sounding_units::HostInstant::default(), [0x7E]);
/// let mut sounder = Sounder::new(Config::new(Direction::Uplink)).with_delays();
/// let (mut notices, mut reported) = (Notices::default(), Reported::default());
/// // For each read of the modem's port:
/// sounder.handle_bytes(Arrival::At(now), &bytes, |_, _| {});
/// while let Some(notice) = notices.poll(&mut sounder) {
///     reported.handle_notice(now, &notice);
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Notices {
    direction: Direction,
    heard_at: HostInstant,
}

impl Default for Notices {
    fn default() -> Self {
        Self::new(Direction::Uplink)
    }
}

impl Notices {
    /// Of one direction.
    pub const fn new(direction: Direction) -> Self {
        Self { direction, heard_at: HostInstant::from_nanos(0) }
    }

    /// The next notice of what the sounder read since the last one.
    pub fn poll(&mut self, sounder: &mut Sounder) -> Option<Notice> {
        while let Some(event) = sounder.poll_delay() {
            if event.direction == self.direction {
                return Some(Notice::Wait(event.into()));
            }
        }
        let delays = sounder.delays()?;
        // A modem whose clock was set begins anew, with nothing heard.
        let heard_at = core::mem::replace(&mut self.heard_at, delays.heard_at());
        (delays.heard_at() > heard_at)
            .then(|| Notice::Heard { until: delays.known_until(self.direction) })
    }
}

impl Reported {
    /// A notice came at `now`.
    pub fn handle_notice(&mut self, now: HostInstant, notice: &Notice) {
        match *notice {
            Notice::Wait(wait) => self.handle_wait(wait),
            Notice::Heard { until } => self.handle_report(now, until),
        }
    }
}
