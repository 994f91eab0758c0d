//! Records that are made while the modem runs.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};

use nix::sys::eventfd::{EfdFlags, EventFd};
use sounding_diag::LogCode;
use sounding_diag::hdlc::Deframer;
use sounding_diag::packet::Packet;
use sounding_units::HostInstant;

/// Maximum number of waiting pieces. Chosen: some seconds of a modelled modem's output.
const MOST: usize = 1 << 14;

/// Ends when the sender of records does.
#[derive(Clone, Debug)]
pub struct Feed {
    pieces: SyncSender<Piece>,
    awake: Arc<EventFd>,
}

/// The modem's end.
#[derive(Debug)]
pub struct Fed {
    begin: HostInstant,
    pieces: Receiver<Piece>,
    awake: Arc<EventFd>,
    deframer: Deframer,
    /// Bytes of the last piece that are still to be cut, and when they were made.
    rest: Piece,
    next: Option<FedRecord>,
    is_over: bool,
}

#[derive(Debug, Default)]
struct Piece {
    at: HostInstant,
    bytes: Vec<u8>,
    used: usize,
}

/// A record, as the payload of its frame.
#[derive(Debug)]
pub(super) struct FedRecord {
    pub(super) at: HostInstant,
    pub(super) code: LogCode,
    pub(super) payload: Vec<u8>,
}

/// A way for records into a simulated modem, which began at `begin` by the host's clock.
///
/// # Errors
///
/// The kernel's error, if it has no event descriptor left.
pub fn feed(begin: HostInstant) -> io::Result<(Feed, Fed)> {
    let flags = EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK;
    let awake = Arc::new(EventFd::from_value_and_flags(0, flags)?);
    let (sender, pieces) = sync_channel(MOST);
    let fed = Fed {
        begin,
        pieces,
        awake: Arc::clone(&awake),
        deframer: Deframer::new(),
        rest: Piece::default(),
        next: None,
        is_over: false,
    };
    Ok((Feed { pieces: sender, awake }, fed))
}

impl Feed {
    /// Hands over bytes in HDLC frames that were made at `at`; false if the modem has ended or does
    /// not keep up. Never waits.
    pub fn send(&self, at: HostInstant, bytes: Vec<u8>) -> bool {
        let sent = self.pieces.try_send(Piece { at, bytes, used: 0 }).is_ok();
        // The write fails only if the counter is full, and then the modem is woken anyway.
        let _ = self.awake.write(1);
        sent
    }
}

impl Fed {
    pub(super) fn begin(&self) -> HostInstant {
        self.begin
    }

    /// Readable when there may be new data.
    pub(super) fn as_fd(&self) -> BorrowedFd<'_> {
        self.awake.as_fd()
    }

    /// Whether no more will come.
    pub(super) fn is_over(&self) -> bool {
        self.is_over && self.next.is_none()
    }

    /// The record that was made next, if it has come.
    pub(super) fn peek(&mut self) -> Option<&FedRecord> {
        while self.next.is_none() {
            let mut input = &self.rest.bytes[self.rest.used..];
            match self.deframer.poll_frame(&mut input) {
                Some(frame) => {
                    // Only log records of whole frames are made by a modem.
                    self.next = frame.ok().and_then(|frame| match Packet::parse(frame.payload) {
                        Ok(Packet::Log(log)) => Some(FedRecord {
                            at: self.rest.at,
                            code: log.code,
                            payload: frame.payload.to_vec(),
                        }),
                        _ => None,
                    });
                    self.rest.used = self.rest.bytes.len() - input.len();
                }
                None => {
                    // Before the check, so that later data is not missed. An empty read is no
                    // failure.
                    let _ = self.awake.read();
                    match self.pieces.try_recv() {
                        Ok(piece) => self.rest = piece,
                        Err(error) => {
                            self.rest = Piece::default();
                            self.is_over = error == TryRecvError::Disconnected;
                            return None;
                        }
                    }
                }
            }
        }
        self.next.as_ref()
    }

    pub(super) fn take(&mut self) -> Option<FedRecord> {
        self.peek()?;
        self.next.take()
    }
}
