//! Cumulative distributions: the share of samples at or below each value.

use plotters::element::PathElement;
use plotters::style::ShapeStyle;
use sounding_export::figures::{Cell, Kind};

use super::Data;
use super::axis::{Axis, Scale};
use super::draw::{Drawn, Entry, Glyph, Plot, Size, place, put};
use super::palette::Styles;
use super::pointed::{self, Pointed, Reads};

/// Points of a curve from samples. Chosen: more than a page has pixels for them.
const POINTS: usize = 500;

/// One distribution.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// The name.
    pub name: String,
    /// A value, and the percentage that does not exceed it; both rise.
    pub points: Vec<(f64, f64)>,
}

impl Curve {
    /// Builds the curve from samples in any order. Many samples are thinned, but the smallest and
    /// the largest stay.
    pub fn of(name: impl Into<String>, mut samples: Vec<f64>) -> Self {
        samples.retain(|sample| sample.is_finite());
        samples.sort_by(f64::total_cmp);
        let count = samples.len();
        let kept = count.min(POINTS);
        let points = (0..kept).map(|point| {
            let at = if kept > 1 { point * (count - 1) / (kept - 1) } else { 0 };
            (samples[at], 100.0 * (at + 1) as f64 / count as f64)
        });
        Self { name: name.into(), points: points.collect() }
    }
}

/// Distributions of one quantity.
#[derive(Clone, Debug, PartialEq)]
pub struct Cdf {
    /// The quantity.
    pub x: Axis,
    /// The total of the percentages.
    pub of: String,
    /// The distributions.
    pub curves: Vec<Curve>,
}

impl Cdf {
    fn scales(&self) -> (Scale, Scale) {
        let values = self.curves.iter().flat_map(|curve| curve.points.iter().map(|point| point.0));
        let share = Axis::linear("").until(100.0).scale(std::iter::once(100.0));
        (self.x.scale(values), share)
    }

    /// The label of the vertical axis.
    fn share(&self) -> String {
        format!("{} (%)", self.of)
    }

    pub(super) fn data(&self) -> Data {
        let columns = [
            ("name".to_owned(), Kind::Text),
            (self.x.label.clone(), Kind::Real),
            (self.share(), Kind::Real),
        ];
        let mut data = Data::new(columns);
        for curve in &self.curves {
            data.rows.extend(curve.points.iter().map(|&(value, percent)| {
                vec![Some(curve.name.as_str().into()), Some(value.into()), Some(percent.into())]
                    as Vec<Option<Cell>>
            }));
        }
        data
    }
}

impl Drawn for Cdf {
    fn entries(&self) -> Vec<Entry<'_>> {
        let curves = self.curves.iter();
        curves.map(|curve| Entry { glyph: Glyph::Line, name: &curve.name }).collect()
    }

    fn height(&self, size: Size) -> u32 {
        size.pick(340, 280)
    }

    fn draw(&self, plot: &Plot<'_, '_>) {
        let (x, y) = self.scales();
        let axes = plot.axes((x.clone(), &self.x.label), (y, &self.share()));
        let Some(mut chart) = axes else { return };
        plot.open("panel", place(&chart));
        for curve in &self.curves {
            let look = plot.styles.look(&curve.name);
            let style = ShapeStyle::from(&look.colour()).stroke_width(18);
            let points = curve.points.iter().map(|&(value, percent)| (x.clamp(value), percent));
            plot.pen.set(look.dash());
            put(&mut chart, PathElement::new(points.collect::<Vec<_>>(), style));
            plot.pen.set(&[]);
        }
        plot.close();
    }

    fn pointed(&self, styles: &Styles) -> Pointed {
        let (x, y) = self.scales();
        let lines = self.curves.iter().map(|curve| {
            let points = curve.points.iter().map(|&(value, percent)| (value, Some(percent)));
            pointed::Line::of(&curve.name, styles, points)
        });
        let panel = pointed::Panel {
            x: pointed::Axis::of(&self.x.label, &x),
            y: pointed::Axis::of(&self.share(), &y),
            lines: lines.collect(),
            marks: Vec::new(),
        };
        Pointed { reads: Reads::Height, panels: vec![panel], happenings: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_ends_at_the_largest_and_at_all_of_them() {
        let curve = Curve::of("bbr", vec![3.0, f64::NAN, 1.0, 2.0, 4.0]);
        assert_eq!(curve.points, [(1.0, 25.0), (2.0, 50.0), (3.0, 75.0), (4.0, 100.0)]);
        let many = Curve::of("bbr", (0..100_000).map(f64::from).collect());
        assert_eq!(many.points.len(), POINTS);
        assert_eq!(many.points.last(), Some(&(99_999.0, 100.0)));
        assert!(Curve::of("none", Vec::new()).points.is_empty());
    }
}
