//! 0xB16B, PDCCH and PHICH indication: downlink control messages and the base station's answers to
//! uplink blocks.
//!
//! Versions 5, 25, 33, 34, 42. Source: docs/reference/diag.md, records and layouts; 5, 25 and 34
//! agree with captures field by field. A subframe has the number of results of each kind. Every
//! version reserves space for the maximum of each kind, whatever the numbers.

use super::common::{ACK, AGGREGATION, RNTI, SEARCH_SPACE};
use super::{RecordError, checked};
use crate::LogCode;
use crate::layout::{
    Bits, Block, Children, Count, Field, Layout, Node, Part, bits, flag, names, u8, u32, uint,
};
use crate::radio::{Rnti, Tti};

const HEADER: &[Field] =
    &[uint("version", u8(0)), uint("duplex_mode", bits(1, 1, 0)), uint("count", u8(3))];
const HEADER_V42: &[Field] = &[uint("ul_dl_configuration", bits(1, 5, 2))];

const SUBFRAME_V5: &[Field] = &[
    uint("pdcch_count", bits(0, 2, 0)),
    uint("frame", bits(0, 12, 3)),
    uint("subframe", bits(0, 16, 13)),
    flag("phich_present", 0, 17),
    flag("phich_1_present", 0, 18),
    uint("phich_frame", bits(0, 28, 19)),
    uint("phich_subframe", bits(4, 3, 0)),
    names("phich", bits(4, 4, 4), ACK),
    names("phich_1", bits(4, 5, 5), ACK),
];
const SUBFRAME: &[Field] = &[
    uint("pdcch_count", bits(0, 2, 0)),
    uint("phich_count", bits(0, 5, 3)),
    uint("frame", bits(0, 15, 6)),
    uint("subframe", bits(0, 19, 16)),
];

const PHICH: &[Part] = &[Part::Block(Block {
    size: 4,
    fields: &[&[
        uint("cell", bits(0, 2, 0)),
        flag("present", 0, 3),
        flag("second_present", 0, 4),
        names("answer", bits(0, 5, 5), ACK),
        names("second_answer", bits(0, 6, 6), ACK),
    ]],
})];

const MESSAGE: &[Field] = &[
    uint("cell", bits(0, 2, 0)),
    names("rnti", bits(0, 6, 3), RNTI),
    uint("payload_bits", bits(0, 13, 7)),
    names("aggregation", bits(0, 15, 14), AGGREGATION),
    names("search_space", bits(2, 0, 0), SEARCH_SPACE),
    uint("sps_grant", bits(2, 3, 1)),
    flag("new_downlink", 2, 4),
    uint("downlink_blocks", bits(2, 6, 5)),
];
const SLEEP_V42: &[Field] = &[
    uint("s0_index", bits(4, 4, 0)),
    uint("s1_index", bits(4, 9, 5)),
    uint("s2_index", bits(4, 14, 10)),
    uint("s3_index", bits(4, 19, 15)),
    flag("msleep", 4, 20),
    flag("usleep", 4, 21),
    uint("usleep_duration", bits(4, 26, 22)),
    flag("fake_subframe", 4, 27),
    flag("ul_dropped", 4, 28),
    flag("interference_active", 4, 29),
];

const PDCCH_V5: &[Part] = &[Part::Block(Block { size: 4, fields: &[MESSAGE] })];
const PDCCH: &[Part] = &[Part::Block(Block { size: 8, fields: &[MESSAGE] })];
const PDCCH_V42: &[Part] = &[Part::Block(Block { size: 8, fields: &[MESSAGE, SLEEP_V42] })];

const EVENTS_V42: Part = Part::Block(Block {
    size: 16,
    fields: &[&[
        uint("full_mode_events", u32(0)),
        uint("dl_subframe_count", u32(4)),
        flag("force_send_pdcch", 8, 0),
    ]],
});

const PDCCHS: Bits = bits(0, 2, 0);
const PHICHS: Bits = bits(0, 5, 3);

const fn subframe(size: u16, fields: &'static [&'static [Field]]) -> Part {
    Part::Block(Block { size, fields })
}

const fn phich(count: Count) -> Part {
    Part::List { name: "phich", count, parts: PHICH }
}

const fn pdcch(count: Count, parts: &'static [Part]) -> Part {
    Part::List { name: "pdcch", count, parts }
}

const fn report(parts: &'static [Part]) -> Part {
    Part::List { name: "subframes", count: Count::Says(u8(3)), parts }
}

pub(super) static LAYOUTS: &[Layout] = &[
    Layout {
        versions: &[5],
        parts: &[
            subframe(4, &[HEADER]),
            report(&[subframe(8, &[SUBFRAME_V5]), pdcch(Count::Of(PDCCHS, 8), PDCCH_V5)]),
        ],
    },
    Layout {
        versions: &[25],
        parts: &[
            subframe(4, &[HEADER]),
            report(&[
                subframe(4, &[SUBFRAME]),
                phich(Count::Of(PHICHS, 3)),
                pdcch(Count::Of(PDCCHS, 8), PDCCH),
            ]),
        ],
    },
    Layout {
        versions: &[33],
        parts: &[
            subframe(4, &[HEADER]),
            report(&[
                subframe(12, &[SUBFRAME]),
                phich(Count::Of(PHICHS, 5)),
                pdcch(Count::Of(PDCCHS, 8), PDCCH),
            ]),
        ],
    },
    Layout {
        versions: &[34],
        parts: &[
            subframe(4, &[HEADER]),
            report(&[
                subframe(12, &[SUBFRAME]),
                phich(Count::Of(PHICHS, 5)),
                pdcch(Count::Of(PDCCHS, 16), PDCCH),
            ]),
        ],
    },
    Layout {
        versions: &[42],
        parts: &[
            subframe(4, &[HEADER, HEADER_V42]),
            report(&[
                subframe(4, &[SUBFRAME]),
                phich(Count::Of(PHICHS, 7)),
                pdcch(Count::Of(PDCCHS, 16), PDCCH_V42),
                EVENTS_V42,
            ]),
        ],
    },
];

/// A run of PDCCH and PHICH indications.
#[derive(Clone, Copy)]
pub struct PdcchPhich<'a> {
    node: Node<'a>,
    version: u8,
}

/// One subframe with a result.
#[derive(Clone, Copy)]
pub struct IndicationSubframe<'a> {
    /// When; `None` if the record has no valid subframe.
    pub tti: Option<Tti>,
    node: Node<'a>,
    version: u8,
}

/// One control message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControlIndication {
    /// Serving cell, 0 for the primary.
    pub cell: u8,
    /// The addressee.
    pub rnti: Rnti,
    /// Length of the message in bits.
    pub payload_bits: u8,
    /// Control channel elements: 1, 2, 4 or 8.
    pub aggregation: u8,
    /// It assigns a new downlink transmission.
    pub new_downlink: bool,
    /// Downlink transport blocks it assigns.
    pub downlink_blocks: u8,
}

/// The base station's answer to an uplink block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Serving cell, 0 for the primary.
    pub cell: u8,
    /// It acknowledges the block.
    pub acknowledged: bool,
}

impl<'a> PdcchPhich<'a> {
    /// The log code.
    pub const CODE: LogCode = LogCode::new(0xB16B);

    /// Reads the body of a record.
    ///
    /// # Errors
    ///
    /// [`RecordError::Unsupported`] if the version is not described; [`RecordError::Corrupt`] if
    /// the body is too short for it.
    pub fn parse(body: &'a [u8]) -> Result<Self, RecordError> {
        let (node, _) = checked(Self::CODE, LAYOUTS, body)?;
        Ok(Self { node, version: node.read(u8(0)) as u8 })
    }

    /// The subframes, oldest first.
    pub fn subframes(&self) -> impl Iterator<Item = IndicationSubframe<'a>> + use<'a> {
        let version = self.version;
        self.node.list("subframes").map(move |node| {
            let (frame, subframe) = match version {
                5 => (bits(0, 12, 3), bits(0, 16, 13)),
                _ => (bits(0, 15, 6), bits(0, 19, 16)),
            };
            let tti = Tti::new(node.read(frame) as u16, node.read(subframe) as u8);
            IndicationSubframe { tti, node, version }
        })
    }
}

impl<'a> IndicationSubframe<'a> {
    /// The control messages.
    pub fn messages(&self) -> impl Iterator<Item = ControlIndication> + use<'a> {
        self.node.list("pdcch").map(|node| ControlIndication {
            cell: node.read(bits(0, 2, 0)) as u8,
            rnti: Rnti::from_number(node.read(bits(0, 6, 3))),
            payload_bits: node.read(bits(0, 13, 7)) as u8,
            aggregation: 1 << node.read(bits(0, 15, 14)),
            new_downlink: node.read(bits(2, 4, 4)) != 0,
            downlink_blocks: node.read(bits(2, 6, 5)) as u8,
        })
    }

    /// The answers to first or only blocks.
    pub fn answers(&self) -> impl Iterator<Item = Answer> + use<'a> {
        let own = (self.version == 5 && self.node.read(bits(0, 17, 17)) != 0)
            .then(|| Answer { cell: 0, acknowledged: self.node.read(bits(4, 4, 4)) != 0 });
        let listed: Children<'a> = self.node.list("phich");
        own.into_iter().chain(listed.filter(|node| node.read(bits(0, 3, 3)) != 0).map(|node| {
            Answer {
                cell: node.read(bits(0, 2, 0)) as u8,
                acknowledged: node.read(bits(0, 5, 5)) != 0,
            }
        }))
    }
}

impl core::fmt::Debug for PdcchPhich<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_list().entries(self.subframes()).finish()
    }
}

impl core::fmt::Debug for IndicationSubframe<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("IndicationSubframe").field("tti", &self.tti).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    /// Subframes of `size` bytes with one answer and two messages each, one after the other; the
    /// rest of each is filled with something.
    fn report(version: u8, head: usize, answers: usize, size: usize) -> Vec<u8> {
        let mut body = alloc::vec![version, 0, 0, 4];
        for subframe in 0..4_u32 {
            let start = body.len();
            body.resize(start + size, 0xEE);
            let word = 2 | 1 << 3 | 100 << 6 | subframe << 16;
            body[start..start + 4].copy_from_slice(&word.to_le_bytes());
            body[start + head..start + head + 4].copy_from_slice(&0x28_u32.to_le_bytes());
            let messages = start + head + 4 * answers;
            for at in [messages, messages + 8] {
                body[at..at + 4].copy_from_slice(&(44_u32 << 7 | 1 << 20).to_le_bytes());
            }
        }
        body
    }

    #[test]
    fn subframes_have_the_space_of_all_answers_and_messages_whatever_they_hold() {
        for (version, head, answers, size) in [(25, 4, 3, 80), (33, 12, 5, 96)] {
            let body = report(version, head, answers, size);
            let found = LAYOUTS.iter().find(|layout| layout.describes(version.into()));
            assert_eq!(
                found.map(|layout| layout.survey(&body).map(|found| found.unread)),
                Some(Ok(0))
            );
            let report = PdcchPhich::parse(&body).expect("it is described");
            let read: Vec<_> = report
                .subframes()
                .map(|one| {
                    let sizes = one.messages().map(|message| message.payload_bits);
                    (
                        one.tti,
                        sizes.collect::<Vec<_>>(),
                        one.answers().map(|a| a.acknowledged).collect(),
                    )
                })
                .collect();
            let wanted =
                (0..4).map(|at| (Tti::new(100, at), alloc::vec![44, 44], alloc::vec![true]));
            assert_eq!(read, wanted.collect::<Vec<_>>(), "version {version}");
            // A record without its last space is no whole one.
            assert!(PdcchPhich::parse(&body[..body.len() - 1]).is_err(), "version {version}");
        }
    }
}
