//! Quantities over time, in panels one above the other, and below them what happened on the radio.

use plotters::coord::ranged1d::Ranged;
use plotters::element::{PathElement, Polygon};
use plotters::style::{Color, ShapeStyle};
use sounding_export::figures::{Cell, Kind};

use super::axis::{Axis, Scale};
use super::draw::{Chart, Drawn, Entry, FINE, Glyph, Plot, Size, place, put, text};
use super::palette::Styles;
use super::pointed::{self, Pointed, Reads};
use super::{Data, palette};

/// A quantity over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line {
    /// The name.
    pub name: String,
    /// Time and value; the line is broken where the value is unknown.
    pub points: Vec<(f64, Option<f64>)>,
}

/// The shaded area behind the lines, from zero up: usually the rate that the link offered.
#[derive(Clone, Debug, PartialEq)]
pub struct Shade {
    /// The name.
    pub name: String,
    /// Pairs of start time and value. The last pair gives the end.
    pub steps: Vec<(f64, f64)>,
}

/// Lines with their own axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// The vertical axis.
    pub y: Axis,
    /// The shaded area behind the lines.
    pub shade: Option<Shade>,
    /// The lines.
    pub lines: Vec<Line>,
}

/// Something that happened for a while.
#[derive(Clone, Debug, PartialEq)]
pub struct Happening {
    /// The kind of event. Each kind has a row.
    pub kind: String,
    /// The device.
    pub name: String,
    /// When it began and ended.
    pub span: (f64, f64),
    /// Whether its beginning is marked through all panels.
    pub marked: bool,
}

/// Panels over the same time.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// The horizontal axis: `time (s)`.
    pub x: Axis,
    /// The panels, from top to bottom.
    pub panels: Vec<Panel>,
    /// The events during this time.
    pub happenings: Vec<Happening>,
}

/// Height of one name's bar in the row of a kind of happenings, and of the row's label, in pixels.
const BAR: u32 = 5;
const LABEL: u32 = 21;

impl Panel {
    fn scale(&self) -> Scale {
        let shaded = self.shade.iter().flat_map(|shade| shade.steps.iter().map(|step| step.1));
        let drawn = self.lines.iter().flat_map(|line| line.points.iter().filter_map(|p| p.1));
        self.y.scale(shaded.chain(drawn))
    }

    fn pointed(&self, x: &pointed::Axis, styles: &Styles) -> pointed::Panel {
        let lines = self
            .lines
            .iter()
            .map(|line| pointed::Line::of(&line.name, styles, line.points.iter().copied()));
        let shade = self.shade.iter().map(|shade| pointed::Line::shade(&shade.name, &shade.steps));
        pointed::Panel {
            x: x.clone(),
            y: pointed::Axis::of(&self.y.label, &self.scale()),
            lines: lines.chain(shade).collect(),
            marks: Vec::new(),
        }
    }
}

impl Series {
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        let lines = self.panels.iter().flat_map(|panel| &panel.lines);
        let lines = lines.map(|line| line.name.as_str());
        lines.chain(self.happenings.iter().map(|happening| happening.name.as_str()))
    }

    fn lines(&self) -> Vec<&str> {
        let mut lines: Vec<&str> = Vec::new();
        for name in self.names() {
            if !lines.contains(&name) {
                lines.push(name);
            }
        }
        lines
    }

    fn kinds(&self) -> Vec<&str> {
        let mut kinds: Vec<&str> = Vec::new();
        for happening in &self.happenings {
            if !kinds.contains(&happening.kind.as_str()) {
                kinds.push(&happening.kind);
            }
        }
        kinds
    }

    /// Height of the rows of happenings in pixels.
    fn rows(&self) -> u32 {
        let kinds = self.kinds().len() as u32;
        kinds * (LABEL + BAR * self.lines().len() as u32 + 4)
    }

    pub(super) fn data(&self) -> Data {
        let mut data = Data::new(
            [
                ("what", Kind::Text),
                ("name", Kind::Text),
                (self.x.label.as_str(), Kind::Real),
                ("value", Kind::Real),
                ("until", Kind::Real),
            ]
            .map(|(name, kind)| (name.to_owned(), kind)),
        );
        let row = |what: &str, name: &str, at: f64, value: Option<f64>, until: Option<f64>| {
            let words = [what, name].map(|word| Some(Cell::from(word)));
            let numbers = [Some(at), value, until].map(|number| number.map(Cell::from));
            words.into_iter().chain(numbers).collect::<Vec<_>>()
        };
        for panel in &self.panels {
            let what = panel.y.label.as_str();
            if let Some(shade) = &panel.shade {
                let steps = shade.steps.iter();
                data.rows.extend(
                    steps.map(|&(at, value)| row(what, &shade.name, at, Some(value), None)),
                );
            }
            for line in &panel.lines {
                let points = line.points.iter();
                data.rows.extend(points.map(|&(at, value)| row(what, &line.name, at, value, None)));
            }
        }
        for Happening { kind, name, span, .. } in &self.happenings {
            data.rows.push(row(kind, name, span.0, None, Some(span.1)));
        }
        data
    }

    fn scale(&self) -> Scale {
        let times = self.panels.iter().flat_map(|panel| {
            let lines = panel.lines.iter().flat_map(|line| line.points.iter().map(|point| point.0));
            lines.chain(panel.shade.iter().flat_map(|s| s.steps.iter().map(|step| step.0)))
        });
        let spans = self.happenings.iter().map(|happening| happening.span.1);
        let last = times.chain(spans).fold(0.0_f64, f64::max);
        // Time ends where it ends, without the room that values get.
        let last = if last > 0.0 { last } else { 1.0 };
        Axis::linear("").until(self.x.until.unwrap_or(last)).scale(std::iter::once(last))
    }

    fn draw_panel(&self, plot: &Plot<'_, '_>, panel: &Panel, x: &Scale, label: &str) {
        let y = panel.scale();
        let axes = plot.timed((x.clone(), label), (y.clone(), &panel.y.label));
        let Some(mut chart) = axes else { return };
        plot.open("panel", place(&chart));
        let at = |px: f64, py: f64| (x.clamp(px), y.clamp(py));
        if let Some(shade) = &panel.shade {
            let mut outline = Vec::new();
            for pair in shade.steps.windows(2) {
                outline.extend([at(pair[0].0, pair[0].1), at(pair[1].0, pair[0].1)]);
            }
            if let (Some(first), Some(last)) = (outline.first(), outline.last()) {
                let feet = [(last.0, y.range.start), (first.0, y.range.start)];
                outline.extend(feet);
                let colour = palette::colour(palette::AREA);
                put(&mut chart, Polygon::new(outline, colour.filled()));
            }
        }
        self.draw_marks(&mut chart, x, &y, plot);
        for line in &panel.lines {
            let look = plot.styles.look(&line.name);
            let style = ShapeStyle::from(&look.colour()).stroke_width(15);
            plot.pen.set(look.dash());
            for run in line.points.split(|point| point.1.is_none()) {
                let points = run.iter().filter_map(|&(px, py)| Some(at(px, py?)));
                put(&mut chart, PathElement::new(points.collect::<Vec<_>>(), style));
            }
            plot.pen.set(&[]);
        }
        plot.close();
    }

    /// Draws a vertical line at the start of each event. Events with the same start share one line.
    fn draw_marks(&self, chart: &mut Chart<'_, '_>, x: &Scale, y: &Scale, plot: &Plot<'_, '_>) {
        let marked = self.happenings.iter().filter(|happening| happening.marked);
        let mut moments: Vec<f64> = marked.map(|happening| happening.span.0).collect();
        moments.sort_by(f64::total_cmp);
        moments.dedup_by(|one, other| (*one - *other).abs() < 0.02);
        plot.pen.set(&[2.0, 3.0]);
        let style = ShapeStyle::from(&palette::colour(palette::DIM)).stroke_width(10);
        for moment in moments.into_iter().map(|moment| x.clamp(moment)) {
            let line = vec![(moment, y.range.start), (moment, y.range.end)];
            put(chart, PathElement::new(line, style));
        }
        plot.pen.set(&[]);
    }

    fn draw_rows(&self, plot: &Plot<'_, '_>, x: &Scale) {
        let (width, _) = plot.area.dim_in_pixel();
        let limits = (plot.size.pick(46, 38) * FINE, width as i32 - 14 * FINE);
        let lines = self.lines();
        let mut top = 0;
        for kind in self.kinds() {
            text(plot, kind, palette::DIM, (0, top + 8 * FINE));
            top += LABEL as i32 * FINE;
            let height = BAR as i32 * FINE;
            let bottom = top + height * lines.len() as i32;
            let rule = palette::colour(palette::RULE);
            plot.block((limits.0, top - 10), (limits.1, bottom), rule, 0.5);
            let (left, above) = plot.area.get_base_pixel();
            let across = left + limits.0..left + limits.1;
            plot.open("row", (across, above + top - 10..above + bottom));
            for Happening { name, span, .. } in self.happenings.iter().filter(|h| h.kind == kind) {
                let row = lines.iter().position(|line| line == name).unwrap_or(0) as i32;
                let place = |at: f64| x.map(&x.clamp(at), limits);
                let (from, until) = (place(span.0), place(span.1));
                // An event shorter than a pixel is drawn one pixel wide.
                let until = until.max(from + FINE);
                let corner = (from, top + row * height);
                let colour = plot.styles.look(name).colour();
                plot.block(corner, (until, corner.1 + height - 10), colour, 1.0);
            }
            plot.close();
            top = bottom + 4 * FINE;
        }
    }
}

impl Drawn for Series {
    fn entries(&self) -> Vec<Entry<'_>> {
        let lines = self.lines().into_iter().map(|name| Entry { glyph: Glyph::Line, name });
        let mut shades: Vec<&str> =
            self.panels.iter().flat_map(|p| &p.shade).map(|shade| shade.name.as_str()).collect();
        shades.dedup();
        let shades = shades.into_iter().map(|name| Entry { glyph: Glyph::Shade, name });
        lines.chain(shades).collect()
    }

    fn height(&self, size: Size) -> u32 {
        let panels = self.panels.len() as u32;
        panels * size.pick(250, 210) + self.rows() + if self.rows() > 0 { 10 } else { 0 }
    }

    fn draw(&self, plot: &Plot<'_, '_>) {
        let x = self.scale();
        let mut rest = plot.area.clone();
        for (at, panel) in self.panels.iter().enumerate() {
            let height = plot.size.pick(250, 210) * FINE;
            let (above, below) = rest.split_vertically(height);
            let is_last = at + 1 == self.panels.len();
            let label = if is_last { self.x.label.as_str() } else { "" };
            self.draw_panel(&plot.within(above), panel, &x, label);
            rest = below;
        }
        if !self.happenings.is_empty() {
            let (_, rows) = rest.split_vertically(10 * FINE);
            self.draw_rows(&plot.within(rows), &x);
        }
    }

    fn pointed(&self, styles: &Styles) -> Pointed {
        let x = pointed::Axis::of(&self.x.label, &self.scale());
        let happenings = self.happenings.iter().map(|Happening { kind, name, span, .. }| {
            pointed::Happening::of(kind, name, styles, *span)
        });
        Pointed {
            reads: Reads::Time,
            panels: self.panels.iter().map(|panel| panel.pointed(&x, styles)).collect(),
            happenings: happenings.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series() -> Series {
        let line = |name: &str| Line {
            name: name.into(),
            points: vec![(0.0, Some(1.0)), (1.0, None), (2.0, Some(3.0))],
        };
        Series {
            x: Axis::linear("time (s)"),
            panels: vec![Panel {
                y: Axis::linear("throughput (Mbit/s)"),
                shade: Some(Shade { name: "capacity".into(), steps: vec![(0.0, 5.0), (2.0, 5.0)] }),
                lines: vec![line("bbr"), line("cubic")],
            }],
            happenings: vec![Happening {
                kind: "handover".into(),
                name: "bbr".into(),
                span: (1.0, 1.05),
                marked: true,
            }],
        }
    }

    #[test]
    fn every_point_step_and_happening_is_in_the_data() {
        let data = series().data();
        assert_eq!(data.rows.len(), 2 + 3 + 3 + 1);
        assert!(data.rows.iter().all(|row| row.len() == data.columns.len()));
        assert_eq!(data.rows[3][3], None);
        assert_eq!(data.rows[8][4], Some(Cell::Real(1.05)));
    }

    #[test]
    fn time_ends_with_the_last_of_everything() {
        assert_eq!(series().scale().range, 0.0..2.0);
    }

    #[test]
    fn a_name_is_explained_once() {
        let series = series();
        let names: Vec<_> = series.entries().iter().map(|entry| entry.name.to_owned()).collect();
        assert_eq!(names, ["bbr", "cubic", "capacity"]);
    }
}
