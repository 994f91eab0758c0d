//! A drawing as PNG, in a face that the program brings along: the same picture on every machine.

use std::sync::Arc;

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};
use thiserror::Error;

const REGULAR: &[u8] = include_bytes!("../../assets/font/Inter-Regular.otf");
const SEMI_BOLD: &[u8] = include_bytes!("../../assets/font/Inter-SemiBold.otf");

/// Pixels of the picture in one of the drawing.
const ZOOM: f32 = 2.0;

/// Why there is no picture.
#[derive(Debug, Error)]
pub enum RasterError {
    /// The drawing is not valid SVG.
    #[error("the drawing is not SVG: {0}")]
    Drawing(#[from] resvg::usvg::Error),
    /// It has no size, or one that no memory holds.
    #[error("a picture of {0} by {1} pixels cannot be made")]
    Size(u32, u32),
    /// The pixels cannot be written down.
    #[error("the picture cannot be encoded: {0}")]
    Encoding(String),
}

/// A drawing as PNG.
pub(crate) fn png(svg: &str) -> Result<Vec<u8>, RasterError> {
    let mut fonts = fontdb::Database::new();
    fonts.load_font_data(REGULAR.to_vec());
    fonts.load_font_data(SEMI_BOLD.to_vec());
    let options =
        Options { fontdb: Arc::new(fonts), font_family: "Inter".into(), ..Options::default() };
    let tree = Tree::from_str(svg, &options)?;
    let size = tree.size().to_int_size();
    let (width, height) = (size.width() * ZOOM as u32, size.height() * ZOOM as u32);
    let mut pixels = Pixmap::new(width, height).ok_or(RasterError::Size(width, height))?;
    resvg::render(&tree, Transform::from_scale(ZOOM, ZOOM), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| RasterError::Encoding(error.to_string()))
}
