//! Transport-wide feedback: which packets a receiver got, and when
//! (draft-holmer-rmcat-transport-wide-cc-extensions-01, §3.1).

mod chunks;
#[cfg(test)]
mod tests;

use core::time::Duration;

use chunks::{Symbol, read_symbols, write_symbols};

/// The packet type of transport-layer feedback (RFC 4585, §6.1), and the format that the draft
/// takes.
pub(crate) const PACKET_TYPE: u8 = 205;
pub(crate) const FORMAT: u8 = 15;
/// Bytes before the chunks.
const HEADER: usize = 20;
/// Steps of a delta in a step of the reference time: 64 ms / 250 µs.
const TICKS_OF_REFERENCE: i64 = 256;
/// The reference time is a signed number of 24 bits.
const LEAST_REFERENCE: i64 = -(1 << 23);
const GREATEST_REFERENCE: i64 = (1 << 23) - 1;

/// A time on the clock of a feedback's sender: steps of 250 µs from an origin that only that sender
/// knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tick(i64);

impl Tick {
    /// The length of a step.
    pub const STEP: Duration = Duration::from_micros(250);
    /// The earliest time that a feedback can have as its reference.
    pub const MIN: Self = Self(LEAST_REFERENCE * TICKS_OF_REFERENCE);
    /// The latest one.
    pub const MAX: Self = Self(GREATEST_REFERENCE * TICKS_OF_REFERENCE);

    /// From steps of 250 µs, cut to the range from [`MIN`](Self::MIN) to [`MAX`](Self::MAX).
    pub fn from_steps(steps: i64) -> Self {
        Self(steps.clamp(Self::MIN.0, Self::MAX.0))
    }

    /// Steps of 250 µs since the clock's origin.
    pub const fn steps(self) -> i64 {
        self.0
    }

    /// This time without a delay, rounded to the nearest step; at the earliest [`MIN`](Self::MIN).
    #[must_use]
    pub fn without(self, delay: Duration) -> Self {
        let steps = (delay.as_micros() + Self::STEP.as_micros() / 2) / Self::STEP.as_micros();
        let steps = i64::try_from(steps).unwrap_or(i64::MAX);
        Self(self.0.saturating_sub(steps).max(Self::MIN.0))
    }

    /// The time since an earlier one; zero if it is later.
    pub fn since(self, earlier: Self) -> Duration {
        let steps = u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or_default();
        Duration::from_micros(steps.saturating_mul(250))
    }
}

/// Feedback about consecutive packets of a transport.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Feedback {
    /// The number of the synchronisation source that sends the feedback.
    pub sender: u32,
    /// The number of a source that it is about; of a transport with several it is one of them.
    pub media: u32,
    /// The transport-wide sequence number of the first packet.
    pub base: u16,
    /// Counts the feedback packets of its sender, modulo 256.
    pub count: u8,
    /// In steps of 64 ms. Without any arrival nothing else has a time.
    reference: i32,
    /// The arrival of each packet from `base` on; `None` if it has not arrived.
    arrivals: Vec<Option<Tick>>,
}

/// Why bytes are not feedback.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FeedbackError {
    /// Another version, type or format.
    #[error("the packet is not transport-wide feedback")]
    Foreign,
    /// The bytes end before the packet does.
    #[error("the feedback is cut: {have} of at least {need} bytes")]
    Cut {
        /// Bytes that are there.
        have: usize,
        /// Bytes that are needed at least.
        need: usize,
    },
    /// No packet is described, or more of them than chunks.
    #[error("the feedback describes no packet")]
    Empty,
    /// A packet's symbol is the reserved one.
    #[error("the feedback has the reserved symbol for packet {0}")]
    Reserved(u16),
    /// Padding is longer than the packet.
    #[error("the feedback has more padding than bytes")]
    Padding,
    /// Two arrivals that follow each other are more than 8.19 s apart, or the first is too far from
    /// every reference time.
    #[error("the arrivals are too far apart for one feedback packet")]
    TooFarApart,
}

impl Feedback {
    /// Feedback on packets from the sequence number `base` on.
    ///
    /// # Errors
    ///
    /// [`FeedbackError::Empty`] without a packet or with more than 65 535;
    /// [`FeedbackError::TooFarApart`].
    pub fn new(
        (sender, media): (u32, u32),
        base: u16,
        count: u8,
        arrivals: Vec<Option<Tick>>,
    ) -> Result<Self, FeedbackError> {
        if arrivals.is_empty() || arrivals.len() > usize::from(u16::MAX) {
            return Err(FeedbackError::Empty);
        }
        let mut feedback = Self { sender, media, base, count, reference: 0, arrivals };
        feedback.settle()?;
        Ok(feedback)
    }

    /// Reads one RTCP packet, header included. Bytes after it are ignored.
    ///
    /// # Errors
    ///
    /// Why it is not a feedback, or not a whole one.
    pub fn parse(bytes: &[u8]) -> Result<Self, FeedbackError> {
        let header: &[u8; HEADER] =
            bytes.first_chunk().ok_or(FeedbackError::Cut { have: bytes.len(), need: HEADER })?;
        let &[
            first,
            kind,
            length_high,
            length_low,
            s0,
            s1,
            s2,
            s3,
            m0,
            m1,
            m2,
            m3,
            base_high,
            base_low,
            statuses_high,
            statuses_low,
            r0,
            r1,
            r2,
            count,
        ] = header;
        if first >> 6 != 2 || first & 0x1F != FORMAT || kind != PACKET_TYPE {
            return Err(FeedbackError::Foreign);
        }
        let length = (usize::from(u16::from_be_bytes([length_high, length_low])) + 1) * 4;
        let whole = bytes
            .get(HEADER..length)
            .ok_or(FeedbackError::Cut { have: bytes.len(), need: length.max(HEADER) })?;
        let body = if first & 0x20 == 0 { whole } else { unpadded(whole)? };
        let statuses = u16::from_be_bytes([statuses_high, statuses_low]);
        let base = u16::from_be_bytes([base_high, base_low]);
        if statuses == 0 {
            return Err(FeedbackError::Empty);
        }
        // Sign extension from 24 bits.
        let reference = i32::from_be_bytes([r0, r1, r2, 0]) >> 8;
        let (symbols, mut deltas) = read_symbols(body, base, statuses)?;
        let mut at = i64::from(reference) * TICKS_OF_REFERENCE;
        let mut arrivals = Vec::with_capacity(symbols.len());
        for symbol in symbols {
            let cut = FeedbackError::Cut { have: bytes.len(), need: length + 1 };
            let delta = match symbol {
                Symbol::NotReceived => {
                    arrivals.push(None);
                    continue;
                }
                Symbol::Small => {
                    let (&delta, rest) = deltas.split_first().ok_or(cut)?;
                    deltas = rest;
                    i64::from(delta)
                }
                Symbol::Large => {
                    let (delta, rest) = deltas.split_first_chunk::<2>().ok_or(cut)?;
                    deltas = rest;
                    i64::from(i16::from_be_bytes(*delta))
                }
            };
            at += delta;
            arrivals.push(Some(Tick(at)));
        }
        let mut feedback = Self {
            sender: u32::from_be_bytes([s0, s1, s2, s3]),
            media: u32::from_be_bytes([m0, m1, m2, m3]),
            base,
            count,
            reference,
            arrivals,
        };
        feedback.settle()?;
        Ok(feedback)
    }

    /// The packets in order: sequence number, and arrival if it arrived.
    pub fn packets(&self) -> impl ExactSizeIterator<Item = (u16, Option<Tick>)> + '_ {
        let base = self.base;
        // At most 65 535 packets: the index fits.
        self.arrivals.iter().enumerate().map(move |(at, arrival)| {
            (base.wrapping_add(u16::try_from(at).unwrap_or(u16::MAX)), *arrival)
        })
    }

    /// Replaces the arrivals of the packets that have one.
    ///
    /// # Errors
    ///
    /// [`FeedbackError::TooFarApart`]; the feedback is then as before.
    pub fn correct(
        &mut self,
        mut corrected: impl FnMut(u16, Tick) -> Tick,
    ) -> Result<(), FeedbackError> {
        let packets: Vec<_> = self.packets().collect();
        let arrivals = packets
            .into_iter()
            .map(|(sequence, arrival)| Some(corrected(sequence, arrival?)))
            .collect();
        let before = core::mem::replace(&mut self.arrivals, arrivals);
        self.settle().inspect_err(|_| self.arrivals = before)
    }

    /// The packet's bytes, RTCP header included, with padding to a multiple of four.
    pub fn emit(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEADER + self.arrivals.len() * 2);
        bytes.extend([0x80 | FORMAT, PACKET_TYPE, 0, 0]);
        bytes.extend(self.sender.to_be_bytes());
        bytes.extend(self.media.to_be_bytes());
        bytes.extend(self.base.to_be_bytes());
        bytes.extend(u16::try_from(self.arrivals.len()).unwrap_or(u16::MAX).to_be_bytes());
        let [_, reference @ ..] = self.reference.to_be_bytes();
        bytes.extend(reference);
        bytes.push(self.count);
        let deltas: Vec<Option<i16>> = self.deltas().map(|delta| delta?.ok()).collect();
        let symbols: Vec<Symbol> = deltas.iter().map(|delta| Symbol::of(*delta)).collect();
        write_symbols(&symbols, &mut bytes);
        for delta in deltas.into_iter().flatten() {
            match u8::try_from(delta) {
                Ok(small) => bytes.push(small),
                Err(_) => bytes.extend(delta.to_be_bytes()),
            }
        }
        let padding = bytes.len().wrapping_neg() % 4;
        if padding > 0 {
            bytes[0] |= 0x20;
            bytes.resize(bytes.len() + padding - 1, 0);
            bytes.push(u8::try_from(padding).unwrap_or_default());
        }
        // 65 535 packets are at most 150 KB, far below the 256 KB that the length can say.
        let words = u16::try_from(bytes.len() / 4 - 1).unwrap_or(u16::MAX);
        bytes[2..4].copy_from_slice(&words.to_be_bytes());
        bytes
    }

    /// The delta of each packet that arrived, from the one before; the first from the reference
    /// time.
    fn deltas(&self) -> impl Iterator<Item = Option<Result<i16, FeedbackError>>> + '_ {
        let mut before = i64::from(self.reference) * TICKS_OF_REFERENCE;
        self.arrivals.iter().map(move |arrival| {
            let Tick(at) = (*arrival)?;
            let delta = i16::try_from(at - before).map_err(|_| FeedbackError::TooFarApart);
            before = at;
            Some(delta)
        })
    }

    /// Takes the latest reference time that is not after the first arrival, and checks that every
    /// delta can be written.
    fn settle(&mut self) -> Result<(), FeedbackError> {
        if let Some(Tick(first)) = self.arrivals.iter().copied().flatten().next() {
            let reference = first.div_euclid(TICKS_OF_REFERENCE);
            let reference = reference.clamp(LEAST_REFERENCE, GREATEST_REFERENCE);
            let before = core::mem::replace(
                &mut self.reference,
                i32::try_from(reference).unwrap_or_default(),
            );
            let fault = self.deltas().flatten().find_map(Result::err);
            if let Some(fault) = fault {
                self.reference = before;
                return Err(fault);
            }
        }
        Ok(())
    }
}

/// The body without its padding, whose last byte is its length.
fn unpadded(body: &[u8]) -> Result<&[u8], FeedbackError> {
    let padding = body.last().copied().map(usize::from).filter(|&padding| padding > 0);
    let rest = padding.and_then(|padding| body.len().checked_sub(padding));
    rest.and_then(|rest| body.get(..rest)).ok_or(FeedbackError::Padding)
}
