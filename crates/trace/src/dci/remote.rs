//! NG-Scope's service over UDP, which sends each subframe when it has decoded it.
//!
//! A client asks with [`REQUEST`], and is sent datagrams until the service ends. A datagram holds
//! messages one after the other, each begun by one byte four times. What follows is a structure of
//! C as x86-64 and AArch64 lay it out, little-endian:
//!
//! | byte | message | what follows |
//! |---|---|---|
//! | `AA` alone | the request is granted | nothing |
//! | `BB` | configuration, 12 bytes | cells u8 at 0, resource blocks of four cells u16 at 2, RNTI u16 at 10 |
//! | `AA` | one user, version u8, 40 bytes | no resource blocks: nothing follows from it |
//! | `AB` | a subframe of a cell, version u8, 856 bytes | cell u8 at 0, time in µs u64 at 8, TTI u16 at 16, number of users u8 at 52, users at 56 |
//! | `FF` | the service ends | nothing |
//!
//! A user has 20 bytes: RNTI u16 at 0; downlink bits u32 at 4, resource blocks u8 at 8, resource
//! blocks whose block has no known size u8 at 9; uplink the same at 12, 16 and 17. `AB` is in the
//! branch of NG-Scope that UECellTracker needs.

use core::time::Duration;

use super::line::{BITS, FRAME, PRB};
use super::{Block, Counts, Dci, Direction, Heard, Moment};

/// Asks the service for its messages.
pub const REQUEST: [u8; 4] = [0xCC; 4];

const CONFIG: u8 = 0xBB;
const USER: u8 = 0xAA;
const SUBFRAME: u8 = 0xAB;
const END: u8 = 0xFF;

const CONFIG_LEN: usize = 12;
const USER_LEN: usize = 40;
const SUBFRAME_LEN: usize = 856;
const CELLS: usize = 4;
/// Users of a subframe at most, and the bytes of each.
const USERS: usize = 40;
const ENTRY_LEN: usize = 20;

/// The only version of `AA` and `AB`.
const VERSION: u8 = 0;

/// A datagram that is left out from where this is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadDatagram {
    /// It does not begin as a message does.
    #[error("byte {at}: no message of NG-Scope begins so")]
    Kind {
        /// Where.
        at: usize,
    },
    /// It has another version.
    #[error("byte {at}: version {version}, {VERSION} is known")]
    Version {
        /// Where.
        at: usize,
        /// Which.
        version: u8,
    },
    /// It ends within a message.
    #[error("byte {at}: {len} bytes of a message that has {wanted}")]
    Short {
        /// Where the message begins.
        at: usize,
        /// Its bytes that are there.
        len: usize,
        /// What there should be.
        wanted: usize,
    },
    /// A number is outside of its range.
    #[error("byte {at}: {name} is {value}, {most} at most")]
    Range {
        /// Where the message begins.
        at: usize,
        /// Which number.
        name: &'static str,
        /// What it is.
        value: u64,
        /// The most that it may be.
        most: u64,
    },
}

/// Reads the datagrams of one service.
#[derive(Clone, Debug, Default)]
pub struct Remote {
    widths: [Option<u16>; CELLS],
    counts: Counts,
    of_one_user: u64,
}

impl Remote {
    /// Nothing was received yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// What was met so far; a bad line is a bad datagram.
    pub const fn counts(&self) -> Counts {
        self.counts
    }

    /// Messages about one user, which have no resource blocks.
    pub const fn of_one_user(&self) -> u64 {
        self.of_one_user
    }

    /// Applies a datagram.
    ///
    /// # Errors
    ///
    /// [`BadDatagram`] if the bytes are no such message: it is counted.
    pub fn handle_datagram(
        &mut self,
        datagram: &[u8],
        mut each: impl FnMut(Heard),
    ) -> Result<(), BadDatagram> {
        let outcome = self.read(datagram, &mut each);
        self.counts.bad += u64::from(outcome.is_err());
        outcome
    }

    fn read(&mut self, datagram: &[u8], each: &mut impl FnMut(Heard)) -> Result<(), BadDatagram> {
        let mut at = 0;
        while at < datagram.len() {
            let mut message = Cursor { at, rest: &datagram[at..] };
            let &[kind] = message.take::<1>()?;
            if message.take::<3>()? != &[kind; 3] {
                return Err(BadDatagram::Kind { at });
            }
            match kind {
                // Nothing behind it: the request is granted.
                USER if message.rest.is_empty() => {}
                USER => {
                    message.version()?;
                    message.take::<USER_LEN>()?;
                    self.of_one_user += 1;
                }
                CONFIG => self.handle_config(message.take::<CONFIG_LEN>()?),
                SUBFRAME => {
                    message.version()?;
                    self.handle_subframe(at, message.take::<SUBFRAME_LEN>()?, each)?;
                }
                END => {}
                _ => return Err(BadDatagram::Kind { at }),
            }
            at = datagram.len() - message.rest.len();
        }
        Ok(())
    }

    fn handle_config(&mut self, config: &[u8; CONFIG_LEN]) {
        let cells = usize::from(config[0]).min(CELLS);
        self.widths = [None; CELLS];
        for (cell, width) in self.widths.iter_mut().enumerate().take(cells) {
            let prb = short(config, 2 + 2 * cell);
            *width = (prb > 0 && PRB.contains(&prb.into())).then_some(prb);
        }
    }

    fn handle_subframe(
        &mut self,
        at: usize,
        subframe: &[u8; SUBFRAME_LEN],
        each: &mut impl FnMut(Heard),
    ) -> Result<(), BadDatagram> {
        let within = |name, value: u64, most: u64| {
            if value <= most { Ok(()) } else { Err(BadDatagram::Range { at, name, value, most }) }
        };
        let tti = short(subframe, 16);
        within("tti", tti.into(), FRAME.end().unsigned_abs() * 10 + 9)?;
        let users = subframe[52];
        within("number of users", users.into(), USERS as u64)?;
        let cell = subframe[0];
        let micros = u64::from(word(subframe, 8)) | u64::from(word(subframe, 12)) << 32;
        let moment = Moment {
            time: Duration::from_micros(micros),
            cell,
            frame: tti / 10,
            slot: (tti % 10) as u8,
        };
        let cell_prb = self.widths.get(usize::from(cell)).copied().flatten();
        let entries = subframe[56..].chunks_exact(ENTRY_LEN).take(users.into());
        for entry in entries.clone() {
            for bits in [word(entry, 4), word(entry, 12)] {
                within("bits", bits.into(), BITS.end().unsigned_abs())?;
            }
            for prb in [8, 16].map(|prb| u64::from(entry[prb]) + u64::from(entry[prb + 1])) {
                within("resource blocks", prb, PRB.end().unsigned_abs())?;
            }
        }
        // A subframe is known to be over also where it has messages of one direction, or of none.
        self.counts.silent += 1;
        each(Heard::Nothing(moment));
        for entry in entries {
            for (direction, bits, prb) in [(Direction::Downlink, 4, 8), (Direction::Uplink, 12, 16)]
            {
                let blocks = u16::from(entry[prb]) + u16::from(entry[prb + 1]);
                let bits = word(entry, bits);
                if blocks == 0 {
                    continue;
                }
                self.counts.messages += 1;
                each(Heard::Dci(Dci {
                    moment,
                    rnti: short(entry, 0),
                    direction,
                    prb: blocks,
                    cell_prb,
                    blocks: [(bits > 0).then_some(Block { bits, ..Block::default() }), None],
                    harq: None,
                }));
            }
        }
        Ok(())
    }
}

/// The rest of a datagram from the beginning of a message.
struct Cursor<'a> {
    at: usize,
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    fn take<const N: usize>(&mut self) -> Result<&'a [u8; N], BadDatagram> {
        let (taken, rest) = self.rest.split_first_chunk::<N>().ok_or(BadDatagram::Short {
            at: self.at,
            len: self.rest.len(),
            wanted: N,
        })?;
        self.rest = rest;
        Ok(taken)
    }

    fn version(&mut self) -> Result<(), BadDatagram> {
        let &[version] = self.take::<1>()?;
        if version == VERSION { Ok(()) } else { Err(BadDatagram::Version { at: self.at, version }) }
    }
}

fn short(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from(short(bytes, at)) | u32::from(short(bytes, at + 2)) << 16
}

/// Writes what a service sends, for tests and for modelled cells.
impl Remote {
    /// The configuration: the cells' resource blocks.
    pub fn emit_config(cell_prb: &[u16]) -> [u8; 4 + CONFIG_LEN] {
        let mut bytes = [0; 4 + CONFIG_LEN];
        bytes[..4].fill(CONFIG);
        bytes[4] = cell_prb.len().min(CELLS) as u8;
        for (cell, prb) in cell_prb.iter().take(CELLS).enumerate() {
            bytes[6 + 2 * cell..][..2].copy_from_slice(&prb.to_le_bytes());
        }
        bytes
    }

    /// A subframe with the messages of a cell, as many as there is room for; those of NR, which are
    /// wider, are cut.
    pub fn emit_subframe(moment: Moment, messages: &[Dci]) -> [u8; 5 + SUBFRAME_LEN] {
        let mut bytes = [0; 5 + SUBFRAME_LEN];
        bytes[..4].fill(SUBFRAME);
        let subframe = &mut bytes[5..];
        let micros = u64::try_from(moment.time.as_micros()).unwrap_or(u64::MAX);
        subframe[0] = moment.cell;
        subframe[8..16].copy_from_slice(&micros.to_le_bytes());
        let tti = (moment.frame % 1024) * 10 + u16::from(moment.slot % 10);
        subframe[16..18].copy_from_slice(&tti.to_le_bytes());
        subframe[52] = messages.len().min(USERS) as u8;
        for (entry, dci) in subframe[56..].chunks_exact_mut(ENTRY_LEN).zip(messages) {
            let (bits, prb) = match dci.direction {
                Direction::Downlink => (4, 8),
                Direction::Uplink => (12, 16),
            };
            let sum =
                dci.blocks.iter().flatten().map(|block| block.bits).fold(0, u32::saturating_add);
            entry[..2].copy_from_slice(&dci.rnti.to_le_bytes());
            entry[bits..bits + 4].copy_from_slice(&sum.to_le_bytes());
            entry[prb] = u8::try_from(dci.prb).unwrap_or(u8::MAX);
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use alloc::vec::Vec;

    const MOMENT: Moment = Moment {
        time: Duration::from_micros(1_700_000_000_000_123),
        cell: 1,
        frame: 1023,
        slot: 9,
    };

    fn dci(rnti: u16, direction: Direction, prb: u16, bits: u32) -> Dci {
        let block = Block { bits, ..Block::default() };
        let blocks = [(bits > 0).then_some(block), None];
        Dci { moment: MOMENT, rnti, direction, prb, cell_prb: None, blocks, harq: None }
    }

    fn read(remote: &mut Remote, datagram: &[u8]) -> (Vec<Heard>, Result<(), BadDatagram>) {
        let mut heard = Vec::new();
        let outcome = remote.handle_datagram(datagram, |one| heard.push(one));
        (heard, outcome)
    }

    #[test]
    fn a_subframe_is_read_as_written() {
        let sent = [
            dci(61, Direction::Downlink, 20, 18_336),
            dci(62, Direction::Uplink, 4, 328),
            dci(63, Direction::Downlink, 10, 0),
        ];
        let (heard, outcome) = read(&mut Remote::new(), &Remote::emit_subframe(MOMENT, &sent));
        let wanted = [Heard::Nothing(MOMENT)].into_iter().chain(sent.map(Heard::Dci));
        assert_eq!((heard, outcome), (wanted.collect(), Ok(())));
    }

    #[test]
    fn a_cell_is_as_wide_as_the_configuration_says() {
        let mut remote = Remote::new();
        let mut datagram = Remote::emit_config(&[100, 50]).to_vec();
        datagram.extend(Remote::emit_subframe(MOMENT, &[dci(61, Direction::Downlink, 9, 80)]));
        let (heard, outcome) = read(&mut remote, &datagram);
        let Heard::Dci(dci) = heard[1] else { panic!("a message: {heard:?}") };
        assert_eq!((dci.cell_prb, outcome), (Some(50), Ok(())));
        assert_eq!(remote.counts(), Counts { messages: 1, silent: 1, bad: 0 });
    }

    #[test]
    fn messages_about_one_user_or_without_content_are_passed_over() {
        let mut remote = Remote::new();
        let mut datagram = [USER; 4].to_vec();
        assert_eq!(read(&mut remote, &datagram), (Vec::new(), Ok(())));
        datagram.resize(5 + USER_LEN, 0);
        datagram.extend([END; 4]);
        assert_eq!(read(&mut remote, &datagram), (Vec::new(), Ok(())));
        assert_eq!((remote.of_one_user(), remote.counts().bad), (1, 0));
    }

    #[test]
    fn a_datagram_that_is_cut_or_none_is_an_error_that_says_where() {
        let whole = Remote::emit_subframe(MOMENT, &[]);
        let mut remote = Remote::new();
        let error = read(&mut remote, &whole[..300]).1;
        assert_eq!(error, Err(BadDatagram::Short { at: 0, len: 295, wanted: SUBFRAME_LEN }));
        let mut wrong = [[0xBB, 0xBB, 0xBB, 0xAA].to_vec(), whole.to_vec()].concat();
        assert_eq!(read(&mut remote, &wrong).1, Err(BadDatagram::Kind { at: 0 }));
        wrong = whole.to_vec();
        wrong[4] = 7;
        assert_eq!(read(&mut remote, &wrong).1, Err(BadDatagram::Version { at: 0, version: 7 }));
        wrong = whole.to_vec();
        wrong[5 + 52] = 41;
        let error = read(&mut remote, &wrong).1.expect_err("more users than there is room for");
        assert_eq!(error.to_string(), "byte 0: number of users is 41, 40 at most");
        assert_eq!(remote.counts().bad, 4);
    }
}
