use core::time::Duration;

use sounding_cc::Ack;
use sounding_cc::part::Windowed;

/// The least is remembered for so long. Clocks drift: at 20 ppm they differ by 0.2 ms more after
/// it.
const LASTS: u64 = 10_000_000_000;

/// By how much acknowledgements took longer to come back than the fastest of the last ten seconds.
///
/// A receiver's stamp parts an RTT into the way there and the way back. Its clock differs by an
/// unknown amount, which is in the least as well and so is taken out again. A stamp that counts in
/// milliseconds makes the difference wrong by one of them at most.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WayBack {
    least: Option<Windowed<i64>>,
}

/// The way back and the difference of the clocks.
fn way(ack: &Ack) -> Option<i64> {
    let (rtt, there) = (ack.rtt?, ack.one_way?);
    let [rtt, there] = [rtt, there].map(|way| i64::try_from(way.as_nanos()).ok());
    rtt?.checked_sub(there?)
}

impl WayBack {
    /// An acknowledgement that arrived.
    pub(super) fn handle_ack(&mut self, ack: &Ack) {
        let Some(way) = way(ack) else { return };
        let at = ack.now.as_nanos();
        self.least.get_or_insert_with(|| Windowed::min(LASTS, at, way)).update(at, way);
    }

    /// How much longer this one took; `None` without a receiver's stamp.
    pub(super) fn longer(&self, ack: &Ack) -> Option<Duration> {
        let longer = way(ack)?.checked_sub(self.least?.best())?;
        Some(Duration::from_nanos(u64::try_from(longer).unwrap_or_default()))
    }
}

#[cfg(test)]
mod tests {
    use sounding_units::HostInstant;

    use super::*;

    #[test]
    fn a_way_back_is_compared_with_the_least_whatever_the_difference_of_the_clocks() {
        let ack = |at: u64, rtt: u64, one_way: u64| Ack {
            now: HostInstant::from_nanos(at * 1_000_000),
            rtt: Some(Duration::from_millis(rtt)),
            one_way: Some(Duration::from_millis(one_way)),
            ..Ack::default()
        };
        for behind in [0, 7_000] {
            let mut back = WayBack::default();
            assert_eq!(back.longer(&ack(1, 40, behind + 20)), None);
            let longer = [(40, 20), (348, 320), (90, 70)].map(|(rtt, one_way)| {
                let ack = ack(rtt, rtt, behind + one_way);
                back.handle_ack(&ack);
                back.longer(&ack).unwrap().as_millis()
            });
            assert_eq!(longer, [0, 8, 0]);
        }
        assert_eq!(WayBack::default().longer(&Ack::default()), None);
    }
}
