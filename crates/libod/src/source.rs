//! The source behind a handle.

mod board;
mod capture;
mod device;
mod feed;
mod pass;

use std::os::fd::RawFd;

use sounding_board::{Place, Reader};
use sounding_estimate::Direction;

use crate::delay::Delay;
use crate::error::Failure;
use crate::link::Link;
use crate::sample::Sample;

use board::Board;
use capture::Capture;
use device::Device;
use feed::Feed;

/// A source of KPIs, or the rate feed.
pub(crate) enum Source {
    Board(Board),
    Device(Box<Device>),
    Capture(Box<Capture>),
    Feed(Box<Feed>),
}

impl Source {
    pub(crate) fn open(text: &str) -> Result<Self, Failure> {
        let (kind, rest) = text.split_once(':').unwrap_or(("board", text));
        if rest.is_empty() {
            return Err(Failure::new(libc::EINVAL, "a source has a name"));
        }
        match kind {
            "board" => Ok(Self::Board(Board::new(Reader::open(&Place::to_read(rest)?)?))),
            "device" => Device::open(rest.parse()?).map(|device| Self::Device(Box::new(device))),
            "capture" => {
                Capture::open(rest.as_ref()).map(|capture| Self::Capture(Box::new(capture)))
            }
            "feed" => Feed::open(&Place::to_read(rest)?).map(|feed| Self::Feed(Box::new(feed))),
            _ => {
                let why = format_args!(
                    "{kind}: a source is board:NAME, device:SOURCE, capture:FILE or feed:NAME"
                );
                Err(Failure::new(libc::EINVAL, why))
            }
        }
    }

    pub(crate) fn subscribe(&mut self, name: &str) -> Result<usize, Failure> {
        match self {
            Self::Board(board) => board.subscribe(name),
            Self::Device(device) => device.subscribe(name),
            Self::Capture(capture) => capture.subscribe(name),
            Self::Feed(_) => Err(no_kpis()),
        }
    }

    /// Fills `samples` from the front; none is the end.
    pub(crate) fn read(&mut self, samples: &mut [Sample]) -> Result<usize, Failure> {
        match self {
            Self::Board(board) => board.read(samples),
            Self::Device(device) => device.read(samples),
            Self::Capture(capture) => capture.read(samples),
            Self::Feed(_) => Err(no_kpis()),
        }
    }

    pub(crate) fn latest(&mut self, kpi: usize) -> Result<Sample, Failure> {
        match self {
            Self::Board(board) => board.latest(kpi),
            Self::Device(device) => device.latest(kpi),
            Self::Capture(capture) => capture.latest(kpi),
            Self::Feed(_) => Err(no_kpis()),
        }
    }

    pub(crate) fn poll_fd(&mut self) -> Result<RawFd, Failure> {
        match self {
            Self::Board(board) => Ok(board.poll_fd()),
            Self::Device(device) => device.poll_fd(),
            Self::Capture(capture) => capture.poll_fd(),
            Self::Feed(feed) => Ok(feed.poll_fd()),
        }
    }

    pub(crate) fn link(&mut self, modem: Option<&str>, way: Direction) -> Result<Link, Failure> {
        match self {
            Self::Feed(feed) => feed.link(modem, way),
            Self::Capture(capture) => capture.link(modem, way),
            Self::Board(_) | Self::Device(_) => Err(no_link()),
        }
    }

    /// Adds at most `most` delays; none is the end.
    pub(crate) fn delays(&mut self, delays: &mut Vec<Delay>, most: usize) -> Result<(), Failure> {
        match self {
            Self::Feed(feed) => feed.delays(delays, most),
            Self::Capture(capture) => capture.delays(delays, most),
            Self::Board(_) | Self::Device(_) => Err(no_link()),
        }
    }
}

fn no_kpis() -> Failure {
    Failure::new(libc::EINVAL, "a feed has no KPIs: od_link() and od_delays() read it")
}

fn no_link() -> Failure {
    let why = "boards and devices have KPIs alone: open feed:NAME or capture:FILE";
    Failure::new(libc::EINVAL, why)
}

fn nothing_subscribed() -> Failure {
    Failure::new(libc::EINVAL, "nothing is subscribed: od_subscribe() first")
}

fn begun() -> Failure {
    Failure::new(libc::EBUSY, "reading has begun: subscribe before")
}

fn no_such_kpi(kpi: usize) -> Failure {
    Failure::new(libc::EINVAL, format_args!("{kpi} is no subscription of this handle"))
}

fn nothing_yet() -> Failure {
    Failure::new(libc::EAGAIN, "no sample has come")
}

fn full() -> Failure {
    let why = "the board is there and wakes no more readers, of this user or at all: close others, or read with od_latest()";
    Failure::new(libc::EUSERS, why)
}

fn gone() -> Failure {
    Failure::new(libc::EPIPE, "the source is gone")
}
