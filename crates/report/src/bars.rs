//! Bars in groups.

use plotters::element::{PathElement, Rectangle};
use plotters::style::ShapeStyle;
use sounding_export::figures::{Cell, Kind};

use super::axis::{Axis, Scale};
use super::draw::{Drawn, Entry, Glyph, Plot, Size, place, put};
use super::palette::Styles;
use super::pointed::{self, Pointed, Reads, said};
use super::{Data, distinct, palette};

/// One bar.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// Its group.
    pub group: String,
    /// The name.
    pub name: String,
    /// Its height, in the unit of the axis.
    pub value: f64,
    /// The interval of its uncertainty, if known.
    pub between: Option<(f64, f64)>,
    /// A value that it is compared with, if there is one.
    pub mark: Option<f64>,
}

/// Bars of one quantity.
#[derive(Clone, Debug, PartialEq)]
pub struct Bars {
    /// The quantity.
    pub y: Axis,
    /// The bars. Groups and names keep the order in which they first appear.
    pub bars: Vec<Bar>,
    /// The meaning of the error lines on the bars; empty if there are no such lines.
    pub between: String,
    /// The meaning of the marks; empty if there are none.
    pub marks: String,
}

impl Bars {
    fn groups(&self) -> Vec<&str> {
        distinct(self.bars.iter().map(|bar| bar.group.as_str()))
    }

    fn names(&self) -> Vec<&str> {
        distinct(self.bars.iter().map(|bar| bar.name.as_str()))
    }

    fn scales(&self) -> (Scale, Scale) {
        let tops = self.bars.iter().map(|bar| {
            let top = bar.between.map_or(bar.value, |b| b.1.max(bar.value));
            bar.mark.map_or(top, |mark| mark.max(top))
        });
        let count = self.groups().len().max(1) as f64;
        let x = Scale { range: 0.0..count, logarithmic: false, reversed: false };
        (x, self.y.scale(tops.chain([0.0])))
    }

    /// Start and width of each bar. A group has width one.
    fn places(&self) -> Vec<(f64, f64)> {
        let (groups, names) = (self.groups(), self.names());
        let most = names.len().max(1) as f64;
        // Few bars do not get wider than an eighth of the plot.
        let width = (0.8 / most).min(groups.len().max(1) as f64 / 8.0);
        let place = |bar: &Bar| {
            let group = groups.iter().position(|group| *group == bar.group).unwrap_or(0) as f64;
            let place = names.iter().position(|name| *name == bar.name).unwrap_or(0) as f64;
            (group + 0.5 + (place - 0.5 * most) * width, width)
        };
        self.bars.iter().map(place).collect()
    }

    pub(super) fn data(&self) -> Data {
        let columns = [
            ("group", Kind::Text),
            ("name", Kind::Text),
            (self.y.label.as_str(), Kind::Real),
            ("from", Kind::Real),
            ("to", Kind::Real),
            ("mark", Kind::Real),
        ];
        let mut data = Data::new(columns.map(|(name, kind)| (name.to_owned(), kind)));
        data.rows.extend(self.bars.iter().map(|bar| {
            let words = [&bar.group, &bar.name].map(|word| Some(Cell::from(word.as_str())));
            let between = [bar.between.map(|b| b.0), bar.between.map(|b| b.1)];
            let numbers = [Some(bar.value), between[0], between[1], bar.mark];
            words.into_iter().chain(numbers.map(|number| number.map(Cell::from))).collect()
        }));
        data
    }
}

impl Drawn for Bars {
    fn entries(&self) -> Vec<Entry<'_>> {
        let names = self.names().into_iter().map(|name| Entry { glyph: Glyph::Block, name });
        let notes = [&self.between, &self.marks].into_iter().filter(|note| !note.is_empty());
        names.chain(notes.map(|note| Entry { glyph: Glyph::None, name: note })).collect()
    }

    fn height(&self, size: Size) -> u32 {
        size.pick(300, 260)
    }

    fn draw(&self, plot: &Plot<'_, '_>) {
        let (x, y) = self.scales();
        let labelled = plot.labelled(x, &self.groups(), (y.clone(), &self.y.label));
        let Some(mut chart) = labelled else { return };
        plot.open("panel", place(&chart));
        for (bar, (left, width)) in self.bars.iter().zip(self.places()) {
            let (from, to) = (left + 0.06 * width, left + 0.94 * width);
            let colour = plot.styles.look(&bar.name).colour();
            let foot = y.clamp(0.0);
            let corners = [(from, foot), (to, y.clamp(bar.value))];
            let style = ShapeStyle::from(&colour).filled();
            put(&mut chart, Rectangle::new(corners, style));
            if let Some((low, high)) = bar.between {
                let middle = left + 0.5 * width;
                let line = vec![(middle, y.clamp(low)), (middle, y.clamp(high))];
                let ink = ShapeStyle::from(&palette::colour(palette::TEXT)).stroke_width(13);
                put(&mut chart, PathElement::new(line, ink));
            }
            if let Some(mark) = bar.mark.map(|mark| y.clamp(mark)) {
                let line = vec![(left, mark), (left + width, mark)];
                let ink = ShapeStyle::from(&palette::colour(palette::TEXT)).stroke_width(28);
                put(&mut chart, PathElement::new(line, ink));
            }
        }
        plot.close();
    }

    fn pointed(&self, styles: &Styles) -> Pointed {
        let (x, y) = self.scales();
        let marks = self.bars.iter().zip(self.places()).map(|(bar, (left, width))| {
            let between = bar.between.map_or(String::new(), |(low, high)| {
                format!(", line {} to {}", said(low), said(high))
            });
            let value = format!("{}: {}{between}", self.y.label, said(bar.value));
            let mark = bar.mark.map_or(String::new(), |mark| format!("mark: {}", said(mark)));
            let says = [bar.group.clone(), value, mark];
            let says = says.into_iter().filter(|line| !line.is_empty());
            let at = (left + 0.5 * width, bar.value);
            pointed::Mark::of(&bar.name, styles, at, says.collect())
        });
        let panel = pointed::Panel {
            x: pointed::Axis::of("", &x),
            y: pointed::Axis::of(&self.y.label, &y),
            lines: Vec::new(),
            marks: marks.collect(),
        };
        Pointed { reads: Reads::Bar, panels: vec![panel], happenings: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_and_names_keep_the_order_in_which_they_come() {
        let bar = |group: &str, name: &str| Bar {
            group: group.into(),
            name: name.into(),
            value: 1.0,
            between: Some((0.5, 1.5)),
            mark: Some(2.5),
        };
        let bars = Bars {
            y: Axis::linear("Jain's index"),
            bars: vec![bar("lte", "bbr"), bar("lte", "cubic"), bar("nr", "bbr")],
            between: String::new(),
            marks: "mark: another's".into(),
        };
        assert_eq!((bars.groups(), bars.names()), (vec!["lte", "nr"], vec!["bbr", "cubic"]));
        assert_eq!(bars.data().rows[2][3], Some(Cell::Real(0.5)));
        // A mark above the bar has room, a place in the data and a line in the legend.
        assert!(bars.scales().1.range.end > 2.5);
        assert_eq!(bars.data().rows[2][5], Some(Cell::Real(2.5)));
        assert_eq!(bars.entries().last().map(|entry| entry.name), Some("mark: another's"));
    }
}
