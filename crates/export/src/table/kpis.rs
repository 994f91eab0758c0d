//! The KPIs of a code as columns.
//!
//! A KPI is the column of its field where that has the same values, in one column, each once.
//! Otherwise it has a column of its own, with its name.

use sounding_kpi::registry::{self, Conversion, NamedKpi, Source};

use super::outline::Lists;
use super::unit;

/// A place of a KPI.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// The list, as its number in [`Lists`].
    pub(super) list: usize,
    pub(super) field: &'static str,
    pub(super) condition: Option<Condition>,
}

/// A condition on another field of the same item.
#[derive(Clone, Copy, Debug)]
pub(super) struct Condition {
    pub(super) field: &'static str,
    /// The choices it may have, with bars between; `None` for any number but zero.
    pub(super) choices: Option<&'static str>,
}

/// The KPIs of a code that are fields, each with its places.
pub(super) fn of<'l>(
    lists: &'l Lists,
    code: sounding_diag::LogCode,
) -> impl Iterator<Item = (&'static NamedKpi, Conversion, Vec<Place>)> + 'l {
    registry::all().filter(move |kpi| kpi.code == code).filter_map(|kpi| match kpi.source {
        Source::Field { path, conversion } => Some((kpi, conversion, places(lists, path))),
        Source::Fact { .. } => None,
    })
}

/// The places that a path leads to: see [`sounding_diag::layout::Layout::probe`].
fn places(lists: &Lists, path: &'static str) -> Vec<Place> {
    let (path, condition) =
        match path.split_once('@').map(|(path, rest)| (path, rest.split_once('='))) {
            Some((path, Some((field, choices)))) => {
                let other = field.strip_suffix('!');
                let choices = other.is_none().then_some(choices);
                (path, Some(Condition { field: other.unwrap_or(field), choices }))
            }
            _ => (path, None),
        };
    let (around, field) = path.rsplit_once('.').map_or((None, path), |(a, b)| (Some(a), b));
    let mut found = vec![0];
    for segment in around.iter().flat_map(|around| around.split('.')) {
        let optional = segment.strip_suffix('?');
        // Fields of the header of an RLC PDU are fields of the PDU.
        let stays = optional.is_some() || segment == "rlc";
        let names = optional.unwrap_or(segment).split('/');
        let within = |&list| names.clone().filter_map(move |name| lists.within(list, name));
        let mut next: Vec<usize> = found.iter().flat_map(within).collect();
        if stays {
            next.append(&mut found);
        }
        found = next;
    }
    let mut places = Vec::new();
    for list in found {
        let known = &lists.lists[list].fields;
        for name in field.split('/') {
            if let Some(&(field, _)) = known.iter().find(|(known, _)| *known == name) {
                places.push(Place { list, field, condition });
            }
        }
    }
    places
}

/// Whether a KPI's values are those of its field.
pub(super) fn is_plain(conversion: Conversion) -> bool {
    match conversion {
        Conversion::Linear { times, plus } => times == 1.0 && plus == 0.0,
        Conversion::Choice(_) | Conversion::Table(_) => false,
    }
}

/// The type of the column of a KPI's own.
pub(super) fn kind(kpi: &NamedKpi) -> super::kind::Kind {
    if unit::is_whole(kpi) { super::kind::Kind::Int } else { super::kind::Kind::Real }
}
