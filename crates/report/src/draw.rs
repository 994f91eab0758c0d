//! The parts that draw figures: a canvas, legends, plots.

pub(super) mod canvas;
pub(super) mod legend;
mod plot;

use plotters::coord::Shift;
use plotters::drawing::DrawingArea;

pub(super) use canvas::{Canvas, FINE, Pen};
pub(super) use legend::{Entry, Glyph};
pub(super) use plot::{Chart, Plot, broken, marker, place, put, text};

use super::palette::Styles;
use super::pointed::Pointed;

/// The area for drawing.
pub(super) type Area<'a> = DrawingArea<Canvas<'a>, Shift>;

/// The target of a drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Size {
    /// A desk.
    Wide,
    /// A phone.
    Narrow,
}

impl Size {
    /// In pixels.
    pub(super) fn width(self) -> u32 {
        match self {
            Self::Wide => 880,
            Self::Narrow => 356,
        }
    }

    /// Size of letters, in pixels.
    pub(super) fn letters(self) -> f64 {
        match self {
            Self::Wide => 13.0,
            Self::Narrow => 11.0,
        }
    }

    /// One of two.
    pub(super) fn pick<T>(self, wide: T, narrow: T) -> T {
        match self {
            Self::Wide => wide,
            Self::Narrow => narrow,
        }
    }
}

/// A figure that can be drawn.
pub(super) trait Drawn {
    /// The entries of the legend.
    fn entries(&self) -> Vec<Entry<'_>>;
    /// Height of the plot in pixels.
    fn height(&self, size: Size) -> u32;
    /// Draws the plot.
    fn draw(&self, plot: &Plot<'_, '_>);
    /// The values that the page shows at the mouse pointer.
    fn pointed(&self, styles: &Styles) -> Pointed;
}
