//! What the fuzz target does with its input; the test `corpus` does the same with its seeds.

#![allow(dead_code, reason = "each fuzz target runs one of them")]

use std::path::{Path, PathBuf};

use sounding_lab::plan::{Actors, PlanError, Run, Text, network};
use sounding_lab::report::{
    Axis, Bar, Bars, Cdf, Cell, Curve, Figure, Kind, Origin, Page, Section, Table,
};

/// Networks of more are left out: what they take is what was asked for.
const MOST_DEVICES: u16 = 16;
const MOST_CARRIERS: usize = 4;

/// The text of a plan, and behind each zero byte a key that is set in it: it is refused, with a place that is in the text, or
/// comes to runs, whose networks are built or refused. How many runs.
pub(crate) fn plan(data: &[u8]) -> Option<usize> {
    let mut parts = str::from_utf8(data).ok()?.split('\0');
    let mut text = Text::new("plan.toml", parts.next()?, PathBuf::from("nowhere"));
    for set in parts {
        if let Err(error) = text.set(set) {
            check(&error);
            return None;
        }
    }
    let runs = match text.runs() {
        Ok(runs) => runs,
        Err(error) => {
            check(&error);
            return None;
        }
    };
    for run in [runs.first(), runs.last()].into_iter().flatten() {
        build(&text, run);
    }
    Some(runs.len())
}

/// Builds the network of a run.
fn build(text: &Text, run: &Run) {
    let groups = Actors::new(&run.plan).expect("it was checked").groups;
    let carriers = run.plan.cell.as_ref().map_or(0, |cell| cell.carriers.len());
    let links = run.plan.links.iter().flat_map(|link| [&link.up, &link.down]);
    let wires = run.plan.wire.iter().flat_map(|wire| [&wire.up, &wire.down]);
    // Files of this machine are none of the fuzzer's business.
    let is_outside = links.chain(wires).any(|link| link.contains(['/', '\\', '.']));
    let devices = groups.last().map_or(0, |group| group.devices.end);
    if devices > MOST_DEVICES || carriers > MOST_CARRIERS || is_outside {
        return;
    }
    if let Err(wrong) = network::<()>(&run.plan, Path::new("nowhere"), run.seed) {
        check(&text.locate(run, wrong));
    }
}

/// An error says what is wrong, and a place of its text if it names one.
fn check(error: &PlanError) {
    assert!(!error.message.is_empty(), "{error:?}");
    if let Some(span) = &error.span {
        assert!(span.start <= span.end && span.end <= error.text.len(), "{error:?}");
        assert!(error.position().is_some(), "{error:?}");
    }
    assert!(!error.to_string().is_empty());
}

/// What a plan, its flows and its folder are called, with a zero byte between: the report of them has these words, and
/// neither more elements nor other headings for them. How many words there are.
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
    let bar = |at| Bar { group: name(9).into(), name: name(at).into(), value: 1.0, between: None };
    let bars =
        Bars { y: Axis::linear("share"), bars: vec![bar(7), bar(8)], between: String::new() };
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
