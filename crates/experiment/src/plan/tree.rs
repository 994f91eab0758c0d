//! A plan as a tree of keys. Each value has its place in the text.

use std::borrow::Cow;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A value and its place in the text.
pub(super) type Value<'i> = Spanned<DeValue<'i>>;

/// A whole plan.
pub(super) type Root<'i> = Spanned<DeTable<'i>>;

/// Most parts of a path: plans are read, searched and dropped level by level.
const DEEPEST: usize = 32;

/// Sets a key by its dotted path. Parts of a path are keys, and for entries of lists numbers,
/// names, or `*` for all. Fails with the existing alternatives.
pub(super) fn put<'i>(
    table: &mut DeTable<'i>,
    path: &[&str],
    value: &Value<'i>,
) -> Result<(), String> {
    let Some((first, rest)) = path.split_first() else {
        return Err("is no key".into());
    };
    if path.len() > DEEPEST {
        return Err(format!("has more than {DEEPEST} parts"));
    }
    if rest.is_empty() {
        table.insert(Spanned::new(value.span(), Cow::Owned((*first).into())), value.clone());
        return Ok(());
    }
    if !table.contains_key(*first) {
        let span = value.span();
        let empty = Spanned::new(span.clone(), DeValue::Table(DeTable::new()));
        table.insert(Spanned::new(span, Cow::Owned((*first).into())), empty);
    }
    match table.get_mut(*first) {
        Some(inner) => put_into(inner, first, rest, value),
        None => Ok(()),
    }
}

fn put_into<'i>(
    at: &mut Value<'i>,
    name: &str,
    path: &[&str],
    value: &Value<'i>,
) -> Result<(), String> {
    match at.get_mut() {
        DeValue::Table(table) => put(table, path, value),
        DeValue::Array(list) => {
            let Some((first, rest)) = path.split_first() else { return Ok(()) };
            let length = list.len();
            let number = first.parse::<usize>().ok();
            let mut found = false;
            for (place, item) in list.iter_mut().enumerate() {
                let is_named = || {
                    let name = item.get_ref().get("name").and_then(|name| name.get_ref().as_str());
                    name == Some(first)
                };
                if *first != "*" && number != Some(place) && !is_named() {
                    continue;
                }
                found = true;
                if rest.is_empty() {
                    *item = value.clone();
                } else {
                    put_into(item, first, rest, value)?;
                }
            }
            if found {
                return Ok(());
            }
            Err(format!(
                "`{first}` is none of the {length} in `{name}`: give a number from 0, a name, or *"
            ))
        }
        _ => Err(format!("`{name}` is no table")),
    }
}

/// Place of the value of a key by its dotted path, or of the last existing part of the path.
pub(super) fn place(root: &Root<'_>, path: &str) -> Option<Range<usize>> {
    let mut parts = path.split('.');
    let mut at = root.get_ref().get(parts.next()?)?;
    for part in parts {
        let next = match at.get_ref() {
            DeValue::Table(table) => table.get(part),
            DeValue::Array(list) => part.parse().ok().and_then(|number: usize| list.get(number)),
            _ => None,
        };
        match next {
            Some(next) => at = next,
            None => break,
        }
    }
    Some(at.span())
}

/// The dotted path of the innermost key that a place is in.
pub(super) fn key_at(table: &DeTable<'_>, at: &Range<usize>) -> String {
    let mut found = Vec::new();
    let mut path = Vec::new();
    search(table, at, &mut path, &mut found);
    found.join(".")
}

fn holds(outer: &Range<usize>, at: &Range<usize>) -> bool {
    outer.start <= at.start && at.end <= outer.end
}

fn search(table: &DeTable<'_>, at: &Range<usize>, path: &mut Vec<String>, found: &mut Vec<String>) {
    for (key, value) in table {
        path.push(key.get_ref().to_string());
        if holds(&key.span(), at) && path.len() > found.len() {
            found.clone_from(path);
        }
        visit(value, at, path, found);
        path.pop();
    }
}

fn visit(value: &Value<'_>, at: &Range<usize>, path: &mut Vec<String>, found: &mut Vec<String>) {
    if holds(&value.span(), at) && path.len() > found.len() {
        found.clone_from(path);
    }
    match value.get_ref() {
        DeValue::Table(table) => search(table, at, path, found),
        DeValue::Array(list) => {
            for (number, item) in list.iter().enumerate() {
                path.push(number.to_string());
                visit(item, at, path, found);
                path.pop();
            }
        }
        _ => {}
    }
}
