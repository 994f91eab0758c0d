//! What waits for one reader: whole frames, up to a limit.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Write};

use sounding_diag::session::Beside;
use sounding_units::HostInstant;

use super::frame::{self, Kind};
use super::limits::MAX_PAYLOAD;

/// Packets wait up to so many bytes: two seconds of 4 Mbit/s. Chosen.
pub(super) const MAX_WAITING: usize = 1 << 20;

/// News may wait beyond that. A reader that leaves more is not reading at all.
const MAX_NEWS: usize = 1 << 16;

/// Frames that have not left.
#[derive(Debug, Default)]
pub(super) struct Queue {
    bytes: VecDeque<u8>,
    /// Records that were dropped and not yet told.
    lost: u64,
}

impl Queue {
    /// Adds a line unchanged.
    pub(super) fn push_line(&mut self, line: &[u8]) {
        self.bytes.extend(line);
    }

    /// Adds a packet, or counts it as lost if there is no room for all of it.
    pub(super) fn push_packet(&mut self, at: HostInstant, packet: &[u8]) {
        if self.bytes.len() + packet.len() > MAX_WAITING || packet.len() > MAX_PAYLOAD {
            self.lost += 1;
            return;
        }
        self.tell_losses(at);
        frame::emit(Kind::Packet, at, packet, &mut self.bytes);
    }

    /// Adds news. False if the reader has left too many.
    pub(super) fn push_news(&mut self, at: HostInstant, news: &Beside) -> bool {
        frame::emit_news(news, at, &mut self.bytes);
        self.bytes.len() <= MAX_WAITING + MAX_NEWS
    }

    fn tell_losses(&mut self, at: HostInstant) {
        if self.lost > 0 {
            let records = std::mem::take(&mut self.lost);
            frame::emit_news(&Beside::Lost { records }, at, &mut self.bytes);
        }
    }

    /// Bytes that wait.
    pub(super) fn waiting(&self) -> usize {
        self.bytes.len()
    }

    /// Writes what an output without blocking takes.
    pub(super) fn write(&mut self, at: HostInstant, out: &mut impl Write) -> io::Result<()> {
        loop {
            if self.bytes.len() < MAX_WAITING / 2 {
                self.tell_losses(at);
            }
            let (first, _) = self.bytes.as_slices();
            if first.is_empty() {
                return Ok(());
            }
            match out.write(first) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(count) => drop(self.bytes.drain(..count)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::beside::{Decoder, Frame, Greeting};

    #[test]
    fn a_full_queue_loses_whole_records_and_tells_how_many() {
        let at = HostInstant::from_nanos(1);
        let mut queue = Queue::default();
        queue.push_line(&Greeting::new("x").line());
        const SENT: u64 = 3_000;
        for number in 0..SENT {
            queue.push_packet(at, &[&number.to_le_bytes()[..], &[0; 992]].concat());
            assert!(queue.waiting() <= MAX_WAITING + MAX_NEWS);
        }
        let mut bytes = Vec::new();
        queue.write(at, &mut bytes).expect("memory");
        queue.push_packet(at, &SENT.to_le_bytes());
        queue.write(at, &mut bytes).expect("memory");
        let mut decoder = Decoder::default();
        decoder.handle(&bytes);
        let (mut came, mut lost) = (Vec::new(), 0);
        while let Some(frame) = decoder.poll().expect("frames") {
            match frame {
                Frame::Packet(_, packet) => {
                    came.push(u64::from_le_bytes(*packet.first_chunk().expect("a number")));
                }
                Frame::News(Beside::Lost { records }) => lost += records,
                _ => {}
            }
        }
        assert_eq!(came.len() as u64 + lost, SENT + 1);
        assert!(lost > 1_000, "{lost}");
        assert_eq!(came.last(), Some(&SENT), "those after the losses come");
    }
}
