//! Whether a device receives its cells.

use core::time::Duration;

use sounding_kpi::{Channel, CqiTable};
use sounding_units::ModemInstant;

/// The device's own reports of its channels show it. A CQI of 0 is out of range: not even QPSK with
/// the lowest code rate would arrive (TS 36.213 §7.2.3, TS 38.214 §5.2.2.1), and the control
/// channel with the assignments is hardly better protected. The report goes over the uplink,
/// whether or not data comes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hearing {
    /// The newest report of each carrier, LTE's before NR's.
    newest: [Option<(ModemInstant, u8)>; 2 * CARRIERS],
}

/// Carriers that are tracked separately; records have no more.
const CARRIERS: usize = 8;

/// Reports arrive every 20 to 160 ms if they are configured; older ones do not describe the
/// present. Chosen.
const REPORT_VALID: Duration = Duration::from_millis(200);

impl Hearing {
    pub(super) fn handle_report(&mut self, channel: &Channel) {
        let of_nr = usize::from(channel.table == CqiTable::Nr);
        let newest = &mut self.newest[usize::from(channel.carrier) % CARRIERS + CARRIERS * of_nr];
        if newest.is_none_or(|(at, _)| at <= channel.at) {
            *newest = Some((channel.at, channel.cqi));
        }
    }

    /// Whether the device reports that it receives no carrier.
    pub(super) fn is_deaf(&self, now: ModemInstant) -> bool {
        let fresh = self.newest.iter().flatten().filter(|(at, _)| now - *at <= REPORT_VALID);
        fresh.map(|(_, cqi)| *cqi).max() == Some(0)
    }
}
