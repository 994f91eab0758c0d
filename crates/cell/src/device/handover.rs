//! When a device goes to another cell.

use core::time::Duration;

use sounding_units::HostInstant;

use crate::config::HandoverConfig;

/// Interval of measurements of neighbours (TS 36.133 §8.1.2.2: a measurement period of 200 ms,
/// layer 1 samples of 40 ms).
pub(crate) const MEASURED_EVERY: Duration = Duration::from_millis(40);

/// The steps from one cell to another.
///
/// ```text
///       a neighbour is better          for time-to-             command
/// Here ──────by the offset────▶ Better ────trigger────▶ Prepared ───────▶ Here (there)
///   ▲                             │
///   └──── it is not any more ─────┘
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Handover {
    #[default]
    Here,
    /// A neighbour is better since then.
    Better { cell: usize, since: HostInstant },
    /// The command comes then.
    Prepared { cell: usize, at: HostInstant },
}

impl Handover {
    /// Neighbours were measured: the best of them, by how many dB it is better than the serving
    /// cell.
    pub(crate) fn handle_measurement(
        &mut self,
        now: HostInstant,
        best: Option<(usize, f32)>,
        config: &HandoverConfig,
    ) {
        let better = best.filter(|(_, by_db)| *by_db >= config.a3_offset_db);
        *self = match (*self, better) {
            (prepared @ Self::Prepared { .. }, _) => prepared,
            (Self::Better { cell, since }, Some((found, _))) if cell == found => {
                if now - since >= config.time_to_trigger {
                    Self::Prepared { cell, at: now + config.preparation }
                } else {
                    Self::Better { cell, since }
                }
            }
            (_, Some((cell, _))) => Self::Better { cell, since: now },
            (_, None) => Self::Here,
        };
    }

    /// The cell to go to now.
    pub(crate) fn command(&mut self, now: HostInstant) -> Option<usize> {
        match *self {
            Self::Prepared { cell, at } if at <= now => {
                *self = Self::Here;
                Some(cell)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> HostInstant {
        HostInstant::from_nanos(ms * 1_000_000)
    }

    #[test]
    fn a_neighbour_has_to_stay_better_for_the_time_to_trigger() {
        let config = HandoverConfig::default();
        let mut handover = Handover::default();
        for ms in (0..300).step_by(40) {
            handover.handle_measurement(at(ms), Some((1, 4.0)), &config);
        }
        handover.handle_measurement(at(300), Some((1, 2.9)), &config);
        assert_eq!(handover, Handover::Here);
        for ms in (340..680).step_by(40) {
            handover.handle_measurement(at(ms), Some((1, 3.0)), &config);
        }
        assert_eq!(handover.command(at(709)), None);
        assert_eq!(handover.command(at(710)), Some(1));
        assert_eq!(handover, Handover::Here);
    }
}
