//! The code of the fuzz target. The test `corpus` runs it with the seeds.

use sounding_report::{
    Axis, Bar, Bars, Cdf, Cell, Curve, Figure, Kind, Origin, Page, Section, Table,
};

/// Names of a plan, its flows and its folder, with a zero byte between: their report has these
/// words, and neither more elements nor other headings because of them. Returns the number of
/// words.
pub(crate) fn titles(data: &[u8]) -> Option<usize> {
    let words: Vec<&str> = str::from_utf8(data).ok()?.split('\0').collect();
    let word = |at: usize| words.get(at).copied().unwrap_or("word");
    // Where there is nothing to say nothing is said.
    let dull = |at: usize| if word(at).is_empty() { "" } else { "word" };
    let (named, plain) = (titled(&word, &dull), titled(&dull, &dull));
    for mark in ['<', '"'] {
        assert_eq!(
            named.html().matches(mark).count(),
            plain.html().matches(mark).count(),
            "{mark}"
        );
    }
    let headings = |page: &Page| {
        page.markdown().lines().filter(|line| line.starts_with(['#', '!', '|'])).count()
    };
    assert_eq!(headings(&named), headings(&plain));
    // Names are measured, so that drawings are other drawings.
    let html = titled(&word, &word).html();
    for (part, count) in
        [("<script", 1), ("</script", 1), ("<style", 2), ("</style", 2), ("<main", 1)]
    {
        assert_eq!(html.matches(part).count(), count, "{part}");
    }
    Some(words.len())
}

/// A page with a figure of each kind that has names, and a table.
fn titled<'w>(text: &dyn Fn(usize) -> &'w str, name: &dyn Fn(usize) -> &'w str) -> Page {
    let of = |at: usize| text(at).to_owned();
    let figure = |file: &str, kind: Kind| Figure {
        name: file.into(),
        title: of(4),
        caption: of(5),
        origin: Origin { command: of(6), ..Origin::default() },
        kind,
    };
    let curves = [7, 8].map(|at| Curve::of(name(at), vec![1.0, 2.0]));
    let cdf = Cdf { x: Axis::linear("delay (ms)"), of: "packets".into(), curves: curves.into() };
    let bar = |at| Bar {
        group: name(9).into(),
        name: name(at).into(),
        value: 1.0,
        between: None,
        mark: Some(2.0),
    };
    let bars = Bars {
        y: Axis::linear("share"),
        bars: vec![bar(7), bar(8)],
        between: String::new(),
        marks: name(6).into(),
    };
    let table = Table {
        columns: vec![of(10), of(11)],
        named: 0,
        rows: vec![vec![Cell::Text(name(7).into()), Cell::Text(of(12))]],
    };
    Page {
        title: of(0),
        subtitle: of(1),
        sections: vec![Section {
            heading: of(2),
            text: of(3),
            figures: vec![
                figure("cdf", Kind::Cdf(cdf)),
                figure("bars", Kind::Bars(bars)),
                figure("table", Kind::Table(table)),
            ],
        }],
        origin: vec![("results".into(), of(13))],
    }
}
