//! One raw KPI and a straight line: what BISCAY §5.2 compares with.
//!
//! The line is fitted by least squares to the bytes that were granted in the first part of a run,
//! and does not change afterwards: such methods train in one place and run in the next.

use core::time::Duration;

use sounding_kpi::{Kpi, Signal};
use sounding_units::{ModemInstant, Rate};

use super::slots::Slots;
use crate::Config;
use crate::recent::Recent;

/// Which KPI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Raw {
    /// Resource blocks a second.
    Prb,
    /// Mean I_MCS, in LTE I_TBS, of the blocks of a window.
    Mcs,
    /// Mean RSRP of the primary cell.
    Rsrp,
}

/// The training part of a run, and the spans that it is cut into. Chosen.
const LEARNING: Duration = Duration::from_secs(20);
const BIN: Duration = Duration::from_millis(100);
/// Two points make a line, but no good one: chosen.
const FEWEST: u32 = 20;
/// Grants of a bin are known this long after it.
const SETTLED: Duration = Duration::from_millis(400);

/// A line through points, by least squares.
#[derive(Clone, Copy, Debug, Default)]
struct Line {
    count: u32,
    x: f64,
    y: f64,
    xx: f64,
    xy: f64,
}

impl Line {
    fn add(&mut self, x: f64, y: f64) {
        self.count += 1;
        let n = f64::from(self.count);
        // Means and sums of products around them: sums of squares would lose what makes the slope.
        let (dx, dy) = (x - self.x, y - self.y);
        self.x += dx / n;
        self.y += dy / n;
        self.xx += dx * (x - self.x);
        self.xy += dx * (y - self.y);
    }

    fn at(&self, x: f64) -> f64 {
        let slope = if self.xx > 0.0 { self.xy / self.xx } else { 0.0 };
        self.y + slope * (x - self.x)
    }
}

/// The fit, and the signal that it may be of.
#[derive(Clone, Debug)]
pub(super) struct Regression {
    raw: Raw,
    ip_share: f64,
    line: Line,
    began: Option<ModemInstant>,
    /// End of the next training bin.
    bin: ModemInstant,
    signals: Recent<f32>,
}

impl Regression {
    pub(super) fn new(config: &Config, raw: Raw) -> Self {
        Self {
            raw,
            ip_share: f64::from(config.ip_share_permille) / 1000.0,
            line: Line::default(),
            began: None,
            bin: ModemInstant::default(),
            signals: Recent::new(Duration::from_secs(2).max(config.window.saturating_mul(2))),
        }
    }

    pub(super) fn handle_kpi(&mut self, modem_now: ModemInstant, slots: &Slots, kpi: &Kpi) {
        match kpi {
            Kpi::Signal(signal) => self.handle_signal(signal),
            Kpi::Grant(grant) if self.began.is_none() => {
                self.began = Some(grant.at);
                self.bin = grant.at + BIN;
            }
            _ => {}
        }
        let Some(began) = self.began else { return };
        // A clock that was set leaves bins without end. The slots that are kept still fill a few of
        // them.
        if modem_now - self.bin > Duration::from_secs(2) {
            self.bin = modem_now.saturating_before(SETTLED);
        }
        while self.bin - began <= LEARNING && modem_now - self.bin > SETTLED {
            let bits: u64 = slots.within(self.bin, BIN).map(|slot| slot.new_bits).sum();
            if let Some(x) = self.kpi(slots, self.bin, BIN) {
                self.line.add(x, bits as f64 * self.ip_share / BIN.as_secs_f64());
            }
            self.bin = self.bin + BIN;
        }
    }

    /// The primary cell is the first of a record.
    fn handle_signal(&mut self, signal: &Signal) {
        if self.signals.at_mut(signal.at).next().is_none() && signal.rsrp_dbm.is_finite() {
            self.signals.push(signal.at, signal.rsrp_dbm);
        }
    }

    fn kpi(&self, slots: &Slots, end: ModemInstant, span: Duration) -> Option<f64> {
        match self.raw {
            Raw::Prb => {
                let prb: u32 = slots.within(end, span).map(|slot| slot.prb).sum();
                Some(f64::from(prb) / span.as_secs_f64())
            }
            Raw::Mcs => {
                let sum =
                    |(mcs, count), slot: &super::slots::Slot| (mcs + slot.mcs, count + slot.first);
                let (mcs, count) = slots.within(end, span).fold((0, 0), sum);
                (count > 0).then(|| f64::from(mcs) / f64::from(count))
            }
            Raw::Rsrp => {
                let (mut sum, mut count) = (0.0, 0.0);
                for level in self.signals.within(end, span) {
                    sum += f64::from(*level);
                    count += 1.0;
                }
                if count > 0.0 {
                    return Some(sum / count);
                }
                self.signals.until(end).next().map(|(_, level)| f64::from(*level))
            }
        }
    }

    pub(super) fn rate(&self, slots: &Slots, end: ModemInstant) -> Option<Rate> {
        if self.line.count < FEWEST {
            return None;
        }
        let bits = self.kpi(slots, end, slots.span).map_or(0.0, |x| self.line.at(x));
        Some(Rate::from_bits_per_sec(bits.max(0.0) as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_through_points_of_a_line_is_that_line() {
        let mut line = Line::default();
        for x in [-110.0, -95.0, -80.5] {
            line.add(x, 3e6 * x + 4e8);
        }
        assert!((line.at(-100.0) - 1e8).abs() < 1.0);
    }

    #[test]
    fn a_kpi_that_never_changes_says_the_mean() {
        let mut line = Line::default();
        line.add(7.0, 1.0);
        line.add(7.0, 3.0);
        assert_eq!((line.at(7.0), line.at(9.0)), (2.0, 2.0));
    }
}
