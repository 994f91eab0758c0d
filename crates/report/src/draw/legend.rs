//! The legend, in rows above the plot, where it covers no data.

use super::canvas::width_of;
use super::{FINE, Plot, Size, broken, marker, text};
use crate::palette;

/// The symbol in front of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Glyph {
    /// A line in the name's colour and dash.
    Line,
    /// The name's shape.
    Mark,
    /// A block of the name's colour.
    Block,
    /// A grey block, for data that belongs to no flow.
    Shade,
    /// No mark: an explanation.
    None,
}

/// One entry of a legend.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry<'a> {
    pub(crate) glyph: Glyph,
    pub(crate) name: &'a str,
}

/// The start of each entry (pixels from the left, rows from the top), and the number of rows in
/// total.
pub(crate) fn places(entries: &[Entry<'_>], size: Size) -> (Vec<(f64, u32)>, u32) {
    let (mut x, mut row) = (0.0, 0);
    let mut places = Vec::new();
    for entry in entries {
        let width = glyph_width(entry.glyph) + width_of(entry.name) * size.letters() + 18.0;
        if x > 0.0 && x + width > f64::from(size.width()) - 8.0 {
            (x, row) = (0.0, row + 1);
        }
        places.push((x, row));
        x += width;
    }
    (places, if entries.is_empty() { 0 } else { row + 1 })
}

fn glyph_width(glyph: Glyph) -> f64 {
    match glyph {
        Glyph::Line => 30.0,
        Glyph::None => 0.0,
        Glyph::Mark | Glyph::Block | Glyph::Shade => 18.0,
    }
}

/// Height of a row in pixels.
pub(crate) const ROW: u32 = 20;

/// Draws the entries from (`left`, `top`) on, in pixels.
pub(crate) fn draw(plot: &Plot<'_, '_>, entries: &[Entry<'_>], (left, top): (u32, u32)) {
    let (places, _) = places(entries, plot.size);
    for (entry, (x, row)) in entries.iter().zip(places) {
        let fine = |pixels: f64| (pixels * f64::from(FINE)) as i32;
        let (x, y) = (fine(f64::from(left) + x), fine(f64::from(top + row * ROW) + 10.0));
        let look = plot.styles.look(entry.name);
        match entry.glyph {
            Glyph::Line => {
                broken(plot, look, &[(x, y), (x + fine(23.0), y)]);
            }
            Glyph::Mark => marker(plot, look, (x + fine(6.0), y), fine(5.0)),
            Glyph::Block => plot.block((x, y - 50), (x + 110, y + 50), look.colour(), 1.0),
            Glyph::Shade => {
                plot.block((x, y - 50), (x + 110, y + 50), palette::colour(palette::AREA), 1.0);
            }
            Glyph::None => {}
        }
        let ink = if entry.glyph == Glyph::None { palette::DIM } else { palette::TEXT };
        text(plot, entry.name, ink, (x + fine(glyph_width(entry.glyph)), y));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_that_do_not_fit_beside_each_other_go_below() {
        let entry = Entry { glyph: Glyph::Line, name: "a controller with a name" };
        let entries = vec![entry; 4];
        assert_eq!(places(&entries, Size::Wide).1, 1);
        let (places, rows) = places(&entries, Size::Narrow);
        assert_eq!(rows, 4);
        assert!(places.iter().all(|(x, _)| *x == 0.0));
    }
}
