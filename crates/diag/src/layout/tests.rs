use std::format;
use std::string::String;

use super::{Block, Count, Layout, Part, Sink, SubLayout, Survey, Value, bits, names, u8, uint};

/// Every field in one line, lists in brackets.
#[derive(Default)]
struct Line(String);

impl Sink for Line {
    fn field(&mut self, name: &'static str, value: Value<'_>) {
        self.0 += &format!("{name}={value} ");
    }
    fn begin_list(&mut self, name: &'static str) {
        self.0 += &format!("{name}[");
    }
    fn begin_item(&mut self) {
        self.0.push('(');
    }
    fn end_item(&mut self) {
        self.0.push(')');
    }
    fn end_list(&mut self) {
        self.0 += "] ";
    }
}

fn line(layout: &'static Layout, body: &[u8]) -> Option<String> {
    let mut line = Line::default();
    layout.node(body).ok()?.visit(&mut line);
    Some(line.0)
}

const BYTE: &[Part] = &[Part::Block(Block { size: 1, fields: &[&[uint("b", u8(0))]] })];
const PAIR: &[Part] = &[Part::Block(Block {
    size: 2,
    fields: &[&[names("p", u8(0), &[(1, "one")]), uint("q", u8(1))]],
})];

const fn list(name: &'static str, count: Count, parts: &'static [Part]) -> Part {
    Part::List { name, count, parts }
}

const HEAD: Part = Part::Block(Block { size: 1, fields: &[&[uint("head", u8(0))]] });

#[test]
fn lists_after_one_block_are_there_by_its_bits() {
    static MASKED: Layout = Layout {
        versions: &[],
        parts: &[
            HEAD,
            list("a", Count::Says(bits(0, 0, 0)), BYTE),
            list("b", Count::Says(bits(0, 1, 1)), PAIR),
            list("c", Count::Says(bits(0, 2, 2)), BYTE),
        ],
    };
    assert_eq!(line(&MASKED, &[0]).unwrap(), "head=0 a[] b[] c[] ");
    assert_eq!(line(&MASKED, &[0b101, 7, 8]).unwrap(), "head=5 a[(b=7 )] b[] c[(b=8 )] ");
    assert_eq!(line(&MASKED, &[0b010, 1, 8]).unwrap(), "head=2 a[] b[(p=one q=8 )] c[] ");
    assert_eq!(line(&MASKED, &[0b111, 1, 8, 9]).as_deref(), None);
}

#[test]
fn lists_are_there_by_numbers_by_set_bits_or_always() {
    static COUNTED: Layout = Layout {
        versions: &[],
        parts: &[
            HEAD,
            list("few", Count::When(u8(0), &[1, 3]), BYTE),
            list("ones", Count::Ones(u8(0)), BYTE),
            list("two", Count::Fixed(2), BYTE),
        ],
    };
    let two = "two[(b=8 )(b=9 )] ";
    let body = [3, 5, 6, 7, 8, 9];
    let wanted = format!("head=3 few[(b=5 )] ones[(b=6 )(b=7 )] {two}");
    assert_eq!(line(&COUNTED, &body).unwrap(), wanted);
    assert_eq!(line(&COUNTED, &[0, 5, 8, 9]).unwrap(), format!("head=0 few[] ones[(b=5 )] {two}"));
    assert_eq!(line(&COUNTED, &[4, 5, 8]), None);
}

#[test]
fn announced_bytes_end_where_the_block_says_and_the_rest_with_the_body() {
    static OPEN: Layout = Layout {
        versions: &[],
        parts: &[
            HEAD,
            Part::Opaque { name: "some", len: u8(0) },
            Part::Block(Block { size: 1, fields: &[&[uint("tail", u8(0))]] }),
            Part::Rest { name: "rest" },
        ],
    };
    let body = [2, 0xAB, 0xCD, 9, 0xEF];
    assert_eq!(line(&OPEN, &body).unwrap(), "head=2 some=abcd tail=9 rest=ef ");
    assert_eq!(line(&OPEN, &[0, 9]).unwrap(), "head=0 some= tail=9 rest= ");
    assert_eq!(line(&OPEN, &body[..3]), None);
}

#[test]
fn a_control_element_is_as_long_as_it_says() {
    static ONE: Layout = Layout {
        versions: &[],
        parts: &[
            Part::NrControl,
            Part::Block(Block { size: 1, fields: &[&[uint("tail", u8(0))]] }),
        ],
    };
    let long = [62, 3, 0b101, 20, 30, 9];
    assert_eq!(
        line(&ONE, &long).unwrap(),
        "mac[(channel=long_bsr bsr_index_group_0=20 bsr_index_group_2=30 )] tail=9 "
    );
    let short = [61, 0b010_00111, 9];
    assert_eq!(
        line(&ONE, &short).unwrap(),
        "mac[(channel=short_bsr bsr_group=2 bsr_index=7 )] tail=9 "
    );
    assert!((0..long.len()).all(|len| line(&ONE, &long[..len]).is_none()));
}

#[test]
fn bytes_beyond_the_padding_are_unread_in_a_record_and_in_its_sub_packets() {
    static PADDED: Layout = Layout { versions: &[], parts: &[HEAD, Part::Padding(2)] };
    let unread = |body: &[u8]| PADDED.survey(body).map(|found| found.unread);
    assert_eq!(unread(&[7]), Ok(0));
    assert_eq!(unread(&[7, 0, 0]), Ok(0));
    assert_eq!(unread(&[7, 0, 0, 1, 2]), Ok(2));
    assert_eq!(line(&PADDED, &[7, 0, 0, 1, 2]).unwrap(), "head=7 ");
    static OUTER: Layout = Layout {
        versions: &[],
        parts: &[
            HEAD,
            Part::SubPackets {
                count: u8(0),
                known: &[SubLayout {
                    id: 5,
                    name: "padded",
                    versions: &[1],
                    parts: &[HEAD, Part::Padding(2)],
                }],
            },
        ],
    };
    // The contents of the first sub-packet fit. Those of the second take three bytes of eleven, and
    // a fourth fills the word. A byte follows the sub-packets.
    let body = [2, 5, 1, 7, 0, 9, 0, 0, 5, 1, 15, 0, 9, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 8];
    assert_eq!(OUTER.survey(&body), Ok(Survey { unread: 8, described: 2, missing: None }));
    let unknown = [1, 6, 2, 5, 0, 9];
    assert_eq!(OUTER.survey(&unknown), Ok(Survey { missing: Some((6, 2)), ..Survey::default() }));
}
