//! A figure: the drawing, the text beside it, and its origin.

use super::{Bars, Cdf, Data, Origin, Plane, Series, Table};

/// One figure of a report.
#[derive(Clone, Debug)]
pub struct Figure {
    /// The name of its files, without their ending: letters, digits and hyphens.
    pub name: String,
    /// The heading.
    pub title: String,
    /// The content and how it was counted. The drawing adds the origin.
    pub caption: String,
    /// The origin of its data.
    pub origin: Origin,
    /// The kind of figure, with its data.
    pub kind: Kind,
}

/// The kinds of figures.
#[derive(Clone, Debug)]
pub enum Kind {
    /// Two quantities and how far they spread, a mark for each controller.
    Plane(Plane),
    /// Over time, in panels one above the other.
    Series(Series),
    /// A cumulative distribution.
    Cdf(Cdf),
    /// Bars in groups.
    Bars(Bars),
    /// Rows and columns; the only kind without a drawing.
    Table(Table),
}

impl Figure {
    /// Everything that has its own colour, in the order of first appearance.
    pub fn names(&self) -> Vec<&str> {
        let mut names = Vec::new();
        let all: Vec<&str> = match &self.kind {
            Kind::Plane(plane) => plane.marks.iter().map(|mark| mark.name.as_str()).collect(),
            Kind::Series(series) => series.names().collect(),
            Kind::Cdf(cdf) => cdf.curves.iter().map(|curve| curve.name.as_str()).collect(),
            Kind::Bars(bars) => bars.bars.iter().map(|bar| bar.name.as_str()).collect(),
            Kind::Table(table) => table.names().collect(),
        };
        for name in all {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// The numbers that are drawn, as a table.
    pub fn data(&self) -> Data {
        match &self.kind {
            Kind::Plane(plane) => plane.data(),
            Kind::Series(series) => series.data(),
            Kind::Cdf(cdf) => cdf.data(),
            Kind::Bars(bars) => bars.data(),
            Kind::Table(table) => table.data(),
        }
    }

    /// Whether there is a drawing of it.
    pub fn is_drawn(&self) -> bool {
        !matches!(self.kind, Kind::Table(_))
    }
}
