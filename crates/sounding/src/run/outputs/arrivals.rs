//! Corrected arrivals: a receiver that is not changed reads when packets of media would have come
//! without the radio's own delays.

use std::time::Duration;

use miette::{Result, miette};
use nix::net::if_::if_nametoindex;
use sounding_kpi::Direction;
use sounding_link::DelayUpdate;
use sounding_units::HostInstant;

use super::calls::delay_codes;
use crate::corrected::Corrected;
use crate::run::events::{Events, LastWords};
use crate::run::output::{Needs, Output, Section};

/// `[arrivals]`.
#[derive(Clone, Debug)]
pub(in crate::run) struct ArrivalsSection {
    /// The network device that packets of media come by.
    pub(in crate::run) device: String,
}

impl Section for ArrivalsSection {
    fn name(&self) -> String {
        format!("arrivals {}", self.device)
    }

    fn needs(&self) -> Needs {
        Needs { delays: true, codes: delay_codes(Direction::Downlink), ..Needs::default() }
    }

    fn start(&self) -> Result<Box<dyn Output>> {
        let number = number(&self.device);
        let corrected = Corrected::load(&self.device)?;
        Ok(Box::new(ArrivalsOutput {
            corrected,
            device: self.device.clone(),
            number,
            looked: None,
        }))
    }

    fn may_fail(&self) -> bool {
        true
    }
}

fn number(device: &str) -> u32 {
    if_nametoindex(device).unwrap_or_default()
}

struct ArrivalsOutput {
    corrected: Corrected,
    device: String,
    /// The device's when the program was attached.
    number: u32,
    looked: Option<HostInstant>,
}

/// How often the device is looked for: a modem that reboots has a new one under the old name.
const LOOK_EVERY: Duration = Duration::from_secs(1);

impl Output for ArrivalsOutput {
    fn handle_delays(&mut self, update: &DelayUpdate) -> Result<()> {
        self.corrected.handle_update(update)
    }

    fn attend(&mut self, now: HostInstant, _events: &mut Events) -> Result<()> {
        if self.looked.is_some_and(|looked| now - looked < LOOK_EVERY) {
            return Ok(());
        }
        self.looked = Some(now);
        if number(&self.device) == self.number {
            return Ok(());
        }
        let device = &self.device;
        Err(miette!(
            help = "it is tried again until the device is there",
            "{device}: the network device is gone"
        ))
    }

    fn last_words(&mut self, last: &mut LastWords) {
        last.say(Events::arrivals(&self.device, self.corrected.counts(), self.corrected.account()));
    }
}
