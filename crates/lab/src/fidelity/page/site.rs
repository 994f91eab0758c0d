//! The page: its document, and the style sheets, scripts and images that it needs.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Of each kind, as on a plain news page. Chosen: six connections fetch them in several rounds.
const KINDS: [(Kind, usize); 3] = [(Kind::Style, 4), (Kind::Script, 8), (Kind::Image, 28)];

/// Parts of the page beside its document.
pub(super) const PARTS: usize = 40;

/// Bytes of all these parts.
pub(super) const BYTES: usize = 2_000_000;

/// Largest part over the smallest, in powers of e.
const SPREAD: f64 = 3.0;

/// A request with which the page reports has at least this many bytes of IP, and no other does.
pub(super) const REPORT_BYTES: u64 = 1000;

/// What makes a report that long: Chromium's own lines have 400 to 500 bytes, and all of it fits
/// into one packet.
const PADDING: usize = 700;

/// The path of a report.
pub(super) const REPORT: &str = "/loaded";

/// A kind of part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Style,
    Script,
    Image,
}

impl Kind {
    fn media_type(self) -> &'static str {
        match self {
            Self::Style => "text/css",
            Self::Script => "text/javascript",
            Self::Image => "image/svg+xml",
        }
    }

    /// Text before and after the filling, which is a comment.
    fn frame(self) -> [&'static str; 2] {
        match self {
            Self::Style | Self::Script => ["/*", "*/\n"],
            Self::Image => [
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"8\" height=\"8\"><!--",
                "--></svg>\n",
            ],
        }
    }

    fn tag(self, name: usize) -> String {
        match self {
            Self::Style => format!("<link rel=stylesheet href=/{name}>\n"),
            Self::Script => format!("<script src=/{name} defer></script>\n"),
            Self::Image => format!("<img src=/{name} width=8 height=8 alt=''>\n"),
        }
    }
}

/// An answer of the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) media_type: &'static str,
    pub(super) body: Vec<u8>,
}

/// All answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Site {
    document: Answer,
    parts: Vec<Answer>,
}

impl Site {
    /// The same seed gives the same bytes.
    pub(super) fn new(seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let kinds: Vec<Kind> =
            KINDS.iter().flat_map(|&(kind, count)| std::iter::repeat_n(kind, count)).collect();
        let weights: Vec<f64> =
            kinds.iter().map(|_| (SPREAD * rng.random_range(0.0..1.0_f64)).exp()).collect();
        let all: f64 = weights.iter().sum();
        let mut left = BYTES;
        let mut parts = Vec::new();
        for (index, (&kind, weight)) in kinds.iter().zip(&weights).enumerate() {
            let share = (BYTES as f64 * weight / all) as usize;
            let size = if index + 1 == kinds.len() { left } else { share.min(left) };
            left -= size;
            parts.push(part(kind, size, &mut rng));
        }
        let document = Answer { media_type: "text/html", body: document(&kinds).into_bytes() };
        Self { document, parts }
    }

    /// The answer for a path; `None` if there is no such part.
    pub(super) fn answer(&self, path: &str) -> Option<&Answer> {
        match path.strip_prefix('/')? {
            "" => Some(&self.document),
            name => self.parts.get(name.parse::<usize>().ok()?),
        }
    }
}

fn part(kind: Kind, size: usize, rng: &mut ChaCha8Rng) -> Answer {
    let [before, after] = kind.frame();
    let filling = size.saturating_sub(before.len() + after.len());
    let letters = (0..filling).map(|_| char::from(rng.random_range(b'a'..=b'z')));
    let text: String = before.chars().chain(letters).chain(after.chars()).collect();
    Answer { media_type: kind.media_type(), body: text.into_bytes() }
}

/// The last script reports when the load event has ended. Before that, the event has no end yet.
fn document(kinds: &[Kind]) -> String {
    let tags: String = kinds.iter().enumerate().map(|(name, kind)| kind.tag(name)).collect();
    format!(
        "<!doctype html>\n<meta charset=utf-8>\n<title>page</title>\n<link rel=icon href=data:,>\n{tags}\
<script>
addEventListener('load', () => setTimeout(() => {{
  const [page] = performance.getEntriesByType('navigation');
  const parts = performance.getEntriesByType('resource').filter(it => it.name.startsWith(location.origin));
  const bytes = parts.reduce((sum, it) => sum + it.encodedBodySize, 0);
  const load = page.loadEventEnd - page.startTime;
  fetch(`{REPORT}?load=${{load}}&origin=${{performance.timeOrigin + page.startTime}}&parts=${{parts.length}}&bytes=${{bytes}}&pad=${{'.'.repeat({PADDING})}}`);
}}));
</script>
"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_its_parts_and_bytes_and_repeats_with_its_seed() {
        let site = Site::new(1);
        let sizes: Vec<usize> = site.parts.iter().map(|part| part.body.len()).collect();
        assert_eq!((sizes.len(), sizes.iter().sum::<usize>()), (PARTS, BYTES));
        let (least, most) =
            (sizes.iter().min().expect("parts"), sizes.iter().max().expect("parts"));
        assert!(least * 5 < *most, "{least} {most}");
        assert_eq!(site, Site::new(1));
        assert_ne!(site, Site::new(2));
    }

    #[test]
    fn a_document_names_each_of_its_parts_once_and_nothing_else() {
        let site = Site::new(1);
        let text = String::from_utf8(site.answer("/").expect("a document").body.clone());
        let text = text.expect("text");
        let named = text.matches("src=/").count() + text.matches("rel=stylesheet href=/").count();
        assert_eq!(named, PARTS);
        assert!(!text.contains("http"), "{text}");
        assert_eq!(site.answer("/39").expect("a part").media_type, "image/svg+xml");
        assert_eq!(
            (site.answer("/40"), site.answer("/favicon.ico"), site.answer("")),
            (None, None, None)
        );
    }
}
