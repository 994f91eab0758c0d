//! Values of messages, with the names of the specifications.

use alloc::boxed::Box;
use alloc::vec::Vec;

use sounding_rrc::{BitStr, Value};

pub(super) type Tree = Value<'static>;

pub(super) fn sequence<'a, const N: usize>(members: [(&'static str, Value<'a>); N]) -> Value<'a> {
    Value::Sequence(Vec::from(members))
}

pub(super) fn choice<'a>(name: &'static str, value: Value<'a>) -> Value<'a> {
    Value::Choice(name, Box::new(value))
}

pub(super) fn number(number: impl Into<i64>) -> Tree {
    Value::Integer(number.into())
}

pub(super) fn list(item: Tree) -> Tree {
    Value::List(Vec::from([item]))
}

pub(super) fn contains(value: Tree) -> Tree {
    Value::Contains(Box::new(value))
}

/// Sixteen bits of an identity that has no effect.
pub(super) fn identity() -> Tree {
    Value::Bits(BitStr::of(&[0x01, 0x00]))
}

/// A string of bytes.
pub(super) fn octets(bytes: &[u8]) -> Value<'_> {
    Value::Octets(BitStr::of(bytes))
}

/// A message of a channel: its kind, its transaction, and its contents in `extensions`.
pub(super) fn message<'a>(kind: &'static str, transaction: u8, extensions: Value<'a>) -> Value<'a> {
    let body = sequence([
        ("rrc-TransactionIdentifier", number(transaction)),
        ("criticalExtensions", extensions),
    ]);
    sequence([("message", choice("c1", choice(kind, body)))])
}
