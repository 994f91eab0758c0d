//! A page of figures, and its files.

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};
use sounding_export::table::TableError;
use sounding_host::files::{self, Access, Draft, Over};
use thiserror::Error;

use super::draw::Size;
use super::drawing::{self, RasterError};
use super::palette::{Styles, Theme, stylesheet};
use super::{Figure, Kind, escape, paragraph, plain};

/// The scripts that make the page interactive. Without them it shows the same figures.
const SCRIPTS: [&str; 2] =
    [include_str!("../assets/report.js"), include_str!("../assets/figures.js")];

/// Figures under one heading.
#[derive(Clone, Debug, Default)]
pub struct Section {
    /// The heading.
    pub heading: String,
    /// The topic of the figures; may be empty.
    pub text: String,
    /// The figures.
    pub figures: Vec<Figure>,
}

/// One self-contained page.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// The heading.
    pub title: String,
    /// One line below the heading.
    pub subtitle: String,
    /// Its sections.
    pub sections: Vec<Section>,
    /// Command, commit, machine and the like: name and value.
    pub origin: Vec<(String, String)>,
}

/// Why a page is not written.
#[derive(Debug, Error)]
pub enum WriteError {
    /// A file cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    File {
        /// The path.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The data of a figure cannot be.
    #[error("cannot write {}: {source}", path.display())]
    Data {
        /// Into which file.
        path: PathBuf,
        /// Why.
        source: TableError,
    },
    /// A figure has no picture.
    #[error("figure {0}: {1}")]
    Picture(String, RasterError),
}

impl Page {
    /// Every figure, in their order.
    pub fn figures(&self) -> impl Iterator<Item = &Figure> {
        self.sections.iter().flat_map(|section| &section.figures)
    }

    fn styles(&self) -> Styles {
        Styles::of(self.figures().flat_map(Figure::names))
    }

    /// The page as one HTML document.
    pub fn html(&self) -> String {
        let styles = self.styles();
        let sections: String = self.sections.iter().map(|section| section.html(&styles)).collect();
        let (css, colours, js) =
            (include_str!("../assets/report.css"), stylesheet(Theme::Both), SCRIPTS.concat());
        fill(
            include_str!("../assets/report.html"),
            &[
                ("policy", &policy(&[css, &colours], &js)),
                ("title", &escape(&self.title)),
                ("subtitle", &escape(&self.subtitle)),
                ("names", &self.names(&styles)),
                ("origin", &self.origin_list()),
                ("css", css),
                ("colours", &colours),
                ("js", &js),
                ("sections", &sections),
            ],
        )
    }

    /// A button for each name that is drawn somewhere, which shows it alone.
    fn names(&self, styles: &Styles) -> String {
        let mut seen = Vec::new();
        for name in self.figures().filter(|figure| figure.is_drawn()).flat_map(Figure::names) {
            if !seen.contains(&name) {
                seen.push(name);
            }
        }
        let button = |name: &str| {
            let class = styles.class(name)?;
            Some(format!(
                "<button type=\"button\" aria-pressed=\"false\" data-ink=\"{class}\"><svg class=\"swatch\" \
                 viewBox=\"0 0 10 10\"><path class=\"f {class}\" d=\"M0 0h10v10H0z\"/></svg>{}</button>",
                escape(name)
            ))
        };
        seen.into_iter().filter_map(button).collect()
    }

    fn origin_list(&self) -> String {
        let items = self.origin.iter().fold(String::new(), |mut html, (name, value)| {
            // Writing into a string cannot fail.
            let _ = write!(html, "<dt>{}</dt><dd>{}</dd>", escape(name), escape(value));
            html
        });
        format!("<dl>{items}</dl>")
    }

    /// The page as Markdown. Its pictures are in the folder `figures/` beside it.
    pub fn markdown(&self) -> String {
        let mut text = format!("# {}\n\n{}\n", plain(&self.title), paragraph(&self.subtitle));
        for section in &self.sections {
            // Writing into a string cannot fail, here and below.
            let _ = write!(text, "\n## {}\n", plain(&section.heading));
            if !section.text.is_empty() {
                let _ = write!(text, "\n{}\n", paragraph(&section.text));
            }
            for Figure { name, title, caption, origin, kind } in &section.figures {
                let (title, caption, origin) =
                    (plain(title), paragraph(caption), plain(&origin.to_string()));
                let _ = write!(text, "\n### {title}\n\n");
                let _ = match kind {
                    Kind::Table(table) => writeln!(text, "{}", table.markdown()),
                    _ => write!(text, "![{title}](figures/{name}.svg)\n\n"),
                };
                let _ = writeln!(text, "{caption} *{origin}*");
            }
        }
        text.push_str("\n## How it was made\n\n");
        for (name, value) in &self.origin {
            let value: Vec<String> = value.lines().map(plain).collect();
            let _ = writeln!(text, "* {}: {}", plain(name), value.join("\n  "));
        }
        text
    }

    /// Writes `report.html`, `report.md` and, into `figures`, each figure as SVG, PNG and Parquet.
    ///
    /// # Errors
    ///
    /// [`WriteError`] if a file cannot be written, or a figure cannot be drawn as PNG.
    pub fn write(&self, folder: &Path) -> Result<(), WriteError> {
        let figures = folder.join("figures");
        let file = |path: &Path| {
            let path = path.to_owned();
            move |source| WriteError::File { path, source }
        };
        files::make_folder(&figures).map_err(file(&figures))?;
        let write = |path: PathBuf, bytes: &[u8]| files::write(&path, bytes).map_err(file(&path));
        write(folder.join("report.html"), self.html().as_bytes())?;
        write(folder.join("report.md"), self.markdown().as_bytes())?;
        let styles = self.styles();
        for figure in self.figures() {
            let path = |ending: &str| figures.join(format!("{}.{ending}", figure.name));
            if let Some(svg) = drawing::standalone(figure, &styles, Theme::Both) {
                write(path("svg"), svg.as_bytes())?;
            }
            if let Some(svg) = drawing::standalone(figure, &styles, Theme::Light) {
                let picture = |error| WriteError::Picture(figure.name.clone(), error);
                write(path("png"), &drawing::png(&svg).map_err(picture)?)?;
            }
            let path = path("parquet");
            let written = Draft::begin(&path, Access::Usual).map_err(TableError::from);
            let written = written.and_then(|mut draft| {
                figure.data().write(&mut draft, &figure.title, &figure.origin)?;
                Ok(draft.finish(Over::File)?)
            });
            written.map_err(|source| WriteError::Data { path, source })?;
        }
        Ok(())
    }
}

/// The template with its places filled. What is filled in is never looked into: a title may have
/// the form of a place.
fn fill(template: &str, parts: &[(&str, &str)]) -> String {
    let mut pieces = template.split("{{");
    let mut page = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (name, after) = piece.split_once("}}").unwrap_or((piece, ""));
        page.push_str(parts.iter().find(|(place, _)| *place == name).map_or("", |(_, text)| *text));
        page.push_str(after);
    }
    page
}

/// The page's permissions (Content Security Policy 3): apply exactly these styles and run exactly
/// this script. It loads nothing and sends nothing. If foreign text gets into the page, this text
/// can neither run nor draw.
fn policy(styles: &[&str], script: &str) -> String {
    let hash = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)));
    let styles: Vec<String> = styles.iter().map(|style| hash(style)).collect();
    format!(
        "default-src 'none'; style-src {}; script-src {}; base-uri 'none'; form-action 'none'",
        styles.join(" "),
        hash(script)
    )
}

impl Section {
    fn html(&self, styles: &Styles) -> String {
        let mut html = format!("<section><h2>{}</h2>", escape(&self.heading));
        if !self.text.is_empty() {
            // Writing into a string cannot fail, here and below.
            let _ = write!(html, "<p>{}</p>", escape(&self.text));
        }
        for figure in &self.figures {
            let values =
                drawing::pointed(figure, styles).and_then(|v| serde_json::to_string(&v).ok());
            let values =
                values.map_or(String::new(), |v| format!(" data-values=\"{}\"", escape(&v)));
            let _ = write!(html, "<figure id=\"{}\"{values}>", escape(&figure.name));
            let _ = write!(html, "<h3>{}</h3>", escape(&figure.title));
            match &figure.kind {
                Kind::Table(table) => html.push_str(&table.html(styles)),
                _ => {
                    let sizes = [Size::Wide, Size::Narrow];
                    html.extend(sizes.iter().filter_map(|s| drawing::inline(figure, styles, *s)));
                }
            }
            let (caption, origin) = (escape(&figure.caption), escape(&figure.origin.to_string()));
            let _ =
                write!(html, "<figcaption>{caption}<small>{origin}</small></figcaption></figure>");
        }
        html.push_str("</section>");
        html
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::{Axis, Cdf, Curve, Origin, Table};

    fn page() -> Page {
        let figure = |name: &str, kind: Kind| Figure {
            name: name.into(),
            title: "a <b> & c".into(),
            caption: "what it is".into(),
            origin: Origin { command: "sounding demo".into(), ..Origin::default() },
            kind,
        };
        let curve = Curve::of("</script>", vec![1.0, 2.0]);
        let cdf = Cdf { x: Axis::linear("delay (ms)"), of: "packets".into(), curves: vec![curve] };
        let table = Table {
            columns: vec!["run".into(), "Mbit/s".into()],
            named: 0,
            rows: vec![vec!["bbr".into(), crate::Cell::Number(4.53, 2)]],
        };
        Page {
            title: "a <b> & c".into(),
            subtitle: String::new(),
            sections: vec![Section {
                heading: "one".into(),
                text: String::new(),
                figures: vec![figure("cdf", Kind::Cdf(cdf)), figure("table", Kind::Table(table))],
            }],
            origin: vec![("command".into(), "sounding demo".into())],
        }
    }

    #[test]
    fn nothing_in_the_data_ends_a_script_or_opens_an_element() {
        let html = page().html();
        assert_eq!(html.matches("</script>").count(), 1);
        assert!(html.contains("a &lt;b&gt; &amp; c") && !html.contains("a <b>"));
    }

    #[test]
    fn a_text_of_the_form_of_a_place_stays_a_text() {
        let whole = page().html();
        for text in ["{{js}}", "{{sections}} {{js}}", "{{title}}", "{{", "}}{{css"] {
            let mut page = page();
            page.title = text.into();
            page.subtitle = text.into();
            page.sections[0].heading = text.into();
            page.sections[0].figures[0].title = text.into();
            page.origin.push(("command".into(), text.into()));
            let html = page.html();
            assert!(html.contains(&format!("<title>{text}</title>")), "{text}");
            assert!(html.contains(&format!("<h2>{text}</h2>")), "{text}");
            for part in ["<script>", "<style>", "<main>", "<figure "] {
                assert_eq!(
                    html.matches(part).count(),
                    whole.matches(part).count(),
                    "{text}: {part}"
                );
            }
        }
    }

    #[test]
    fn a_page_may_run_its_own_script_and_nothing_else() {
        let html = page().html();
        let policy = html.split("Content-Security-Policy\" content=\"").nth(1).expect("a policy");
        let (policy, _) = policy.split_once('"').expect("an attribute ends");
        assert!(policy.starts_with("default-src 'none'; "), "{policy}");
        assert!(!policy.contains("unsafe") && !policy.contains('*'), "{policy}");
        let inside = |element: &str| -> Vec<String> {
            let (begin, end) = (format!("<{element}>"), format!("</{element}>"));
            let parts = html.split(&begin).skip(1);
            parts.map(|part| part.split(&end).next().expect("it ends").to_owned()).collect()
        };
        for (directive, element, count) in [("script-src", "script", 1), ("style-src", "style", 2)]
        {
            let allowed = policy.split("; ").find_map(|part| part.strip_prefix(directive));
            let allowed: Vec<&str> = allowed.expect("it is there").split_whitespace().collect();
            let found = inside(element);
            let hash = |text| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)));
            assert_eq!(found.iter().map(hash).collect::<Vec<_>>(), allowed);
            assert_eq!(found.len(), count);
        }
        // The policy allows neither, so neither may be needed.
        for needless in [" style=\"", " onclick", "javascript:"] {
            assert!(!html.contains(needless), "{needless}");
        }
    }

    #[test]
    fn a_title_that_no_xml_may_have_is_drawn_and_opens_nothing_in_markdown() {
        let mut page = page();
        page.title = "a\u{1}\u{1b}b\u{ffff}\n# <script>".into();
        page.sections[0].figures[0].title = page.title.clone();
        let folder = tempfile::tempdir().expect("a folder");
        page.write(folder.path()).expect("a drawing and a picture of it");
        assert!(!page.html().contains('\u{1}'));
        let markdown = page.markdown();
        assert_eq!(markdown.lines().filter(|line| line.starts_with("# ")).count(), 1);
        assert!(!markdown.contains("<script>"), "{markdown}");
    }

    #[test]
    fn every_placeholder_is_filled() {
        assert!(!page().html().contains("{{"));
    }

    #[test]
    fn a_page_has_its_drawings_in_both_widths_and_fetches_nothing() {
        let html = page().html();
        assert_eq!(html.matches("<svg class=\"drawing").count(), 2);
        for outside in ["src=", "href=", "url(", "@import", "http:", "https:"] {
            assert!(!html.contains(outside), "{outside}");
        }
    }

    #[test]
    fn the_files_of_a_page_are_a_drawing_a_picture_and_data() {
        let folder = tempfile::tempdir().expect("a folder");
        page().write(folder.path()).expect("room");
        let read = |name: &str| fs::read(folder.path().join("figures").join(name));
        assert!(read("cdf.png").expect("a picture").starts_with(b"\x89PNG"));
        assert!(read("cdf.parquet").expect("data").starts_with(b"PAR1"));
        let svg = String::from_utf8(read("cdf.svg").expect("a drawing")).expect("text");
        assert!(svg.contains("what it is") && svg.contains("sounding demo"));
        assert!(read("table.parquet").is_ok() && read("table.svg").is_err());
    }
}
