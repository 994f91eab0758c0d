//! Reports: figures that say where they come from, and pages of them that fetch nothing.
//!
//! A [`Figure`] has a [`Kind`]: a [`Plane`], a [`Series`], a [`Cdf`], [`Bars`] or a [`Table`]. A [`Page`] has sections of
//! figures, gives each name one colour, dash and shape in all of them, and writes itself: one HTML document, the same as
//! Markdown, and every figure as SVG, PNG and Parquet.

mod axis;
mod bars;
mod cdf;
mod data;
mod draw;
mod figure;
mod page;
mod palette;
mod plane;
mod pointed;
mod series;
mod table;

pub use axis::Axis;
pub use bars::{Bar, Bars};
pub use cdf::{Cdf, Curve};
pub use data::Data;
pub use draw::RasterError;
pub use figure::{Figure, Kind, Origin};
pub use page::{Page, Section, WriteError};
pub use palette::Styles;
pub use plane::{Mark, Plane, QUARTILES, Spread};
pub use series::{Happening, Line, Panel, Series, Shade};
pub use table::{Cell, Table};

/// Each once, in the order in which they first come.
pub(crate) fn distinct<'a>(all: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = Vec::new();
    for one in all {
        if !seen.contains(&one) {
            seen.push(one);
        }
    }
    seen
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
