//! A record composed from named values decodes to the same names and values, in every version of
//! every record.

mod synthetic;
mod tree;

use sounding_diag::LogCode;
use sounding_diag::layout::{Count, Kind, Part, Value};
use sounding_diag::record::{self, EmitError, Form, compose};

use tree::{Builder, Item};

/// Splits a body by its layout.
struct Parts<'a> {
    body: &'a [u8],
    at: usize,
}

impl<'a> Parts<'a> {
    fn take(&mut self, len: usize) -> &'a [u8] {
        let taken = &self.body[self.at..self.at + len];
        self.at += len;
        taken
    }

    fn form(&mut self, parts: &'static [Part], mut form: Form) -> Form {
        let mut block: &[u8] = &[];
        for part in parts {
            match *part {
                Part::Block(found) => {
                    block = self.take(found.size.into());
                    for field in found.fields.iter().copied().flatten() {
                        let Some(value) = field.value(block) else { continue };
                        let wire = &block[field.bits.start()..field.end()];
                        form = match (value, field.kind) {
                            (Value::Uint(number), Kind::Network { .. })
                            | (
                                Value::Uint(number)
                                | Value::Hex(number, _)
                                | Value::Name(number, _),
                                _,
                            ) => form.number(field.name, number.cast_signed()),
                            (Value::Int(number), _) => form.number(field.name, number),
                            (Value::Flag(set), _) => form.number(field.name, i64::from(set)),
                            (Value::Scaled(level), _) => form.level(field.name, level),
                            (Value::Bytes(bytes), _) => form.bytes(field.name, bytes),
                            (Value::Plmn(_), _) => form.bytes(field.name, wire),
                        };
                    }
                }
                Part::List { name, count, parts } => {
                    let (used, slots) = match count {
                        Count::Says(bits) => (bits.read(block), bits.read(block)),
                        Count::Of(bits, room) => (bits.read(block).min(room.into()), room.into()),
                        Count::Unless(flag, bits) => {
                            let used = if flag.read(block) == 0 { bits.read(block) } else { 0 };
                            (used, used)
                        }
                        Count::Fixed(count) => (count.into(), count.into()),
                        Count::When(bits, numbers) => {
                            let used = u64::from(numbers.contains(&bits.read(block)));
                            (used, used)
                        }
                        Count::Ones(bits) => {
                            let used = u64::from(bits.read(block).count_ones().max(1));
                            (used, used)
                        }
                    };
                    let items = (0..used).map(|_| self.form(parts, Form::new())).collect();
                    (used..slots).for_each(|_| drop(self.form(parts, Form::new())));
                    form = form.list(name, items);
                }
                Part::Counted { name, room, parts } => {
                    let (count, room) = (u64::from(self.take(1)[0]), room.read(block));
                    let items = (0..count).map(|_| self.form(parts, Form::new())).collect();
                    (count..room).for_each(|_| drop(self.form(parts, Form::new())));
                    form = form.list(name, items);
                }
                Part::Mac { len, .. } | Part::NrControls { len } => {
                    form = form.bytes("mac", self.take(len.read(block) as usize));
                }
                Part::NrControl => {
                    let rest = &self.body[self.at..];
                    let len = match rest[0] & 63 {
                        62 => 2 + usize::from(rest[1]),
                        57 => 3,
                        _ => 2,
                    };
                    form = form.bytes("mac", self.take(len));
                }
                Part::Rlc { len } => form = form.bytes("rlc", self.take(len.read(block) as usize)),
                Part::NrStatus { len, .. } => {
                    form = form.bytes("status", self.take(len.read(block) as usize));
                }
                Part::Opaque { name, len } => {
                    form = form.bytes(name, self.take(len.read(block) as usize));
                }
                Part::Rest { name } => {
                    form = form.bytes(name, self.take(self.body.len() - self.at));
                }
                // Nothing follows it in a record without an end.
                Part::Padding(_) => {}
                Part::Chain => {
                    let start = self.at;
                    while self.take(4)[0] & 1 == 1 {}
                    form = form.bytes("chain", &self.body[start..self.at]);
                }
                Part::SubPackets { count, known } => {
                    let mut subs = Vec::new();
                    for _ in 0..count.read(block) {
                        let &[id, version, _, _] = self.take(4) else { unreachable!("four bytes") };
                        let mut found = known.iter();
                        let sub = found
                            .find(|sub| sub.id == id && sub.describes(version))
                            .expect("synthetic records have known sub-packets");
                        subs.push(self.form(sub.parts, Form::sub_packet(id, version)));
                    }
                    form = form.list("sub_packets", subs);
                }
            }
        }
        form
    }
}

fn decoded(code: LogCode, body: &[u8]) -> Item {
    let mut builder = Builder::new();
    record::decode(&synthetic::record(code, body), &mut builder).expect("it is a record");
    builder.finish()
}

#[test]
fn every_version_of_every_record_can_be_written() {
    for seed in 0..20 {
        for (code, body) in synthetic::bodies(seed) {
            let version = code.version_of(&body).unwrap_or_default();
            let mut described = record::layouts(code).into_iter().flatten();
            let layout = described.find(|layout| layout.describes(version)).expect("described");
            let form = Parts { body: &body, at: 0 }.form(layout.parts, Form::new());
            let mut written = Vec::new();
            compose(code, version, &form, &mut written)
                .unwrap_or_else(|error| panic!("{code} v{version:x}: {error}"));
            assert_eq!(written.len(), body.len(), "{code} v{version:x}");
            assert_eq!(decoded(code, &written), decoded(code, &body), "{code} v{version:x}");
        }
    }
}

#[test]
fn counts_and_lengths_follow_from_what_is_there() {
    let rlc = LogCode::new(0xB082);
    let pdu = Form::new().number("frame", 5).number("pdu_bytes", 1400).bytes("rlc", [0x80, 7]);
    let bearer = Form::sub_packet(65, 3).number("sn_bits", 10).list("pdus", vec![pdu.clone(), pdu]);
    let mut body = Vec::new();
    compose(rlc, 1, &Form::new().list("sub_packets", vec![bearer]), &mut body).unwrap();
    let record = decoded(rlc, &body);
    let [sub] = record.list("sub_packets") else { panic!("{record:?}") };
    assert_eq!((sub.number("pdu_count"), sub.number("len_bytes")), (Some(2), Some(38)));
    assert_eq!(sub.list("pdus")[1].number("logged_bytes"), Some(2));
    assert_eq!(sub.list("pdus")[1].number("sn"), Some(7));
}

#[test]
fn values_outside_a_record_are_refused_and_nothing_is_written() {
    let (code, mut body) = (LogCode::new(0xB14D), vec![1, 2]);
    let mut refused = |version, form: Form| compose(code, version, &form, &mut body).unwrap_err();
    let unknown = refused(102, Form::new().number("colour", 1));
    assert_eq!(unknown, EmitError::Unknown { field: "colour" });
    let range = refused(102, Form::new().number("cqi_0", 16));
    assert_eq!(range, EmitError::Range { field: "cqi_0", value: 16 });
    let kind = refused(102, Form::new().bytes("cqi_0", [1]));
    assert_eq!(kind, EmitError::Unknown { field: "cqi_0" });
    assert_eq!(refused(9, Form::new()), EmitError::Version { code, version: 9 });
    let announced = Form::new().number("pdu_count", 3).list("pdus", vec![Form::new()]);
    let mismatch = compose(LogCode::new(0xB083), 48, &announced, &mut body).unwrap_err();
    assert_eq!(mismatch, EmitError::Mismatch { list: "pdus", count: 1, announced: 3 });
    assert_eq!(body, [1, 2]);
}
