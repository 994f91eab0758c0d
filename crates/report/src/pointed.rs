//! The data under a pointer in a figure: its numbers and axes, for the script of the page.

use serde::Serialize;

use super::axis::Scale;
use super::palette::Styles;

/// A figure's numbers.
#[derive(Debug, Default, Serialize)]
pub(super) struct Pointed {
    /// How the pointer selects values.
    pub(super) reads: Reads,
    /// The panels, in the order in which they are drawn.
    pub(super) panels: Vec<Panel>,
    /// Events during the shown time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) happenings: Vec<Happening>,
}

/// How the pointer selects values in a panel.
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Reads {
    /// Every line, at the pointer's time; the figure can be zoomed.
    Time,
    /// Every line, at the pointer's height.
    Height,
    /// The nearest mark.
    #[default]
    Mark,
    /// The bar above or below which the pointer is.
    Bar,
}

/// One pair of axes.
#[derive(Debug, Serialize)]
pub(super) struct Panel {
    pub(super) x: Axis,
    pub(super) y: Axis,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) lines: Vec<Line>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) marks: Vec<Mark>,
}

/// An axis.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Axis {
    label: String,
    range: [f64; 2],
    #[serde(skip_serializing_if = "is_false")]
    logarithmic: bool,
    #[serde(skip_serializing_if = "is_false")]
    reversed: bool,
}

/// A line, or the upper edge of a shaded area.
#[derive(Debug, Serialize)]
pub(super) struct Line {
    name: String,
    ink: &'static str,
    /// Whether each value holds until the next one.
    #[serde(skip_serializing_if = "is_false")]
    stepped: bool,
    x: Vec<f64>,
    /// `None` where it is unknown.
    y: Vec<Option<f64>>,
}

/// A mark with a text.
#[derive(Debug, Serialize)]
pub(super) struct Mark {
    name: String,
    ink: &'static str,
    at: [f64; 2],
    says: Vec<String>,
}

/// An event with a duration.
#[derive(Debug, Serialize)]
pub(super) struct Happening {
    kind: String,
    name: String,
    ink: &'static str,
    span: [f64; 2],
}

fn is_false(is: &bool) -> bool {
    !*is
}

impl Axis {
    pub(super) fn of(label: &str, scale: &Scale) -> Self {
        Self {
            label: label.into(),
            range: [scale.range.start, scale.range.end],
            logarithmic: scale.logarithmic,
            reversed: scale.reversed,
        }
    }
}

impl Line {
    pub(super) fn of(
        name: &str,
        styles: &Styles,
        points: impl Iterator<Item = (f64, Option<f64>)>,
    ) -> Self {
        let (x, y) = points.map(|(x, y)| (shortened(x), y.map(shortened))).unzip();
        Self { name: name.into(), ink: styles.look(name).class(), stepped: false, x, y }
    }

    /// A shaded area, which belongs to no flow.
    pub(super) fn shade(name: &str, steps: &[(f64, f64)]) -> Self {
        let (x, y) = steps.iter().map(|&(x, y)| (shortened(x), Some(shortened(y)))).unzip();
        Self { name: name.into(), ink: "area", stepped: true, x, y }
    }
}

impl Mark {
    pub(super) fn of(name: &str, styles: &Styles, at: (f64, f64), says: Vec<String>) -> Self {
        Self { name: name.into(), ink: styles.look(name).class(), at: [at.0, at.1], says }
    }
}

impl Happening {
    pub(super) fn of(kind: &str, name: &str, styles: &Styles, (from, until): (f64, f64)) -> Self {
        let span = [shortened(from), shortened(until)];
        Self { kind: kind.into(), name: name.into(), ink: styles.look(name).class(), span }
    }
}

/// Rounds to five digits, and keeps all digits before the point. A page has many numbers, and more
/// digits are not useful.
fn shortened(value: f64) -> f64 {
    rounded(value, 5)
}

/// A value in four digits, as shown to a reader.
pub(super) fn said(value: f64) -> String {
    rounded(value, 4).to_string()
}

fn rounded(value: f64, digits: i32) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let decimals = (digits - 1 - value.abs().log10().floor() as i32).clamp(0, 12);
    let power = 10_f64.powi(decimals);
    (value * power).round() / power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_shown_in_four_digits_and_keeps_all_before_the_point() {
        let values = [0.0, 0.012_345, 4.526, 173.91, 9_236.2, 123_456.7, -2.5];
        let said = values.map(said);
        assert_eq!(said, ["0", "0.01235", "4.526", "173.9", "9236", "123457", "-2.5"]);
    }

    #[test]
    fn a_line_is_broken_where_the_value_is_unknown() {
        let points = [(0.05, Some(1.0)), (0.15, None)].into_iter();
        let line = Line::of("bbr", &Styles::of(["bbr"]), points);
        let json = serde_json::to_value(&line).expect("JSON");
        assert_eq!(json["y"], serde_json::json!([1.0, null]));
        assert_eq!(json["ink"], "c2");
    }
}
