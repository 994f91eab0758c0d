//! The port and the behaviour of a simulated modem, for any source of its records.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::{ArgGroup, Args};
use sounding_modem::{Behaviour, Mischief, Place};

/// A simulated modem's port and manners.
#[derive(Args, Debug)]
#[command(group = ArgGroup::new("place"))]
pub(crate) struct PortArgs {
    /// Serve a pty, with a symbolic link of this name to its tty; without --link or another place,
    /// a pty without one
    #[arg(long, value_name = "PATH", group = "place")]
    link: Option<PathBuf>,
    /// Serve as an open diag-router on this abstract socket
    #[arg(long, value_name = "NAME", group = "place")]
    router: Option<String>,
    /// Serve as a phone vendor's diag-router on this abstract socket, which can be drained
    #[arg(long, value_name = "NAME", group = "place")]
    vendor_router: Option<String>,
    /// Serve on this port of the loopback interface; 0 takes a free one
    #[arg(long, value_name = "PORT", group = "place")]
    tcp: Option<u16>,
    /// Records wait in the modem until there are this many bytes of them; 0 sends each at once
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    buffer: usize,
    /// Longest time that records wait in the modem
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = humantime::parse_duration)]
    release: Duration,
    /// Log records, events and messages are all on from the start, as in a modem that another
    /// program has configured
    #[arg(long)]
    all_on: bool,
    /// Refuse to tell the log masks, as some phones do
    #[arg(long)]
    hide_masks: bool,
    /// The HDLC framing is switched off
    #[arg(long)]
    non_hdlc: bool,
    /// Share of the frames with a broken copy before them
    #[arg(long, value_name = "PERCENT", default_value = "0%")]
    corrupt: Percent,
    /// Share of the frames that lose their end
    #[arg(long, value_name = "PERCENT", default_value = "0%")]
    truncate: Percent,
    /// Share of the frames with meaningless bytes before them
    #[arg(long, value_name = "PERCENT", default_value = "0%")]
    garbage: Percent,
    /// Nothing leaves it from AT for SPAN, counted from the first record
    #[arg(long, value_name = "AT:SPAN")]
    stall: Option<Times>,
    /// Restart the modem this long after the first record: the port goes away for half a second,
    /// and masks are forgotten
    #[arg(long, value_name = "AT", value_parser = humantime::parse_duration)]
    pub(super) reboot: Option<Duration>,
    /// The modem's clock counts from 1980 for this long, until the network tells it the time
    #[arg(long, value_name = "SPAN", value_parser = humantime::parse_duration)]
    clock_unset: Option<Duration>,
    /// Its clock is set forward AT by SPAN
    #[arg(long, value_name = "AT:SPAN")]
    clock_jump: Option<Times>,
}

/// A share, 0 to 1, written as `1%`.
#[derive(Clone, Copy, Debug)]
struct Percent(f64);

impl FromStr for Percent {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = text.strip_suffix('%').ok_or("a share ends in %, as in 1%")?;
        match number.trim().parse() {
            Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(Self(percent / 100.0)),
            _ => Err("a share is 0% to 100%".into()),
        }
    }
}

/// A time and a span, written as `10s:300ms`.
#[derive(Clone, Copy, Debug)]
struct Times(Duration, Duration);

impl FromStr for Times {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (at, span) =
            text.split_once(':').ok_or("two times with a colon between, as in 10s:300ms")?;
        let time = |text| humantime::parse_duration(text).map_err(|error| error.to_string());
        Ok(Self(time(at)?, time(span)?))
    }
}

impl PortArgs {
    /// Its place.
    pub(crate) fn place(&self) -> Place {
        if let Some(name) = &self.router {
            Place::Router(name.clone())
        } else if let Some(name) = &self.vendor_router {
            Place::VendorRouter(name.clone())
        } else if let Some(port) = self.tcp {
            Place::Tcp(port)
        } else {
            Place::Pty(self.link.clone())
        }
    }

    /// The modem's behaviour. `seed` determines its random events.
    pub(crate) fn behaviour(&self, seed: u64) -> Behaviour {
        let pair = |times: Option<Times>| times.map(|Times(at, span)| (at, span));
        Behaviour {
            high_water: self.buffer,
            release: self.release,
            all_on: self.all_on,
            hides_masks: self.hide_masks,
            unframed: self.non_hdlc,
            mischief: Mischief {
                corrupt: self.corrupt.0,
                truncate: self.truncate.0,
                garbage: self.garbage.0,
                stall: pair(self.stall),
                reboot: self.reboot,
                unset_until: self.clock_unset,
                jump: pair(self.clock_jump),
                seed,
            },
            ..Behaviour::default()
        }
    }
}
