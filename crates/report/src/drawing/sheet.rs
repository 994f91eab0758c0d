//! The parts of a drawing: title, legend, plot, and text below.

use crate::draw::canvas::wrap;
use crate::draw::{Area, Entry, FINE, Pen, Plot, Size, legend};
use crate::figure::Figure;
use crate::palette::{self, Styles};

/// The margin around the content of a file, in pixels.
const MARGIN: u32 = 20;
const TITLE: f64 = 17.0;
const NOTE: f64 = 11.0;

/// The parts of a drawing.
pub(super) struct Sheet<'a> {
    size: Size,
    margin: u32,
    title: Vec<String>,
    entries: Vec<Entry<'a>>,
    plot: u32,
    notes: Vec<String>,
}

impl<'a> Sheet<'a> {
    /// Legend and plot.
    pub(super) fn bare(entries: Vec<Entry<'a>>, plot: u32, size: Size) -> Self {
        Self { size, margin: 0, title: Vec::new(), entries, plot, notes: Vec::new() }
    }

    /// The whole drawing.
    pub(super) fn whole(figure: &Figure, entries: Vec<Entry<'a>>, plot: u32, size: Size) -> Self {
        let width = f64::from(size.width());
        let mut notes = wrap(&figure.caption, width / NOTE);
        notes.extend(wrap(&figure.origin.to_string(), width / NOTE));
        let title = wrap(&figure.title, width / TITLE);
        Self { size, margin: MARGIN, title, entries, plot, notes }
    }

    pub(super) fn width(&self) -> u32 {
        self.size.width() + 2 * self.margin
    }

    fn title_height(&self) -> u32 {
        self.title.len() as u32 * 24 + if self.title.is_empty() { 0 } else { 8 }
    }

    fn legend_height(&self) -> u32 {
        let (_, rows) = legend::places(&self.entries, self.size);
        rows * legend::ROW + if rows == 0 { 0 } else { 8 }
    }

    fn notes_height(&self) -> u32 {
        self.notes.len() as u32 * 16 + if self.notes.is_empty() { 0 } else { 12 }
    }

    pub(super) fn height(&self) -> u32 {
        let inner = self.title_height() + self.legend_height() + self.plot + self.notes_height();
        inner + 2 * self.margin
    }

    /// Draws all but the plot, and gives the place for that.
    pub(super) fn furnish<'c, 'p>(
        &self,
        area: &Area<'c>,
        pen: &'p Pen,
        styles: &'p Styles,
    ) -> Plot<'c, 'p> {
        let fine = FINE.unsigned_abs();
        let (left, top) = (self.margin, self.margin);
        let whole = Plot::new(area.clone(), pen, styles, self.size);
        for (row, line) in (0..).zip(&self.title) {
            whole.line((left, top + row * 24), line, palette::TEXT, TITLE, true);
        }
        legend::draw(&whole, &self.entries, (left, top + self.title_height()));
        let begins = top + self.title_height() + self.legend_height();
        let below = begins + self.plot + 12;
        for (row, line) in (0..).zip(&self.notes) {
            whole.line((left, below + row * 16), line, palette::DIM, NOTE, false);
        }
        let margin = (self.margin * fine) as i32;
        let (_, after) = area.split_vertically((begins * fine) as i32);
        let (place, _) = after.split_vertically((self.plot * fine) as i32);
        Plot::new(place.margin(0, 0, margin, margin), pen, styles, self.size)
    }
}
