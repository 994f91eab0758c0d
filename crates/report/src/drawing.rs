//! Figures as drawings: a sheet with a legend above the plot, in two widths, on a page or as a
//! separate file.

mod raster;
mod sheet;

use plotters::drawing::IntoDrawingArea;

pub use raster::RasterError;
pub(super) use raster::png;

use sheet::Sheet;

use super::draw::{Canvas, Drawn, Pen, Size};
use super::figure::{Figure, Kind};
use super::palette::{Styles, Theme, stylesheet};
use super::pointed::Pointed;

fn drawn(figure: &Figure) -> Option<&dyn Drawn> {
    match &figure.kind {
        Kind::Plane(plane) => Some(plane),
        Kind::Series(series) => Some(series),
        Kind::Cdf(cdf) => Some(cdf),
        Kind::Bars(bars) => Some(bars),
        Kind::Table(_) => None,
    }
}

/// The figure for a page. The page defines the colours and shows title and caption beside the
/// figure.
pub(super) fn inline(figure: &Figure, styles: &Styles, size: Size) -> Option<String> {
    let drawn = drawn(figure)?;
    let sheet = Sheet::bare(drawn.entries(), drawn.height(size), size);
    let body = compose(&sheet, drawn, styles);
    let class = size.pick("wide", "narrow");
    let label = super::escape(&figure.title);
    let (width, height) = (sheet.width() * 10, sheet.height() * 10);
    Some(format!(
        "<svg class=\"drawing {class}\" viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{label}\">\n{body}</svg>"
    ))
}

/// The values that the page shows at the mouse pointer.
pub(super) fn pointed(figure: &Figure, styles: &Styles) -> Option<Pointed> {
    drawn(figure).map(|drawn| drawn.pointed(styles))
}

/// The figure as a complete file: title, plot, caption and origin.
pub(super) fn standalone(figure: &Figure, styles: &Styles, theme: Theme) -> Option<String> {
    let drawn = drawn(figure)?;
    let sheet = Sheet::whole(figure, drawn.entries(), drawn.height(Size::Wide), Size::Wide);
    let body = compose(&sheet, drawn, styles);
    let (width, height) = (sheet.width(), sheet.height());
    let css = stylesheet(theme);
    Some(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {} {}\" font-family=\"Inter, system-ui, sans-serif\">\n\
         <title>{}</title>\n<style>{css}</style>\n\
         <path class=\"f paper\" d=\"M0 0h{}v{}H0z\"/>\n{body}</svg>\n",
        width * 10,
        height * 10,
        super::escape(&figure.title),
        width * 10,
        height * 10,
    ))
}

fn compose(sheet: &Sheet<'_>, drawn: &dyn Drawn, styles: &Styles) -> String {
    let (mut body, pen) = (String::new(), Pen::default());
    {
        let canvas = Canvas::new(&mut body, &pen, (sheet.width(), sheet.height()));
        let area = canvas.into_drawing_area();
        let plot = sheet.furnish(&area, &pen, styles);
        drawn.draw(&plot);
    }
    body.push_str(&pen.rest());
    body
}
