//! Arrivals that a program in this kernel corrects, and the account of them.

use std::time::Duration;

use miette::{Report, Result, miette};
use sounding_bpf::{Arrivals, ArrivalsConfig, ArrivalsCounts, ArrivalsError};
use sounding_link::DelayUpdate;

/// The program, and how much it took off.
pub(crate) struct Corrected {
    arrivals: Arrivals,
    /// From all packets together.
    taken_off: Duration,
}

impl Corrected {
    /// Corrects packets of media that come by this network device, from here on.
    pub(crate) fn load(device: &str) -> Result<Self> {
        let config = ArrivalsConfig { device: device.to_owned(), by_discipline: false };
        let arrivals = Arrivals::load(&config).map_err(refused)?;
        Ok(Self { arrivals, taken_off: Duration::ZERO })
    }

    pub(crate) fn handle_update(&mut self, update: &DelayUpdate) -> Result<()> {
        self.arrivals.handle_update(update).map_err(refused)?;
        while let Some(packet) = self.arrivals.poll_packet() {
            self.taken_off += packet.back;
        }
        Ok(())
    }

    /// Whether its end takes CAP_NET_ADMIN.
    pub(crate) fn ends_by_rights(&self) -> bool {
        self.arrivals.ends_by_rights()
    }

    pub(crate) fn counts(&self) -> ArrivalsCounts {
        self.arrivals.counts()
    }

    /// What became of packets, and why nothing did.
    pub(crate) fn account(&self) -> String {
        account(self.arrivals.counts(), self.taken_off)
    }
}

fn refused(error: ArrivalsError) -> Report {
    miette!(help = error.cure(), "{error}")
}

fn account(counts: ArrivalsCounts, taken_off: Duration) -> String {
    let ArrivalsCounts { packets, corrected, unstamped, .. } = counts;
    if packets == 0 {
        return "no packet of media came at this device".into();
    }
    if unstamped == packets {
        return format!(
            "none of {packets} packets of media was corrected: no program here asks the kernel when packets come"
        );
    }
    let mean = u32::try_from(corrected).ok().and_then(|count| taken_off.checked_div(count));
    let mean = mean.map_or(String::new(), |mean| {
        format!(", by {:.1} ms on average", mean.as_secs_f64() * 1e3)
    });
    format!("{corrected} of {packets} packets of media were corrected{mean}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_account_says_why_nothing_was_corrected() {
        let counts = |packets, corrected, unstamped| ArrivalsCounts {
            packets,
            corrected,
            unstamped,
            unnoted: 0,
        };
        let millis = Duration::from_millis;
        for (counts, taken_off, said) in [
            (counts(0, 0, 0), 0, "no packet of media came at this device"),
            (
                counts(9, 0, 9),
                0,
                "none of 9 packets of media was corrected: no program here asks the kernel when packets come",
            ),
            (counts(9, 0, 1), 0, "0 of 9 packets of media were corrected"),
            (counts(9, 4, 1), 10, "4 of 9 packets of media were corrected, by 2.5 ms on average"),
        ] {
            assert_eq!(account(counts, millis(taken_off)), said);
        }
    }
}
