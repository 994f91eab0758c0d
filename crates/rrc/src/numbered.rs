//! Goes through a message with the numbers that stand in its encoding for names.

use crate::Pdu;
use crate::schema::{Field, Presence, Type, enumerated, fields, type_at};
use crate::value::Value;

/// Receives the values of a message, parents first.
pub trait Visitor {
    /// A value, named as a member or alternative. An item of a list, the content of a string and
    /// the message itself have no name. `number` is that of an enumeration's name or of the chosen
    /// alternative.
    fn begin(&mut self, name: Option<&'static str>, value: &Value<'_>, number: Option<u64>);

    /// All values within the last one that did not end are over.
    fn end(&mut self);
}

/// Goes through a message that [`decode`](crate::decode) made of this kind. A value that is none of
/// its kind has no number.
pub fn visit(pdu: impl Into<Pdu>, message: &Value<'_>, visitor: &mut dyn Visitor) {
    value(None, Some(type_at(pdu.into().place())), message, visitor);
}

fn value(name: Option<&'static str>, ty: Option<Type>, own: &Value<'_>, visitor: &mut dyn Visitor) {
    visitor.begin(name, own, ty.and_then(|ty| number(ty, own)));
    match own {
        Value::Sequence(members) => {
            for (name, member) in members {
                let ty = ty.and_then(|ty| member_of(ty, name)).map(|field| type_at(field.ty));
                value(Some(name), ty, member, visitor);
            }
        }
        Value::Choice(chosen, inner) => {
            let ty = ty.and_then(|ty| member_of(ty, chosen)).map(|field| type_at(field.ty));
            value(Some(chosen), ty, inner, visitor);
        }
        Value::List(items) => {
            let ty = match ty {
                Some(Type::SequenceOf { element, .. }) => Some(type_at(element)),
                _ => None,
            };
            items.iter().for_each(|item| value(None, ty, item, visitor));
        }
        Value::Contains(inner) => {
            let ty = match ty {
                Some(Type::OctetString { contents, .. }) => Some(type_at(contents)),
                _ => None,
            };
            value(None, ty, inner, visitor);
        }
        _ => {}
    }
    visitor.end();
}

/// The place of a name among those of its type.
fn number(ty: Type, value: &Value<'_>) -> Option<u64> {
    match (ty, value) {
        (Type::Enumerated { first, root, added, .. }, Value::Name(name)) => {
            (0..root + added).find(|&number| enumerated(first, number) == *name).map(u64::from)
        }
        (Type::Enumerated { root, .. }, Value::Later(number)) => Some(u64::from(root) + number),
        (Type::Choice { root, .. }, Value::Later(number)) => Some(u64::from(root) + number),
        (Type::Choice { first, root, added, .. }, Value::Choice(name, _)) => {
            let all = fields(first, root + added);
            all.iter().position(|field| field.name() == *name).map(|number| number as u64)
        }
        _ => None,
    }
}

/// The member or alternative of a type; additions that came together are among the others.
fn member_of(ty: Type, name: &str) -> Option<Field> {
    let (Type::Sequence { first, root, added, .. } | Type::Choice { first, root, added, .. }) = ty
    else {
        return None;
    };
    fields(first, root + added).iter().find_map(|field| match field.presence {
        Presence::Group => member_of(type_at(field.ty), name),
        _ => (field.name() == name).then_some(*field),
    })
}

#[cfg(test)]
mod tests {
    use alloc::string::String;
    use alloc::vec::Vec;
    use core::fmt::Write;

    use sounding_diag::record::RrcPdu;

    use super::*;

    #[derive(Default)]
    struct Names(Vec<String>);

    impl Visitor for Names {
        fn begin(&mut self, name: Option<&'static str>, _: &Value<'_>, number: Option<u64>) {
            let mut line = String::from(name.unwrap_or("-"));
            if let Some(number) = number {
                write!(line, " {number}").unwrap();
            }
            self.0.push(line);
        }

        fn end(&mut self) {
            self.0.push(String::from("end"));
        }
    }

    #[test]
    fn choices_and_enumerations_have_the_numbers_of_the_encoding() {
        // TS 36.331 §6.2.2: MasterInformationBlock with 50 resource blocks, and a paging message.
        let mut names = Names::default();
        let message = [0b0111_0000, 0, 0];
        let decoded = crate::decode(RrcPdu::LteBcchBch, &message).unwrap();
        visit(RrcPdu::LteBcchBch, &decoded.value, &mut names);
        assert_eq!(names.0[..4], ["-", "message", "dl-Bandwidth 3", "end"]);
        assert_eq!(names.0.iter().filter(|name| *name == "end").count() * 2, names.0.len());
    }

    #[test]
    fn an_alternative_has_its_place_and_an_item_no_name() {
        // TS 36.331 §6.2.2: a request of the device for a connection, establishment cause mo-Data.
        let message = [0x40, 0, 0, 0, 0, 0x08];
        let decoded = crate::decode(RrcPdu::LteUlCcch, &message).unwrap();
        let mut names = Names::default();
        visit(RrcPdu::LteUlCcch, &decoded.value, &mut names);
        assert_eq!(names.0[1], "message 0");
        assert_eq!(names.0[2], "c1 1");
    }
}
