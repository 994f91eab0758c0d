//! Records made from the tables themselves: every version of every record, filled with meaningless
//! numbers, with counts that fit what follows them. They carry no identities.

use sounding_diag::layout::{Bits, Count, Layout, Part};
use sounding_diag::{LogCode, LogRecord};
use sounding_units::ModemInstant;

/// A small, repeatable random generator: splitmix64.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut word = self.0;
        word = (word ^ word >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ word >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        word ^ word >> 31
    }

    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}

/// A body of exactly the length `layout` needs, of the given version.
pub(crate) fn body(code: LogCode, layout: &Layout, version: u32, numbers: &mut Numbers) -> Vec<u8> {
    let mut body = Vec::new();
    fill(layout.parts, numbers, &mut body);
    assert!(code.version_bits().write(version.into(), &mut body), "the version fits");
    body
}

/// A body of every version of every record, with its code.
pub(crate) fn bodies(seed: u64) -> Vec<(LogCode, Vec<u8>)> {
    let mut numbers = Numbers(seed);
    let mut bodies = Vec::new();
    for &code in sounding_diag::record::CODES {
        for layout in sounding_diag::record::layouts(code).into_iter().flatten() {
            for &version in layout.versions {
                bodies.push((code, body(code, layout, version, &mut numbers)));
            }
            if layout.versions.is_empty() {
                let mut body = Vec::new();
                fill(layout.parts, &mut numbers, &mut body);
                bodies.push((code, body));
            }
        }
    }
    bodies
}

/// A record around a body.
pub(crate) fn record(code: LogCode, body: &[u8]) -> LogRecord<'_> {
    let stamp = 55_000_000_000 << 16;
    LogRecord { code, at: ModemInstant::from_diag(stamp), stamp, radio: Some(1), body }
}

fn fill(parts: &[Part], numbers: &mut Numbers, body: &mut Vec<u8>) {
    let mut block = body.len();
    let mut roomy = None;
    for part in parts {
        match part {
            Part::Block(found) => {
                block = body.len();
                body.extend((0..found.size).map(|_| numbers.next() as u8));
            }
            Part::List { count, parts, .. } => {
                let items = match *count {
                    Count::Says(bits) => choose(bits, numbers, &mut body[block..]),
                    Count::Of(bits, room) => {
                        choose(bits, numbers, &mut body[block..]);
                        room
                    }
                    Count::Unless(flag, bits) => match flag.read(&body[block..]) {
                        0 => choose(bits, numbers, &mut body[block..]),
                        _ => 0,
                    },
                    Count::Fixed(count) => count,
                    Count::When(bits, numbers) => {
                        u16::from(numbers.contains(&bits.read(&body[block..])))
                    }
                    Count::Ones(bits) => bits
                        .read(&body[block..])
                        .count_ones()
                        .max(1)
                        .try_into()
                        .expect("64 at most"),
                };
                (0..items).for_each(|_| fill(parts, numbers, body));
            }
            Part::Counted { room, parts, .. } => {
                // Several lists may have the same room.
                let room = match roomy.replace(*room) {
                    Some(chosen) if chosen == *room => chosen.read(&body[block..]) as u16,
                    _ => choose(*room, numbers, &mut body[block..]),
                };
                body.push(numbers.below(u64::from(room) + 1) as u8);
                (0..room).for_each(|_| fill(parts, numbers, body));
            }
            Part::Mac { len, rnti, .. } => {
                // Few of the numbers there are have headers.
                if numbers.below(2) == 0 {
                    assert!(rnti.write(0, &mut body[block..]), "the identity fits");
                }
                let bytes = pdu(numbers.below(10) as usize, numbers);
                assert!(len.write(bytes.len() as u64, &mut body[block..]), "the length fits");
                body.extend(bytes);
            }
            Part::Opaque { len, .. } => {
                let bytes = numbers.below(4);
                assert!(len.write(bytes, &mut body[block..]), "the length fits");
                body.extend((0..bytes).map(|_| numbers.next() as u8));
            }
            Part::Rest { .. } | Part::Padding(_) => {}
            Part::NrControls { len } => {
                let elements = nr_elements(numbers.below(4), numbers);
                assert!(len.write(elements.len() as u64, &mut body[block..]), "the length fits");
                body.extend(elements);
            }
            Part::NrControl => body.extend(nr_elements(1, numbers)),
            Part::NrStatus { len, sn, wide } => {
                let bytes: Vec<u8> =
                    (0..3 + numbers.below(9)).map(|_| numbers.next() as u8).collect();
                assert!(len.write(bytes.len() as u64, &mut body[block..]), "the length fits");
                if numbers.below(2) == 0 {
                    assert!(sn.write(*wide, &mut body[block..]), "the length of numbers fits");
                }
                body.extend(bytes);
            }
            Part::Rlc { len } => {
                let bytes = numbers.below(10);
                assert!(len.write(bytes, &mut body[block..]), "the length fits");
                body.extend((0..bytes).map(|_| numbers.next() as u8));
            }
            Part::Chain => {
                for more in (0..numbers.below(3)).rev() {
                    body.extend([numbers.next() as u8 | 1, 0, 0, u8::from(more > 0)]);
                }
                body.extend([0; 4]);
            }
            Part::SubPackets { count, known } => {
                let packets = choose(*count, numbers, &mut body[block..]);
                for _ in 0..packets {
                    let sub = &known[numbers.below(known.len() as u64) as usize];
                    let version = match sub.versions {
                        [] => numbers.next() as u8,
                        known => known[numbers.below(known.len() as u64) as usize],
                    };
                    let start = body.len();
                    body.extend([sub.id, version, 0, 0]);
                    fill(sub.parts, numbers, body);
                    let len = (body.len() - start) as u16;
                    body[start + 2..start + 4].copy_from_slice(&len.to_le_bytes());
                }
            }
        }
    }
}

/// One to three of something, written where its count is.
fn choose(bits: Bits, numbers: &mut Numbers, block: &mut [u8]) -> u16 {
    let most = (1 << bits.width().min(2)) - 1;
    let chosen = 1 + numbers.below(most);
    assert!(bits.write(chosen, block), "a count lies within its block");
    chosen as u16
}

/// Subheaders of the channels and elements there are, cut wherever the length ends.
fn pdu(len: usize, numbers: &mut Numbers) -> Vec<u8> {
    let channels = [0x3A, 0x3D, 0x3E, 0x1F, 0x23, 0x63, 0x3B, 0x3C];
    (0..len).map(|_| channels[numbers.below(8) as usize]).collect()
}

/// Short and long buffer status reports and power headrooms, whole ones.
fn nr_elements(count: u64, numbers: &mut Numbers) -> Vec<u8> {
    let mut bytes = Vec::new();
    for _ in 0..count {
        match numbers.below(3) {
            0 => bytes.extend([61, numbers.next() as u8]),
            1 => bytes.extend([57, numbers.next() as u8, numbers.next() as u8]),
            _ => {
                let groups = numbers.next() as u8;
                let indexes = (0..groups.count_ones()).map(|_| numbers.next() as u8);
                let indexes: Vec<u8> = indexes.collect();
                bytes.extend([62, indexes.len() as u8 + 1, groups]);
                bytes.extend(indexes);
            }
        }
    }
    bytes
}
