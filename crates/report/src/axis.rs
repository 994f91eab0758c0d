//! The quantity of an axis, and the positions of its tick marks.

use std::ops::Range;

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};

/// An axis: its quantity, range and scale.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// The quantity with its unit: `one-way delay (ms)`.
    pub label: String,
    /// Whether equal steps are equal ratios.
    pub logarithmic: bool,
    /// Whether it begins at zero, if it is not logarithmic.
    pub from_zero: bool,
    /// Its end, if not from the data, in its unit.
    pub until: Option<f64>,
}

impl Axis {
    /// From zero to the largest.
    pub fn linear(label: impl Into<String>) -> Self {
        Self { label: label.into(), logarithmic: false, from_zero: true, until: None }
    }

    /// A logarithmic axis from the smallest value to the largest.
    pub fn logarithmic(label: impl Into<String>) -> Self {
        Self { label: label.into(), logarithmic: true, from_zero: false, until: None }
    }

    /// The same axis with this end.
    #[must_use]
    pub fn until(self, until: f64) -> Self {
        Self { until: Some(until), ..self }
    }

    /// The scale that has room for these values; those that no scale has a place for are passed
    /// over.
    pub(super) fn scale(&self, values: impl Iterator<Item = f64>) -> Scale {
        let usable = values.filter(|v| v.is_finite() && (!self.logarithmic || *v > 0.0));
        let (mut low, mut high) = usable
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
        if low > high {
            (low, high) = if self.logarithmic { (1.0, 10.0) } else { (0.0, 1.0) };
        }
        if self.logarithmic {
            // A little room on either side; a single value gets a factor of two.
            let room = ((high / low).powf(0.04)).max(if high / low < 1.5 { 1.5 } else { 1.02 });
            (low, high) = (low / room, high * room);
        } else {
            let room = 0.05 * (high - if self.from_zero { low.min(0.0) } else { low });
            let room = if room > 0.0 { room } else { 0.5 * high.abs().max(1.0) };
            high += room;
            low = if self.from_zero { low.min(0.0) } else { low - room };
        }
        Scale {
            range: low..self.until.unwrap_or(high),
            logarithmic: self.logarithmic,
            reversed: false,
        }
    }
}

/// A stretch of numbers on a stretch of the canvas.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Scale {
    pub(super) range: Range<f64>,
    pub(super) logarithmic: bool,
    /// Whether the largest is at the left.
    pub(super) reversed: bool,
}

impl Scale {
    pub(super) fn reversed(self) -> Self {
        Self { reversed: true, ..self }
    }

    /// The nearest value that it has a place for.
    pub(super) fn clamp(&self, value: f64) -> f64 {
        value.clamp(self.range.start, self.range.end)
    }

    /// Round values within the range, about `most` of them.
    pub(super) fn ticks(&self, most: usize) -> Vec<f64> {
        let Range { start, end } = self.range;
        if most == 0 {
            return Vec::new();
        }
        if !self.logarithmic {
            return linear(start, end, most);
        }
        let decades = (end / start).log10();
        // Within one decade and a half steps of 1, 2 and 5 would leave the axis nearly bare.
        if decades < 0.8 {
            return linear(start, end, most);
        }
        let within = |steps: &[f64]| -> Vec<f64> {
            let (first, last) = (start.log10().floor() as i32, end.log10().ceil() as i32);
            (first..=last)
                .flat_map(|decade| steps.iter().map(move |step| step * 10_f64.powi(decade)))
                .filter(|value| (start..=end).contains(value))
                .collect()
        };
        let dense = within(&[1.0, 2.0, 5.0]);
        if dense.len() <= most.max(3) { dense } else { within(&[1.0]) }
    }
}

/// Multiples of 1, 2 or 5 times a power of ten.
fn linear(start: f64, end: f64, most: usize) -> Vec<f64> {
    let least = (end - start) / most.max(2) as f64;
    let power = 10_f64.powf(least.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].iter().map(|of| of * power).find(|step| *step >= least);
    let step = step.unwrap_or(10.0 * power);
    let (first, last) = ((start / step).ceil() as i64, (end / step + 1e-9).floor() as i64);
    (first..=last).map(|number| number as f64 * step).collect()
}

/// The shortest text that differs from those of neighbouring ticks.
pub(super) fn written(value: f64) -> String {
    let size = value.abs();
    let decimals = match size {
        _ if size == 0.0 || size >= 100.0 => 0,
        _ if size >= 1.0 => 2,
        _ => 4,
    };
    let text = format!("{value:.decimals$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

impl Ranged for Scale {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (from, to): (i32, i32)) -> i32 {
        let place = |value: f64| if self.logarithmic { value.ln() } else { value };
        let (start, end) = (place(self.range.start), place(self.range.end));
        let share = (place(*value) - start) / (end - start);
        let share = if self.reversed { 1.0 - share } else { share };
        from + (f64::from(to - from) * share).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        // Lines between those that have a number are more ink than help.
        if hint.weight().allow_light_points() {
            return Vec::new();
        }
        self.ticks(hint.bold_points())
    }

    fn range(&self) -> Range<f64> {
        self.range.clone()
    }
}

impl ValueFormatter<f64> for Scale {
    fn format_ext(&self, value: &f64) -> String {
        written(*value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scale(axis: &Axis, values: &[f64]) -> Scale {
        axis.scale(values.iter().copied())
    }

    #[test]
    fn a_linear_axis_has_round_numbers_from_zero_on() {
        let scale = scale(&Axis::linear(""), &[3.0, 47.0]);
        assert_eq!(scale.ticks(6), [0.0, 10.0, 20.0, 30.0, 40.0]);
    }

    #[test]
    fn a_logarithmic_axis_has_one_two_and_five() {
        let scale = scale(&Axis::logarithmic(""), &[20.0, 800.0]);
        assert_eq!(scale.ticks(6), [20.0, 50.0, 100.0, 200.0, 500.0]);
    }

    #[test]
    fn a_reversed_scale_has_its_least_at_the_right() {
        let scale = scale(&Axis::linear("").until(10.0), &[5.0]).reversed();
        assert_eq!(scale.map(&0.0, (100, 1_100)), 1_100);
        assert_eq!(scale.map(&10.0, (100, 1_100)), 100);
    }

    #[test]
    fn nothing_and_one_value_have_a_scale_too() {
        for axis in [Axis::linear(""), Axis::logarithmic("")] {
            for values in [&[][..], &[7.0], &[f64::NAN, 7.0], &[0.0]] {
                let scale = scale(&axis, values);
                assert!(scale.range.start < scale.range.end, "{axis:?} {values:?} {scale:?}");
                assert!(!scale.ticks(5).is_empty(), "{axis:?} {values:?}");
            }
        }
    }

    #[test]
    fn a_tick_is_written_without_idle_zeros() {
        let texts = [0.0, 0.25, 1.0, 2.5, 40.0, 1_000.0].map(written);
        assert_eq!(texts, ["0", "0.25", "1", "2.5", "40", "1000"]);
    }
}
