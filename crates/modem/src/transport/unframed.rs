use std::collections::VecDeque;
use std::io;
use std::time::Duration;

use sounding_diag::capture::{Damage, Format, Kind, Reader, emit_unframed};
use sounding_diag::packet::Packet;

use super::{Framing, Read, Transport};

/// A port whose modem has the HDLC framing switched off: `7E 01`, a length, the packet, `7E`, both
/// ways.
///
/// It returns packets, as a router does, so that its callers need not know. A stretch that is no
/// packet is returned as one without a byte, which every reader counts as damage.
#[derive(Debug)]
pub struct Unframed {
    port: Box<dyn Transport>,
    reader: Reader,
    /// Packets that have been found and not been given yet.
    found: VecDeque<Vec<u8>>,
    chunk: Vec<u8>,
}

impl Unframed {
    /// Over a port that brings bytes.
    pub fn new(port: Box<dyn Transport>) -> Self {
        let reader = Reader::of(Kind::of(Format::NonHdlc));
        Self { port, reader, found: VecDeque::new(), chunk: vec![0; super::READ_SIZE] }
    }

    /// Finds the packets in this many bytes of the chunk.
    fn cut(&mut self, count: usize) {
        let mut bytes = &self.chunk[..count];
        while let Some(found) = self.reader.poll_packet(&mut bytes) {
            self.found.push_back(payload(found.map(|located| located.packet)));
        }
    }
}

/// The bytes of a packet; empty for damage, or for a packet that is too long to be written.
fn payload(found: Result<Packet<'_>, Damage>) -> Vec<u8> {
    let mut payload = Vec::new();
    if let Ok(packet) = found {
        let _ = packet.emit(&mut payload);
    }
    payload
}

impl Transport for Unframed {
    fn read(&mut self, buffer: &mut [u8], patience: Duration) -> io::Result<Read> {
        if self.found.is_empty() {
            match self.port.read(&mut self.chunk, patience)? {
                Read::Bytes(count) => self.cut(count),
                Read::Idle => return Ok(Read::Idle),
                Read::Closed => match self.reader.poll_end() {
                    Some(last) => self.found.push_back(payload(last.map(|located| located.packet))),
                    None => return Ok(Read::Closed),
                },
            }
        }
        let Some(packet) = self.found.pop_front() else { return Ok(Read::Idle) };
        let count = packet.len().min(buffer.len());
        buffer[..count].copy_from_slice(&packet[..count]);
        Ok(Read::Bytes(count))
    }

    fn send(&mut self, payload: &[u8]) -> io::Result<()> {
        let mut frame = Vec::new();
        emit_unframed(payload, &mut frame).map_err(|_| io::ErrorKind::InvalidInput)?;
        self.port.send_bytes(&frame)
    }

    fn send_bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.port.send_bytes(bytes)
    }

    fn framing(&self) -> Framing {
        Framing::Packet
    }

    fn takes_requests(&self) -> bool {
        self.port.takes_requests()
    }

    fn can_drain(&self) -> bool {
        self.port.can_drain()
    }

    fn drain(&mut self) -> io::Result<()> {
        self.port.drain()
    }
}
