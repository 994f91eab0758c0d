//! Two quantities in a plane, usually delay and throughput: a box, whiskers and a shape for each
//! controller.

use plotters::element::{PathElement, Rectangle};
use plotters::style::{Color, ShapeStyle};
use sounding_export::figures::{Cell, Kind};

use super::axis::{Axis, Scale};
use super::draw::{Drawn, Entry, Glyph, Plot, Size, marker, place, put};
use super::palette::Styles;
use super::pointed::{self, Pointed, Reads, said};
use super::{Data, palette};

/// The spread of a quantity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The position of its mark.
    pub middle: f64,
    /// The edges of the box.
    pub inner: (f64, f64),
    /// The ends of the whiskers.
    pub outer: (f64, f64),
}

impl Spread {
    /// Median, quartiles and the 10th and 90th percentile of these values, by nearest rank; `None`
    /// without values.
    pub fn of(mut values: Vec<f64>) -> Option<Self> {
        values.retain(|value| value.is_finite());
        values.sort_by(f64::total_cmp);
        let at = |share: f64| {
            let rank = (share * values.len() as f64).ceil().max(1.0) as usize;
            values.get(rank - 1).copied()
        };
        Some(Self { middle: at(0.5)?, inner: (at(0.25)?, at(0.75)?), outer: (at(0.1)?, at(0.9)?) })
    }

    fn values(self) -> [f64; 5] {
        [self.outer.0, self.inner.0, self.middle, self.inner.1, self.outer.1]
    }
}

/// One controller in a plane.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// The name.
    pub name: String,
    /// The horizontal position.
    pub x: Spread,
    /// The vertical position.
    pub y: Spread,
}

/// Marks in a plane.
#[derive(Clone, Debug, PartialEq)]
pub struct Plane {
    /// The horizontal axis.
    pub x: Axis,
    /// Whether smaller values are at the right, so that the best is in the upper right corner.
    pub reversed: bool,
    /// The vertical axis.
    pub y: Axis,
    /// The controllers.
    pub marks: Vec<Mark>,
    /// The meaning of boxes, whiskers and shapes.
    pub spread: String,
}

/// The meaning of the values of [`Spread::of`], in words.
pub const QUARTILES: &str = "shape: median · box: 25–75 % · whiskers: 10–90 %";

impl Plane {
    fn scales(&self) -> (Scale, Scale) {
        let all = |of: fn(&Mark) -> Spread| self.marks.iter().flat_map(move |m| of(m).values());
        let x = self.x.scale(all(|mark| mark.x));
        let x = if self.reversed { x.reversed() } else { x };
        (x, self.y.scale(all(|mark| mark.y)))
    }

    pub(super) fn data(&self) -> Data {
        let of = |axis: &Axis| {
            ["p10", "p25", "middle", "p75", "p90"]
                .map(|name| (format!("{} {name}", axis.label), Kind::Real))
        };
        let name = [("name".to_owned(), Kind::Text)];
        let mut data = Data::new(name.into_iter().chain(of(&self.x)).chain(of(&self.y)));
        data.rows.extend(self.marks.iter().map(|mark| {
            let values = mark.x.values().into_iter().chain(mark.y.values());
            std::iter::once(Cell::from(mark.name.as_str()))
                .chain(values.map(Cell::from))
                .map(Some)
                .collect()
        }));
        data
    }
}

impl Drawn for Plane {
    fn entries(&self) -> Vec<Entry<'_>> {
        let names = self.marks.iter().map(|mark| Entry { glyph: Glyph::Mark, name: &mark.name });
        names.chain([Entry { glyph: Glyph::None, name: &self.spread }]).collect()
    }

    fn height(&self, size: Size) -> u32 {
        size.pick(400, 300)
    }

    fn draw(&self, plot: &Plot<'_, '_>) {
        let (x, y) = self.scales();
        let axes = plot.axes((x.clone(), &self.x.label), (y.clone(), &self.y.label));
        let Some(mut chart) = axes else { return };
        plot.open("panel", place(&chart));
        for mark in &self.marks {
            let colour = plot.styles.look(&mark.name).colour();
            let at = |px: f64, py: f64| (x.clamp(px), y.clamp(py));
            let (left, right) = mark.x.inner;
            let (low, high) = mark.y.inner;
            let corners = [at(left, low), at(right, high)];
            put(&mut chart, Rectangle::new(corners, colour.mix(0.18).filled()));
            let style = ShapeStyle::from(&colour).stroke_width(10);
            put(&mut chart, Rectangle::new(corners, style));
            let whisker = ShapeStyle::from(&colour).stroke_width(13);
            let (x, y) = (mark.x, mark.y);
            let lines = [
                [at(x.outer.0, y.middle), at(x.outer.1, y.middle)],
                [at(x.middle, y.outer.0), at(x.middle, y.outer.1)],
            ];
            for line in lines {
                put(&mut chart, PathElement::new(line.to_vec(), whisker));
            }
        }
        for mark in &self.marks {
            let place = (x.clamp(mark.x.middle), y.clamp(mark.y.middle));
            let place = chart.backend_coord(&place);
            let (left, top) = plot.area.get_base_pixel();
            let look = plot.styles.look(&mark.name);
            marker(plot, look, (place.0 - left, place.1 - top), 60);
        }
        plot.close();
        drop(chart);
        if self.reversed {
            let (width, _) = plot.area.dim_in_pixel();
            let corner = (width as i32 - plot.size.pick(870, 800), plot.size.pick(90, 90));
            super::draw::text(plot, "better  ↗", palette::DIM, corner);
        }
    }

    fn pointed(&self, styles: &Styles) -> Pointed {
        let (x, y) = self.scales();
        let says = |axis: &Axis, spread: Spread| {
            let [from, low, middle, high, to] = spread.values().map(said);
            format!("{}: {middle}, box {low} to {high}, whiskers {from} to {to}", axis.label)
        };
        let marks = self.marks.iter().map(|mark| {
            let at = (mark.x.middle, mark.y.middle);
            let says = vec![says(&self.y, mark.y), says(&self.x, mark.x)];
            pointed::Mark::of(&mark.name, styles, at, says)
        });
        let panel = pointed::Panel {
            x: pointed::Axis::of(&self.x.label, &x),
            y: pointed::Axis::of(&self.y.label, &y),
            lines: Vec::new(),
            marks: marks.collect(),
        };
        Pointed { reads: Reads::Mark, panels: vec![panel], happenings: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_is_what_the_nearest_ranks_are() {
        let spread = Spread::of((1..=100).rev().map(f64::from).collect()).expect("a spread");
        assert_eq!(spread.values(), [10.0, 25.0, 50.0, 75.0, 90.0]);
        assert_eq!(Spread::of(vec![7.0]).map(Spread::values), Some([7.0; 5]));
        assert_eq!(Spread::of(vec![f64::NAN]), None);
    }

    #[test]
    fn the_data_of_a_plane_has_a_row_for_each_mark_and_a_cell_for_each_column() {
        let spread = Spread { middle: 2.0, inner: (1.0, 3.0), outer: (0.0, 4.0) };
        let mark = Mark { name: "bbr".into(), x: spread, y: spread };
        let plane = Plane {
            x: Axis::linear("delay (ms)"),
            reversed: true,
            y: Axis::linear("throughput (Mbit/s)"),
            marks: vec![mark.clone(), mark],
            spread: QUARTILES.into(),
        };
        let data = plane.data();
        assert_eq!(data.rows.len(), 2);
        assert!(data.rows.iter().all(|row| row.len() == data.columns.len()));
        assert_eq!(data.rows[0][3], Some(Cell::Real(2.0)));
    }
}
