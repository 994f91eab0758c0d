//! The output of plotters: SVG whose colours are classes, so that one drawing is right on white and
//! on black.
//!
//! Its own writer of SVG puts colours into the elements, has no dashes but many short lines, and
//! whole pixels only.

use std::cell::{Cell, RefCell};
use std::convert::Infallible;
use std::fmt::Write as _;

use plotters_backend::text_anchor::{HPos, VPos};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind,
    FontTransform,
};

use super::super::palette;

/// Steps of the canvas in a pixel: plotters has whole numbers only.
pub(crate) const FINE: i32 = 10;

/// State that plotters does not pass to a backend.
#[derive(Default)]
pub(crate) struct Pen {
    /// The dashes of the next lines: lengths of strokes and gaps in pixels, empty for whole lines.
    dash: Cell<&'static [f64]>,
    /// The markup before the next element.
    markup: RefCell<String>,
}

impl Pen {
    /// Breaks the next lines.
    pub(crate) fn set(&self, dash: &'static [f64]) {
        self.dash.set(dash);
    }

    /// Puts this between the elements that were drawn and those that will be.
    pub(crate) fn put(&self, markup: &str) {
        self.markup.borrow_mut().push_str(markup);
    }

    /// The markup after the last element.
    pub(crate) fn rest(&self) -> String {
        self.markup.take()
    }
}

/// A drawing on its way.
pub(crate) struct Canvas<'a> {
    out: &'a mut String,
    pen: &'a Pen,
    size: (u32, u32),
}

impl<'a> Canvas<'a> {
    /// A canvas of this many pixels that writes the elements of an SVG to the end of `out`.
    pub(crate) fn new(out: &'a mut String, pen: &'a Pen, (width, height): (u32, u32)) -> Self {
        let fine = FINE.unsigned_abs();
        Self { out, pen, size: (width * fine, height * fine) }
    }

    fn open(&mut self, element: &str, kind: char, colour: BackendColor, attributes: &str) {
        let class = palette::class(colour.rgb);
        let out = &mut *self.out;
        out.push_str(&self.pen.rest());
        // Writing into a string cannot fail, here and below.
        let _ = write!(out, "<{element} class=\"{kind} {class}\"{attributes}");
        if colour.alpha < 1.0 {
            let _ = write!(out, " opacity=\"{:.2}\"", colour.alpha);
        }
    }

    fn stroked<S: BackendStyle>(&mut self, style: &S, path: &str) {
        let width = style.stroke_width();
        let dash: Vec<String> = self
            .pen
            .dash
            .get()
            .iter()
            .map(|length| (length * f64::from(FINE)).to_string())
            .collect();
        let dash = match &dash[..] {
            [] => String::new(),
            lengths => format!(" stroke-dasharray=\"{}\"", lengths.join(" ")),
        };
        let place = format!(" stroke-width=\"{width}\"{dash} d=\"{path}\"");
        self.open("path", 's', style.color(), &place);
        self.out.push_str("/>\n");
    }
}

fn path(points: impl IntoIterator<Item = BackendCoord>, closed: bool) -> String {
    let mut text = String::new();
    let mut before: Option<BackendCoord> = None;
    for (x, y) in points {
        let _ = match before {
            None => write!(text, "M{x} {y}"),
            Some((from_x, from_y)) if (from_x, from_y) == (x, y) => Ok(()),
            Some((from_x, from_y)) => write!(text, "l{} {}", x - from_x, y - from_y),
        };
        before = Some((x, y));
    }
    if closed {
        text.push('z');
    }
    text
}

impl DrawingBackend for Canvas<'_> {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        self.size
    }

    fn ensure_prepared(&mut self) -> Result<(), DrawingErrorKind<Infallible>> {
        Ok(())
    }

    fn present(&mut self) -> Result<(), DrawingErrorKind<Infallible>> {
        Ok(())
    }

    fn draw_pixel(
        &mut self,
        point: BackendCoord,
        color: BackendColor,
    ) -> Result<(), DrawingErrorKind<Infallible>> {
        let (x, y) = point;
        self.open("path", 'f', color, &format!(" d=\"M{x} {y}h1v1h-1z\""));
        self.out.push_str("/>\n");
        Ok(())
    }

    fn draw_line<S: BackendStyle>(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &S,
    ) -> Result<(), DrawingErrorKind<Infallible>> {
        if style.color().alpha > 0.0 {
            self.stroked(style, &path([from, to], false));
        }
        Ok(())
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        (left, top): BackendCoord,
        (right, bottom): BackendCoord,
        style: &S,
        fill: bool,
    ) -> Result<(), DrawingErrorKind<Infallible>> {
        let corners = [(left, top), (right, top), (right, bottom), (left, bottom)];
        if fill {
            self.fill_polygon(corners, style)
        } else {
            self.stroked(style, &path(corners, true));
            Ok(())
        }
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        points: I,
        style: &S,
    ) -> Result<(), DrawingErrorKind<Infallible>> {
        self.stroked(style, &path(points, false));
        Ok(())
    }

    fn draw_circle<S: BackendStyle>(
        &mut self,
        (x, y): BackendCoord,
        radius: u32,
        style: &S,
        fill: bool,
    ) -> Result<(), DrawingErrorKind<Infallible>> {
        let kind = if fill { 'f' } else { 's' };
        let width = style.stroke_width();
        let place = format!(" cx=\"{x}\" cy=\"{y}\" r=\"{radius}\" stroke-width=\"{width}\"");
        self.open("circle", kind, style.color(), &place);
        self.out.push_str("/>\n");
        Ok(())
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        corners: I,
        style: &S,
    ) -> Result<(), DrawingErrorKind<Infallible>> {
        self.open("path", 'f', style.color(), &format!(" d=\"{}\"", path(corners, true)));
        self.out.push_str("/>\n");
        Ok(())
    }

    fn draw_text<T: BackendTextStyle>(
        &mut self,
        text: &str,
        style: &T,
        (x, y): BackendCoord,
    ) -> Result<(), DrawingErrorKind<Infallible>> {
        let anchor = match style.anchor().h_pos {
            HPos::Left => "start",
            HPos::Center => "middle",
            HPos::Right => "end",
        };
        // The baseline: capitals are 0.73 of the font size high.
        let below = match style.anchor().v_pos {
            VPos::Top => 0.86,
            VPos::Center => 0.36,
            VPos::Bottom => -0.14,
        };
        let size = style.size();
        let turn = match style.transform() {
            FontTransform::Rotate90 => format!(" transform=\"rotate(90 {x} {y})\""),
            FontTransform::Rotate270 => format!(" transform=\"rotate(270 {x} {y})\""),
            _ => String::new(),
        };
        let weight = if style.style().as_str() == "bold" { " font-weight=\"600\"" } else { "" };
        let place = format!(
            " x=\"{x}\" y=\"{}\" font-size=\"{size}\" text-anchor=\"{anchor}\"{weight}{turn}",
            f64::from(y) + (size * below).round()
        );
        self.open("text", 'f', style.color(), &place);
        let _ = writeln!(self.out, ">{}</text>", super::super::escape(text));
        Ok(())
    }

    fn estimate_text_size<T: BackendTextStyle>(
        &self,
        text: &str,
        style: &T,
    ) -> Result<(u32, u32), DrawingErrorKind<Infallible>> {
        Ok(((width_of(text) * style.size()) as u32, style.size() as u32))
    }
}

/// Width of a text in a sans-serif face, in multiples of its size: enough to reserve space for it.
pub(crate) fn width_of(text: &str) -> f64 {
    text.chars()
        .map(|letter| match letter {
            'i' | 'j' | 'l' | '.' | ',' | ' ' | ':' | '|' | '\'' | 'I' => 0.28,
            'f' | 't' | 'r' | '(' | ')' | '/' | '-' => 0.40,
            'm' | 'w' | 'M' | 'W' | '%' => 0.88,
            'A'..='Z' => 0.70,
            _ => 0.61,
        })
        .sum()
}

/// Breaks a text into lines of this many times the height of its letters.
pub(crate) fn wrap(text: &str, width: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut used = 0.0;
    for word in text.split_whitespace() {
        let wide = width_of(word);
        match lines.last_mut() {
            Some(line) if used + 0.28 + wide <= width => {
                line.push(' ');
                line.push_str(word);
                used += 0.28 + wide;
            }
            _ => {
                lines.push(word.to_owned());
                used = wide;
            }
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_written_by_its_steps_and_stands_still_for_free() {
        assert_eq!(path([(10, 20), (30, 20), (30, 20), (35, 10)], false), "M10 20l20 0l5 -10");
    }

    #[test]
    fn no_line_is_wider_than_the_sheet_and_no_word_is_lost() {
        let text = "a caption of several words that does not fit into one line of this width";
        let lines = wrap(text, 12.0);
        assert!(lines.len() > 2);
        assert!(lines.iter().all(|line| width_of(line) <= 12.0), "{lines:?}");
        assert_eq!(lines.join(" "), text);
    }
}
