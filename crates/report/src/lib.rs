//! Reports: figures that name their origin, and pages of figures that load nothing from the
//! network.
//!
//! A [`Figure`] has a [`Kind`]: a [`Plane`], a [`Series`], a [`Cdf`], [`Bars`] or a [`Table`]. A
//! [`Page`] has sections of figures. Each name has one colour, dash and shape in all figures. The
//! page is written as one HTML document and as Markdown, and every figure as SVG, PNG and Parquet.

mod axis;
mod bars;
mod cdf;
mod data;
mod draw;
mod drawing;
mod figure;
pub mod findings;
mod origin;
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
pub use drawing::RasterError;
pub use figure::{Figure, Kind};
pub use origin::Origin;
pub use page::{Page, Section, WriteError};
pub use palette::Styles;
pub use plane::{Mark, Plane, QUARTILES, Spread};
pub use series::{Happening, Line, Panel, Series, Shade};
pub use table::{Cell, Table};

/// Each once, in the order in which they first come.
pub fn distinct<'a>(all: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = Vec::new();
    for one in all {
        if !seen.contains(&one) {
            seen.push(one);
        }
    }
    seen
}

/// As text of an element or an attribute, of HTML and of XML.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            // XML 1.0 has none of these, not even as references, and a drawing is XML.
            '\u{FFFE}' | '\u{FFFF}' => escaped.push(char::REPLACEMENT_CHARACTER),
            c if c.is_control() && c != '\n' && c != '\t' => {
                escaped.push(char::REPLACEMENT_CHARACTER);
            }
            c => escaped.push(c),
        }
    }
    escaped
}

/// The text as a paragraph of Markdown. The first character is escaped if Markdown would read it as
/// a list or heading.
fn paragraph(text: &str) -> String {
    let text = plain(text);
    let text = text.trim_start();
    let is_sign = text.starts_with(|c: char| c.is_ascii_punctuation() && c != '&');
    if is_sign { format!("\\{text}") } else { text.to_owned() }
}

/// As a part of a line of Markdown, which begins no line and opens no element.
fn plain(text: &str) -> String {
    let line = |c: char| if c.is_control() { ' ' } else { c };
    text.chars().map(line).collect::<String>().replace('&', "&amp;").replace('<', "&lt;")
}
