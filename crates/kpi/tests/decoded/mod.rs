//! KPIs the long way: the whole record decoded, and the values at a path of it looked up by their
//! names.

use sounding_diag::LogRecord;
use sounding_diag::layout::Value;
use sounding_diag::record::{self, RecordError};
use sounding_kpi::registry::{NamedKpi, Source};
use sounding_kpi::{Subscription, Unread};

use crate::tree::{Builder, Item, Leaf, Node};

/// A value, and the numbers of its items.
pub(crate) type At = (Vec<u16>, f64);

/// The values at a path of a decoded record, each with the numbers of its items.
fn look_up(item: &Item, segments: &[&str], at: &[u16], found: &mut Vec<(Vec<u16>, Leaf)>) {
    let Some((&segment, rest)) = segments.split_first() else { return };
    if segment == "rlc" {
        return look_up(item, rest, at, found);
    }
    let (segment, condition) = segment.split_once('@').unwrap_or((segment, ""));
    if let Some(beside) = condition.strip_suffix("!=0") {
        let counted = item.0.iter().find_map(|(name, node)| match node {
            Node::Leaf(Leaf::Number(number)) if *name == beside => Some(*number),
            _ => None,
        });
        if counted.is_none_or(|counted| counted == 0) {
            return;
        }
    } else if let Some((beside, choices)) = condition.split_once('=') {
        let chosen = item.0.iter().find_map(|(name, node)| match node {
            Node::Leaf(Leaf::Choice(_, choice)) if *name == beside => *choice,
            _ => None,
        });
        if !chosen.is_some_and(|chosen| choices.split('|').any(|choice| choice == chosen)) {
            return;
        }
    }
    let optional = segment.ends_with('?');
    let names: Vec<_> = segment.trim_end_matches('?').split('/').collect();
    let nodes = item.0.iter().filter(|(name, _)| names.contains(name));
    let mut met = false;
    for (_, node) in nodes {
        match node {
            Node::Leaf(leaf) if rest.is_empty() => found.push((at.to_vec(), leaf.clone())),
            Node::List(items) if !rest.is_empty() => {
                met = true;
                for (number, item) in items.iter().enumerate() {
                    look_up(item, rest, &[at, &[number as u16]].concat(), found);
                }
            }
            _ => {}
        }
    }
    if optional && !met {
        look_up(item, rest, at, found);
    }
}

fn converted(kpi: &NamedKpi, leaf: &Leaf) -> Option<f64> {
    let Source::Field { conversion, .. } = kpi.source else { return None };
    conversion.value(match leaf {
        // The tree keeps the bits; whether they are signed, the range knows.
        Leaf::Number(number) if kpi.least < 0.0 => Value::Int(*number),
        Leaf::Number(number) => Value::Uint(number.cast_unsigned()),
        Leaf::Choice(number, name) => Value::Name(number.cast_unsigned(), *name),
        Leaf::Real(real) => Value::Scaled(*real),
        Leaf::Bytes(bytes) => Value::Bytes(bytes),
        Leaf::Plmn(plmn) => Value::Plmn(*plmn),
    })
}

/// The KPI's values from decoding the whole record.
pub(crate) fn decoded(kpi: &NamedKpi, log: &LogRecord<'_>) -> Result<Vec<At>, RecordError> {
    let mut builder = Builder::new();
    record::decode(log, &mut builder)?;
    let mut found = Vec::new();
    let segments: Vec<_> = kpi.path().split('.').collect();
    look_up(&builder.finish(), &segments, &[], &mut found);
    let values = found.into_iter().filter_map(|(at, leaf)| Some((at, converted(kpi, &leaf)?)));
    Ok(values.collect())
}

/// The KPI's values from a subscription of only this KPI.
pub(crate) fn subscribed(kpi: &'static NamedKpi, log: &LogRecord<'_>) -> Result<Vec<At>, Unread> {
    let mut values = Vec::new();
    Subscription::of([kpi])
        .handle(log, |reading| values.push((reading.item.levels().to_vec(), reading.value)))?;
    Ok(values)
}
