//! SVG to PNG, with a font of our own: the same picture on every machine.

use std::sync::{Arc, LazyLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};

/// DejaVu Sans, without the scripts that are rare in names of features and systems; see `fonts/README.md`.
const FONT: &[u8] = include_bytes!("../fonts/DejaVuSans.ttf");
const FAMILY: &str = "DejaVu Sans";
/// Pixels per unit, for sharp text on dense screens and in print.
const SCALE: f32 = 2.0;

/// A picture that cannot be drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PngError(String);

impl std::fmt::Display for PngError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "cannot draw the plot: {}", self.0)
    }
}

impl std::error::Error for PngError {}

/// The PNG of an SVG made by [`crate::Plot::to_svg`].
pub fn png(svg: &str) -> Result<Vec<u8>, PngError> {
    static FONTS: LazyLock<Arc<fontdb::Database>> = LazyLock::new(|| {
        let mut fonts = fontdb::Database::new();
        fonts.load_font_data(FONT.to_vec());
        fonts.set_sans_serif_family(FAMILY);
        Arc::new(fonts)
    });
    let options = Options { font_family: FAMILY.into(), fontdb: Arc::clone(&FONTS), ..Options::default() };
    let tree = Tree::from_str(svg, &options).map_err(|error| PngError(error.to_string()))?;
    let size = tree.size().to_int_size().scale_by(SCALE).ok_or_else(|| PngError("it has no size".into()))?;
    let mut picture =
        Pixmap::new(size.width(), size.height()).ok_or_else(|| PngError("it is too large for the memory".into()))?;
    resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut picture.as_mut());
    picture.encode_png().map_err(|error| PngError(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_lines_become_pixels() {
        let svg = |body: &str| {
            format!(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"60\" height=\"20\" font-family=\"sans-serif\">{body}</svg>"
            )
        };
        let empty = png(&svg("")).unwrap();
        assert_eq!(&empty[1..4], b"PNG");
        // Width and height, twice those of the SVG.
        assert_eq!([&empty[16..20], &empty[20..24]], [&[0, 0, 0, 120][..], &[0, 0, 0, 40]]);
        assert_ne!(png(&svg("<text y=\"12\">abc</text>")).unwrap(), empty);
        assert_ne!(png(&svg("<text y=\"12\">abc</text>")).unwrap(), png(&svg("<text y=\"12\">xyz</text>")).unwrap());
        assert!(png("no picture").unwrap_err().to_string().starts_with("cannot draw the plot: "));
    }
}
