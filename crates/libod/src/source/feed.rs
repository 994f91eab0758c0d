use std::os::fd::{AsRawFd, RawFd};

use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags};
use sounding_board::Place;
use sounding_estimate::Direction;
use sounding_feed::{FeedError, Newest};
use sounding_host::monotonic_now;

use crate::delay::Delay;
use crate::error::{Failure, code};
use crate::link::Link;

/// The rate feed of a daemon.
pub(crate) struct Feed {
    newest: Newest,
    /// Readable as the connection is. A program keeps this descriptor, also over a daemon's death.
    wait: Epoll,
    /// Number of the connection that it waits for.
    waits_for: u64,
}

impl Feed {
    pub(super) fn open(place: &Place) -> Result<Self, Failure> {
        let newest = Newest::open(&place.feed())?;
        let wait = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC).map_err(errno)?;
        let mut feed = Self { newest, wait, waits_for: 0 };
        feed.watch()?;
        Ok(feed)
    }

    /// Waits for the connection that there is. A closed one has left by itself.
    fn watch(&mut self) -> Result<(), Failure> {
        if let Some((stream, number)) = self.newest.connection()
            && number != self.waits_for
        {
            self.wait.add(stream, EpollEvent::new(EpollFlags::EPOLLIN, 0)).map_err(errno)?;
            self.waits_for = number;
        }
        Ok(())
    }

    /// Adds at most `most` of the delays that have come.
    pub(super) fn delays(&mut self, delays: &mut Vec<Delay>, most: usize) -> Result<(), Failure> {
        self.newest.handle_now(monotonic_now());
        self.watch()?;
        let heard = std::iter::from_fn(|| self.newest.poll_delay());
        delays.extend(heard.take(most).map(|heard| Delay::of_feed(&heard)));
        match (delays.is_empty(), self.newest.trouble()) {
            (false, _) => Ok(()),
            (true, Some(trouble)) => Err(Failure::new(libc::EPIPE, trouble)),
            (true, None) => {
                Err(again("no delay has come; a daemon's [feed] needs `delays = true`"))
            }
        }
    }

    pub(super) fn link(&mut self, modem: Option<&str>, way: Direction) -> Result<Link, Failure> {
        let now = monotonic_now();
        self.newest.handle_now(now);
        self.watch()?;
        if let Some(trouble) = self.newest.trouble() {
            return Err(Failure::new(libc::EPIPE, trouble));
        }
        let lines = self.newest.lines();
        let first = lines.first().ok_or_else(|| again("no line has come"))?;
        if modem.is_none() && lines.iter().any(|line| line.modem != first.modem) {
            return Err(Failure::new(libc::EINVAL, "the feed has several modems: name one"));
        }
        if let Some(line) = self.newest.line(modem, way) {
            return Ok(Link::of(line, now));
        }
        let name = modem.unwrap_or(&first.modem);
        if lines.iter().any(|line| line.modem == name) {
            return Err(again("no line of this direction has come"));
        }
        Err(Failure::new(libc::ENOENT, format_args!("the feed has no modem {name:?}")))
    }

    pub(super) fn poll_fd(&self) -> RawFd {
        self.wait.0.as_raw_fd()
    }
}

fn again(why: &str) -> Failure {
    Failure::new(libc::EAGAIN, why)
}

fn errno(error: nix::errno::Errno) -> Failure {
    std::io::Error::from(error).into()
}

impl From<FeedError> for Failure {
    fn from(error: FeedError) -> Self {
        let errno = match &error {
            FeedError::Open { source, .. } => code(source),
            _ => libc::EPIPE,
        };
        Self::new(errno, error)
    }
}
