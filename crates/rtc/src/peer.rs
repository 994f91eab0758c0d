//! A receiver of a call: it answers an unmodified WebRTC sender, and its feedback has corrected
//! arrivals.
//!
//! A stack of its own runs in it. RTP headers are readable although the payload is encrypted, so a
//! packet's sending time is known before the stack sees it. The stack is given each packet with its
//! corrected arrival, and writes that into its feedback.

mod frames;

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use sounding_units::HostInstant;
use str0m::change::SdpOffer;
use str0m::media::{KeyframeRequestKind, MediaData};
use str0m::net::{Protocol, Receive};
use str0m::{Candidate, Event, IceConnectionState, Input, Output, Rtc, RtcConfig};

use crate::rtp::{RtpHeader, SEND_TIME_NAME, extension_number};
use crate::{Corrections, Hold, HoldCounts, Way};
pub use frames::{FrameCounts, Frames};

/// Packets whose sending time is remembered for their frame: more than a key frame of 1 MB.
const REMEMBERED: usize = 1_024;
/// A lost frame is asked for again at most this often.
const KEY_FRAME_EVERY: Duration = Duration::from_millis(300);
/// What one step of the stack may put out before it is asked to stop.
const MOST_OUTPUTS: usize = 100_000;

/// Why a peer cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum PeerError {
    /// The offer is not a session description, or offers nothing that the peer can receive.
    #[error("the offer cannot be answered: {0}")]
    Offer(String),
    /// The stack failed.
    #[error("the call failed: {0}")]
    Call(String),
}

impl PeerError {
    fn call(error: impl std::fmt::Display) -> Self {
        Self::Call(error.to_string())
    }
}

/// What a peer puts out.
#[derive(Debug)]
pub enum PeerOutput {
    /// A datagram for an address.
    Datagram(SocketAddr, Vec<u8>),
    /// A packet went to the stack.
    Packet(Packet),
    /// A frame is complete.
    Frame(Frame),
    /// The sender is connected.
    Connected,
    /// The sender is gone.
    Disconnected,
    /// Nothing more until this time, or until a datagram comes.
    Wait(HostInstant),
}

/// An RTP packet of the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Its way.
    pub way: Way,
    /// The arrival that the sender reads in the feedback.
    pub corrected: HostInstant,
    /// Its bytes, headers of RTP included.
    pub bytes: usize,
}

/// A picture whose packets are all there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// When its first packet was sent, if that is known.
    pub sent: Option<HostInstant>,
    /// When its last packet really arrived.
    pub complete: HostInstant,
    /// Its capture on the sender's media clock, of 90 kHz, with an unknown origin.
    pub media_time: u64,
    /// Bytes of the picture.
    pub bytes: usize,
    /// No frame before it is missing.
    pub is_contiguous: bool,
}

/// A call's receiver, without I/O of its own.
#[derive(Debug)]
pub struct Peer<C> {
    rtc: Rtc,
    /// One moment on both clocks.
    start: (Instant, HostInstant),
    local: SocketAddr,
    send_time: Option<u8>,
    hold: Hold<C, (SocketAddr, Vec<u8>)>,
    /// The way of the packet that the stack got last.
    last: Option<Way>,
    /// Source, sequence number and sending time of the last packets.
    sent: VecDeque<(u32, u16, Option<HostInstant>)>,
    key_frame_asked: Option<HostInstant>,
    outputs: VecDeque<PeerOutput>,
    foreign: u64,
}

impl<C: Corrections> Peer<C> {
    /// Answers an offer, at a bound UDP address. Returns the peer and the answer's session
    /// description.
    ///
    /// # Errors
    ///
    /// [`PeerError::Offer`].
    pub fn answer(
        offer: &str,
        local: SocketAddr,
        (clock, now): (Instant, HostInstant),
        corrections: C,
    ) -> Result<(Self, String), PeerError> {
        let wrong = |error: &dyn std::fmt::Display| PeerError::Offer(error.to_string());
        let mut rtc =
            RtcConfig::new().clear_codecs().enable_vp8(true).set_ice_lite(true).build(clock);
        let candidate = Candidate::host(local, "udp").map_err(|error| wrong(&error))?;
        rtc.add_local_candidate(candidate);
        let parsed = SdpOffer::from_sdp_string(offer).map_err(|error| wrong(&error))?;
        let answer = rtc.sdp_api().accept_offer(parsed).map_err(|error| wrong(&error))?;
        let peer = Self {
            rtc,
            start: (clock, now),
            local,
            send_time: extension_number(offer, SEND_TIME_NAME),
            hold: Hold::new(corrections),
            last: None,
            sent: VecDeque::with_capacity(REMEMBERED),
            key_frame_asked: None,
            outputs: VecDeque::new(),
            foreign: 0,
        };
        Ok((peer, answer.to_sdp_string()))
    }

    /// The source of corrections.
    pub fn corrections_mut(&mut self) -> &mut C {
        self.hold.corrections_mut()
    }

    /// Packets by what became of their arrivals.
    pub fn counts(&self) -> HoldCounts {
        self.hold.counts()
    }

    /// Datagrams that were dropped because their address has not passed ICE's check.
    pub fn foreign(&self) -> u64 {
        self.foreign
    }

    /// A datagram arrived. What is malformed is dropped, and so is all but ICE's own from an
    /// address that has not passed its check: anybody may send to the port. Returns whether it
    /// belongs to the call.
    ///
    /// # Errors
    ///
    /// The stack cannot go on.
    pub fn handle_datagram(
        &mut self,
        now: HostInstant,
        source: SocketAddr,
        datagram: &[u8],
    ) -> Result<bool, PeerError> {
        let Some(input) = self.input(now, source, datagram) else { return Ok(false) };
        if !self.rtc.accepts(&input) {
            self.foreign += 1;
            return Ok(false);
        }
        let Some(header) = RtpHeader::parse(datagram) else {
            self.rtc.handle_input(input).map_err(PeerError::call)?;
            return Ok(true);
        };
        let sent = self.send_time.and_then(|number| header.sent(number, now));
        if self.sent.len() == REMEMBERED {
            self.sent.pop_front();
        }
        self.sent.push_back((header.source(), header.sequence(), sent));
        self.hold.handle_packet(Way { sent, arrived: now }, (source, datagram.to_vec()));
        Ok(true)
    }

    /// The next output.
    ///
    /// # Errors
    ///
    /// The stack cannot go on.
    pub fn poll(&mut self, now: HostInstant) -> Result<PeerOutput, PeerError> {
        if let Some(output) = self.outputs.pop_front() {
            return Ok(output);
        }
        while let Some((corrected, way, (source, datagram))) = self.hold.poll(now) {
            self.last = Some(way);
            let packet = Packet { way, corrected, bytes: datagram.len() };
            self.outputs.push_back(PeerOutput::Packet(packet));
            self.deliver(corrected, source, &datagram)?;
            self.drain(now)?;
        }
        self.rtc.handle_input(Input::Timeout(self.instant(now))).map_err(PeerError::call)?;
        let due = self.drain(now)?;
        let due = self.hold.wakeup(now).map_or(due, |wakeup| wakeup.min(due));
        self.outputs.push_back(PeerOutput::Wait(due));
        Ok(self.outputs.pop_front().unwrap_or(PeerOutput::Wait(due)))
    }

    fn instant(&self, at: HostInstant) -> Instant {
        self.start.0 + (at - self.start.1)
    }

    /// A datagram as the stack reads it; `None` if it is none of a call's.
    fn input<'a>(
        &self,
        at: HostInstant,
        source: SocketAddr,
        datagram: &'a [u8],
    ) -> Option<Input<'a>> {
        let contents = datagram.try_into().ok()?;
        let destination = self.local;
        let received = Receive { proto: Protocol::Udp, source, destination, contents };
        Some(Input::Receive(self.instant(at), received))
    }

    /// Gives the stack a packet that was held: its address may have lost its place meanwhile.
    fn deliver(
        &mut self,
        at: HostInstant,
        source: SocketAddr,
        datagram: &[u8],
    ) -> Result<(), PeerError> {
        match self.input(at, source, datagram).filter(|input| self.rtc.accepts(input)) {
            Some(input) => self.rtc.handle_input(input).map_err(PeerError::call),
            None => Ok(()),
        }
    }

    /// Takes what the stack puts out; when it wants to run again.
    fn drain(&mut self, now: HostInstant) -> Result<HostInstant, PeerError> {
        for _ in 0..MOST_OUTPUTS {
            match self.rtc.poll_output().map_err(PeerError::call)? {
                Output::Timeout(at) => {
                    return Ok(self.start.1 + at.saturating_duration_since(self.start.0));
                }
                Output::Transmit(out) => {
                    let datagram = PeerOutput::Datagram(out.destination, out.contents.to_vec());
                    self.outputs.push_back(datagram);
                }
                Output::Event(Event::Connected) => self.outputs.push_back(PeerOutput::Connected),
                Output::Event(Event::IceConnectionStateChange(
                    IceConnectionState::Disconnected,
                )) => {
                    self.outputs.push_back(PeerOutput::Disconnected);
                }
                Output::Event(Event::MediaData(data)) => self.handle_frame(now, &data),
                Output::Event(_) => {}
            }
        }
        Err(PeerError::Call("the stack does not come to rest".into()))
    }

    fn handle_frame(&mut self, now: HostInstant, data: &MediaData) {
        if !data.contiguous {
            self.ask_for_key_frame(now, data);
        }
        // A sequence number is the low half of an extended one.
        let first = (**data.seq_range.start() & 0xFFFF) as u16;
        let found = self.sent.iter().rev().find(|(_, sequence, _)| *sequence == first);
        self.outputs.push_back(PeerOutput::Frame(Frame {
            sent: found.and_then(|(_, _, sent)| *sent),
            // The packet that the stack got last completed it.
            complete: self.last.map_or(now, |way| way.arrived),
            media_time: data.time.numer(),
            bytes: data.data.len(),
            is_contiguous: data.contiguous,
        }));
    }

    fn ask_for_key_frame(&mut self, now: HostInstant, data: &MediaData) {
        if self.key_frame_asked.is_some_and(|at| now - at < KEY_FRAME_EVERY) {
            return;
        }
        self.key_frame_asked = Some(now);
        if let Some(mut writer) = self.rtc.writer(data.mid) {
            // A sender that does not understand it repeats the frame by itself, later.
            let _ = writer.request_keyframe(data.rid, KeyframeRequestKind::Pli);
        }
    }
}

#[cfg(test)]
mod tests;
