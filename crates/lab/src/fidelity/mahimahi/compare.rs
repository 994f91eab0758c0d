use std::fmt;

use serde::Serialize;
use sounding_experiment::provenance::Provenance;

use super::Figures;
use crate::table::Table;

/// Throughput may differ by this share of the reference's.
const THROUGHPUT_TOLERANCE: f64 = 0.03;

/// Tolerance for the 95th percentile of the queueing delay: this share of the reference's, or the
/// largest deviation of the reference's own repetitions from their mean, if that is more.
const P95_TOLERANCE: f64 = 0.10;

/// The emulator and mahimahi side by side.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// Origin of the figures.
    pub provenance: Provenance,
    /// The window, in seconds; the reference's is 60.
    pub window_s: f64,
    /// Emulations that ran at once.
    pub jobs: usize,
    /// One row a trace, direction and congestion control.
    pub rows: Vec<Row>,
}

/// One trace, direction and congestion control.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// As `vz-short.down.cubic`.
    pub name: String,
    /// mahimahi's repetitions.
    pub reference: Vec<Figures>,
    /// Ours.
    pub ours: Vec<Figures>,
    /// The verdict on the difference.
    pub verdict: Verdict,
}

/// Whether two rows agree.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Verdict {
    /// Our mean throughput against the reference's, as a share of it: +0.01 is one percent more.
    pub throughput_difference: f64,
    /// The same for the 95th percentile of the queueing delay.
    pub p95_difference: f64,
    /// Tolerance of the latter.
    pub p95_tolerance: f64,
    /// Both are within tolerance.
    pub pass: bool,
}

impl Row {
    /// A row and its verdict.
    pub fn new(name: &str, reference: Vec<Figures>, ours: Vec<Figures>) -> Self {
        let verdict = Verdict::of(&reference, &ours);
        Self { name: name.into(), reference, ours, verdict }
    }
}

impl Verdict {
    /// Compares the means over repetitions.
    pub fn of(reference: &[Figures], ours: &[Figures]) -> Self {
        let difference = |of: fn(&Figures) -> f64| {
            let theirs = Spread::of(reference, of);
            (Spread::of(ours, of).mean - theirs.mean) / theirs.mean
        };
        let p95 = Spread::of(reference, p95);
        let p95_tolerance = P95_TOLERANCE.max(p95.furthest / p95.mean);
        let throughput_difference = difference(throughput);
        let p95_difference = difference(self::p95);
        // A missing figure is NaN, and fails.
        let pass = throughput_difference.abs() <= THROUGHPUT_TOLERANCE
            && p95_difference.abs() <= p95_tolerance;
        Self { throughput_difference, p95_difference, p95_tolerance, pass }
    }
}

/// Mean and spread over repetitions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spread {
    pub(crate) mean: f64,
    /// Standard deviation of a sample; 0 of one repetition.
    pub(crate) deviation: f64,
    /// Largest distance of a repetition from the mean.
    furthest: f64,
}

impl Spread {
    pub(crate) fn of(figures: &[Figures], of: fn(&Figures) -> f64) -> Self {
        let count = figures.len() as f64;
        let mean = figures.iter().map(of).sum::<f64>() / count;
        let squares: f64 = figures.iter().map(|figures| (of(figures) - mean).powi(2)).sum();
        let deviation = if figures.len() < 2 { 0.0 } else { (squares / (count - 1.0)).sqrt() };
        let furthest = figures.iter().map(|figures| (of(figures) - mean).abs()).fold(0.0, f64::max);
        Self { mean, deviation, furthest }
    }
}

fn throughput(figures: &Figures) -> f64 {
    figures.throughput_mbit
}

fn p95(figures: &Figures) -> f64 {
    figures.p95_ms as f64
}

impl Comparison {
    /// Number of rows that agree.
    pub fn passed(&self) -> usize {
        self.rows.iter().filter(|row| row.verdict.pass).count()
    }

    /// A page for the documentation.
    pub fn to_markdown(&self) -> String {
        let mut out = String::from(
            "# The emulator against mahimahi\n\n\
             Kernel CUBIC and BBR, one flow, 20 ms each way, infinite queue, default socket buffers. Delays are queueing \
             delays of data packets in ms, mean ± standard deviation over repetitions. A row agrees if throughput is \
             within 3 % and p95 within 10 %, or within the reference's own spread where that is wider.\n\n",
        );
        out += &format!("{}\n", self.provenance);
        if (self.window_s - 60.0).abs() > 1e-9 {
            out += &format!(
                "**A trial over {} s: the reference ran 60 s, so nothing here is a verdict.**\n\n",
                self.window_s
            );
        }
        if self.jobs > 1 {
            out += &format!("{} emulations ran at once.\n\n", self.jobs);
        }
        out += &self.to_string();
        out
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = Table::new().left([
            "row",
            "reps theirs/ours",
            "mahimahi Mbit/s",
            "ours",
            "diff",
            "mahimahi p50",
            "ours",
            "mahimahi p95",
            "ours",
            "diff",
            "allowed",
            "p99 theirs/ours",
            "signal p95 theirs/ours",
            "agrees",
        ]);
        for row in &self.rows {
            let rates = |of: &[Figures]| {
                let spread = Spread::of(of, throughput);
                format!("{:.3}±{:.3}", spread.mean, spread.deviation)
            };
            let millis = |of: &[Figures], what: fn(&Figures) -> f64| {
                let spread = Spread::of(of, what);
                format!("{:.0}±{:.0}", spread.mean, spread.deviation)
            };
            let p50: fn(&Figures) -> f64 = |figures| figures.p50_ms as f64;
            let p99: fn(&Figures) -> f64 = |figures| figures.p99_ms as f64;
            let signal: fn(&Figures) -> f64 = |figures| figures.signal_p95_ms as f64;
            let Row { name, reference, ours, verdict } = row;
            let both = |what| format!("{} / {}", millis(reference, what), millis(ours, what));
            table.row([
                name.clone(),
                format!("{} / {}", reference.len(), ours.len()),
                rates(reference),
                rates(ours),
                format!("{:+.1} %", 100.0 * verdict.throughput_difference),
                millis(reference, p50),
                millis(ours, p50),
                millis(reference, p95),
                millis(ours, p95),
                format!("{:+.1} %", 100.0 * verdict.p95_difference),
                format!("{:.0} %", 100.0 * verdict.p95_tolerance),
                both(p99),
                both(signal),
                if verdict.pass { "yes" } else { "**no**" }.into(),
            ]);
        }
        table.note(format!("{} of {} rows agree.", self.passed(), self.rows.len()));
        table.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_differences_agree() {
        assert!(Verdict::of(&[Figures::example(5.0, 100)], &[Figures::example(5.14, 109)]).pass);
    }

    #[test]
    fn too_little_throughput_does_not() {
        assert!(!Verdict::of(&[Figures::example(5.0, 100)], &[Figures::example(4.84, 100)]).pass);
    }

    #[test]
    fn too_much_delay_does_not() {
        assert!(!Verdict::of(&[Figures::example(5.0, 100)], &[Figures::example(5.0, 111)]).pass);
    }

    #[test]
    fn a_reference_that_spreads_wider_allows_more() {
        let reference = [Figures::example(5.0, 70), Figures::example(5.0, 130)];
        assert!(Verdict::of(&reference, &[Figures::example(5.0, 125)]).pass);
    }

    #[test]
    fn nothing_measured_agrees_with_nothing() {
        assert!(!Verdict::of(&[Figures::example(5.0, 100)], &[]).pass);
    }
}
