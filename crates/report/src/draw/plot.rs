//! The area of a plot, and the parts that all kinds of plots share.

use std::convert::Infallible;
use std::ops::Range;

use plotters::chart::{ChartBuilder, ChartContext, LabelAreaPosition};
use plotters::coord::cartesian::Cartesian2d;
use plotters::drawing::DrawingAreaErrorKind;
use plotters::element::{Circle, Drawable, PathElement, PointCollection, Polygon, Rectangle};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontStyle, IntoFont, RGBColor, ShapeStyle, TextStyle};

use super::canvas::wrap;
use super::{Area, Canvas, FINE, Pen, Size};
use crate::axis::{Scale, written};
use crate::palette::{self, Look, Shape, Styles};

/// Axes with a place for data.
pub(crate) type Chart<'a, 'c> = ChartContext<'a, Canvas<'c>, Cartesian2d<Scale, Scale>>;

/// The area of a plot, and its styles.
pub(crate) struct Plot<'c, 'p> {
    pub(crate) area: Area<'c>,
    pub(crate) pen: &'p Pen,
    pub(crate) styles: &'p Styles,
    pub(crate) size: Size,
}

/// The result of a drawing step. It cannot fail in the back end, because the canvas is a string.
pub(crate) fn done<T>(result: Result<T, DrawingAreaErrorKind<Infallible>>) -> Option<T> {
    result.ok()
}

impl<'c, 'p> Plot<'c, 'p> {
    pub(crate) fn new(area: Area<'c>, pen: &'p Pen, styles: &'p Styles, size: Size) -> Self {
        Self { area, pen, styles, size }
    }

    /// The same plot in another area.
    pub(crate) fn within(&self, area: Area<'c>) -> Self {
        Self { area, ..*self }
    }

    /// A line of text whose upper left corner is here, in pixels.
    pub(crate) fn line(&self, (x, y): (u32, u32), text: &str, ink: usize, size: f64, bold: bool) {
        let style = face(size, ink, bold, Pos::new(HPos::Left, VPos::Top));
        let fine = FINE.unsigned_abs();
        let _ = done(self.area.draw_text(text, &style, ((x * fine) as i32, (y * fine) as i32)));
    }

    /// A filled rectangle, in steps of the canvas.
    pub(crate) fn block(&self, from: (i32, i32), to: (i32, i32), colour: RGBColor, alpha: f64) {
        let _ = done(self.area.draw(&Rectangle::new([from, to], colour.mix(alpha).filled())));
    }

    /// Axes for these scales. The label of the vertical axis is above the axis and horizontal, for
    /// easy reading.
    pub(crate) fn axes(
        &self,
        (x, x_label): (Scale, &str),
        y: (Scale, &str),
    ) -> Option<Chart<'_, 'c>> {
        self.meshed(x, x_label, y, (true, 0))
    }

    /// The same with time as horizontal axis. A page can replace its numbers when a reader zooms
    /// in.
    pub(crate) fn timed(
        &self,
        (x, x_label): (Scale, &str),
        y: (Scale, &str),
    ) -> Option<Chart<'_, 'c>> {
        let (ticks, foot, head) = (x.ticks(self.size.pick(10, 5)), y.0.range.start, y.0.range.end);
        let chart = self.meshed(x, x_label, y, (false, 0))?;
        let style =
            face(self.size.letters(), palette::DIM, false, Pos::new(HPos::Center, VPos::Top));
        let rule = ShapeStyle::from(&palette::colour(palette::RULE)).stroke_width(10);
        let (left, top) = self.area.get_base_pixel();
        self.pen.put("<g class=\"ticks\">\n");
        for tick in ticks {
            let [(x, from), (_, to)] = [head, foot].map(|y| chart.backend_coord(&(tick, y)));
            let (x, from, to) = (x - left, from - top, to - top + 5 * FINE);
            done(self.area.draw(&PathElement::new(vec![(x, from), (x, to)], rule)))?;
            done(self.area.draw_text(&written(tick), &style, (x, to + 3 * FINE)))?;
        }
        self.pen.put("</g>\n");
        Some(chart)
    }

    /// From here until [`close`](Self::close), drawing is data in this rectangle of the whole
    /// canvas. A page finds its place by it, and cuts off what zooming moves out of it.
    pub(crate) fn open(&self, class: &str, (across, down): (Range<i32>, Range<i32>)) {
        let (x, y, width, height) = (across.start, down.start, across.len(), down.len());
        self.pen.put(&format!(
            "<svg class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"{x} {y} {width} {height}\" overflow=\"visible\">\n"
        ));
    }

    /// Ends what [`open`](Self::open) begins.
    pub(crate) fn close(&self) {
        self.pen.put("</svg>\n");
    }

    /// The same, where whole numbers on the horizontal axis stand for groups with names.
    pub(crate) fn labelled(
        &self,
        x: Scale,
        groups: &[&str],
        y: (Scale, &str),
    ) -> Option<Chart<'_, 'c>> {
        let foot = y.0.range.start;
        let letters = self.size.letters();
        let room = f64::from(self.size.width() - 60) / groups.len().max(1) as f64 / letters;
        let groups: Vec<_> = groups.iter().map(|group| wrap(group, room)).collect();
        let rows = groups.iter().map(Vec::len).max().unwrap_or(0) as i32;
        let row = (letters * 1.2 * f64::from(FINE)) as i32;
        // Two lines fit below each plot.
        let chart = self.meshed(x, "", y, (false, (rows - 2).max(0) * row))?;
        let style = face(letters, palette::DIM, false, Pos::new(HPos::Center, VPos::Top));
        let (left, top) = self.area.get_base_pixel();
        for (at, group) in groups.iter().enumerate() {
            let place = chart.backend_coord(&(at as f64 + 0.5, foot));
            for (below, line) in (0..).zip(group) {
                let place = (place.0 - left, place.1 - top + 6 * FINE + below * row);
                done(self.area.draw_text(line, &style, place))?;
            }
        }
        Some(chart)
    }

    /// `below` is further room for numbers below the plot.
    fn meshed(
        &self,
        x: Scale,
        x_label: &str,
        (y, y_label): (Scale, &str),
        (numbered, below): (bool, i32),
    ) -> Option<Chart<'_, 'c>> {
        let letters = self.size.letters();
        let style = |ink, pos| face(letters, ink, false, pos);
        let above = style(palette::DIM, Pos::new(HPos::Left, VPos::Top));
        done(self.area.draw_text(y_label, &above, (0, 0)))?;
        let bottom = if x_label.is_empty() { 36 } else { 48 };
        let mut chart = done(
            ChartBuilder::on(&self.area)
                .margin_top(24 * FINE)
                .margin_right(14 * FINE)
                // Room for what hangs below the last line of letters.
                .margin_bottom(4 * FINE)
                .set_label_area_size(LabelAreaPosition::Left, self.size.pick(46, 38) * FINE)
                .set_label_area_size(LabelAreaPosition::Bottom, bottom * FINE + below)
                .build_cartesian_2d(x, y),
        )?;
        let rule = ShapeStyle::from(&palette::colour(palette::RULE)).stroke_width(10);
        let label = style(palette::DIM, Pos::new(HPos::Center, VPos::Top));
        done(
            chart
                .configure_mesh()
                .x_labels(if numbered { self.size.pick(10, 5) } else { 0 })
                .y_labels(self.size.pick(6, 5))
                .set_all_tick_mark_size(5 * FINE)
                .axis_style(rule)
                .bold_line_style(rule)
                .light_line_style(rule)
                .label_style(label.clone())
                .axis_desc_style(label)
                .x_desc(x_label)
                .draw(),
        )?;
        Some(chart)
    }
}

fn face(size: f64, ink: usize, bold: bool, pos: Pos) -> TextStyle<'static> {
    let style = if bold { FontStyle::Bold } else { FontStyle::Normal };
    let font = ("sans-serif", size * f64::from(FINE)).into_font().style(style);
    let colour = palette::colour(ink);
    font.color(&colour).pos(pos)
}

/// The area of a chart's data, in coordinates of the whole canvas.
pub(crate) fn place(chart: &Chart<'_, '_>) -> (Range<i32>, Range<i32>) {
    chart.plotting_area().get_pixel_range()
}

/// A text whose left end is in the middle of this height, in steps of the canvas.
pub(crate) fn text(plot: &Plot<'_, '_>, text: &str, ink: usize, at: (i32, i32)) {
    let style = face(plot.size.letters(), ink, false, Pos::new(HPos::Left, VPos::Center));
    let _ = done(plot.area.draw_text(text, &style, at));
}

/// A line in a name's colour and dash, in steps of the canvas.
pub(crate) fn broken(plot: &Plot<'_, '_>, look: Look, points: &[(i32, i32)]) {
    plot.pen.set(look.dash());
    let style = ShapeStyle::from(&look.colour()).stroke_width(18);
    let _ = done(plot.area.draw(&PathElement::new(points.to_vec(), style)));
    plot.pen.set(&[]);
}

/// A name's shape in its colour, in steps of the canvas.
pub(crate) fn marker(plot: &Plot<'_, '_>, look: Look, (x, y): (i32, i32), radius: i32) {
    let draw = |corners: &[(i32, i32)]| {
        let corners: Vec<_> = corners.iter().map(|(dx, dy)| (x + dx, y + dy)).collect();
        let _ = done(plot.area.draw(&Polygon::new(corners, look.colour().filled())));
    };
    let r = radius;
    let wide = r * 5 / 4;
    match look.shape() {
        Shape::Circle => {
            let _ = done(plot.area.draw(&Circle::new((x, y), r, look.colour().filled())));
        }
        Shape::Square => draw(&[(-r, -r), (r, -r), (r, r), (-r, r)]),
        Shape::Triangle => draw(&[(0, -wide), (wide, r), (-wide, r)]),
        Shape::Diamond => draw(&[(0, -wide), (wide, 0), (0, wide), (-wide, 0)]),
        Shape::Cross => {
            let style = ShapeStyle::from(&look.colour()).stroke_width(28);
            for (dx, dy) in [(r, r), (r, -r)] {
                let line = PathElement::new(vec![(x - dx, y - dy), (x + dx, y + dy)], style);
                let _ = done(plot.area.draw(&line));
            }
        }
    }
}

/// Draws an element at its place on the axes.
pub(crate) fn put<'a, 'c: 'a, E>(chart: &mut Chart<'_, 'c>, element: E)
where
    for<'b> &'b E: PointCollection<'b, (f64, f64)>,
    E: Drawable<Canvas<'c>>,
{
    let _ = done(chart.draw_series(std::iter::once(element)));
}
