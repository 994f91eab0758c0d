//! The sniffers of the modem's cells: what they hear goes to the estimators, and what becomes of
//! them is reported.

use std::io;
use std::time::Duration;

use sounding_kpi::Direction;
use sounding_link::HEARD_VALID;
use sounding_modem::{Sniffer, SnifferSource, SnifferStatus};
use sounding_trace::dci::Heard;
use sounding_units::HostInstant;

use super::events::{Events, SnifferChange};

/// A sniffer may take this long to start before it is called silent; a quarter of it where it is
/// known that it is not there.
const STARTS: Duration = Duration::from_secs(1);

/// A sentence on the same sniffer at most this often, and what was left out at most as often: a
/// sniffer cannot fill a log.
const SENTENCE_EVERY: Duration = Duration::from_secs(10);

/// Messages of a sniffer that one call passes on: in 5 ms a cell has some fifty, and 200 in NR.
/// What comes faster waits, and then the oldest are dropped: no sniffer keeps the daemon from its
/// heartbeat.
const MOST_AT_ONCE: usize = 256;

/// All of them.
pub(super) struct Sniffers(Vec<Watched>);

struct Watched {
    sniffer: Sniffer,
    /// `None` before the first message, and before it is late.
    heard: Option<bool>,
    began: Option<HostInstant>,
    said: Option<HostInstant>,
    /// What was left out when that was last reported, and when it was.
    left_out: u64,
    reported: Option<HostInstant>,
}

impl Sniffers {
    /// Begins to read them; the n-th belongs to the device's n-th carrier.
    pub(super) fn start(sources: &[SnifferSource], direction: Direction) -> io::Result<Self> {
        let start = |(cell, source)| {
            Ok(Watched {
                sniffer: Sniffer::start(source, cell, direction)?,
                heard: None,
                began: None,
                said: None,
                left_out: 0,
                reported: None,
            })
        };
        (0..).zip(sources).map(start).collect::<io::Result<Vec<_>>>().map(Self)
    }

    /// Passes on what was heard since the last call, up to a limit, and reports what changed.
    pub(super) fn attend(
        &mut self,
        now: HostInstant,
        events: &mut Events,
        mut each: impl FnMut(HostInstant, &Heard),
    ) {
        for watched in &mut self.0 {
            for _ in 0..MOST_AT_ONCE {
                let Some((at, heard)) = watched.sniffer.poll() else { break };
                each(at, &heard);
            }
            watched.report(now, events);
        }
    }

    /// What was met of each.
    pub(super) fn counts(&self) -> Vec<(SnifferSource, SnifferStatus)> {
        let of = |watched: &Watched| {
            (watched.sniffer.source().clone(), watched.sniffer.status().clone())
        };
        self.0.iter().map(of).collect()
    }
}

impl Watched {
    fn report(&mut self, now: HostInstant, events: &mut Events) {
        let (sniffer, status) = (self.sniffer.source(), self.sniffer.status());
        let began = *self.began.get_or_insert(now);
        let heard = match status.heard_at {
            Some(at) => Some(now - at <= HEARD_VALID),
            None => {
                let starts = if status.problem.is_some() { STARTS / 4 } else { STARTS };
                (now - began > starts).then_some(false)
            }
        };
        let may_say = |last: Option<HostInstant>| last.is_none_or(|at| now - at >= SENTENCE_EVERY);
        if heard.is_some() && heard != self.heard {
            let heard = heard == Some(true);
            // The first two, its coming and its going, are always reported.
            let says = self.heard.is_none() || may_say(self.said);
            if says && self.heard.is_some() {
                self.said = Some(now);
            }
            let why_not = status.problem.as_deref().filter(|_| !heard);
            events.sniffer(now, &SnifferChange { sniffer, heard, why_not, says });
            self.heard = Some(heard);
        }
        let left_out = status.counts.bad + status.dropped + status.foreign + status.of_one_user;
        if left_out > self.left_out && may_say(self.reported) {
            events.sniffer_bad(now, sniffer, status);
            (self.left_out, self.reported) = (left_out, Some(now));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    use sounding_host::monotonic_now;
    use sounding_trace::dci::{Moment, Remote};

    use super::*;

    #[test]
    fn a_turn_ends_however_fast_a_sniffer_sends() {
        let service = UdpSocket::bind("127.0.0.1:0").expect("a socket");
        let source = format!("udp:{}", service.local_addr().expect("bound"));
        let sources = [source.parse().expect("a sniffer")];
        let mut sniffers = Sniffers::start(&sources, Direction::Downlink).expect("a thread");
        let (_, client) = service.recv_from(&mut [0; 16]).expect("a request");
        let mut events = Events::new(true).expect("a thread");
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                let datagram = Remote::emit_subframe(Moment::default(), &[]);
                while !over.load(Ordering::Relaxed) {
                    let _ = service.send_to(&datagram, client);
                }
            });
            let mut most = 0;
            while most < MOST_AT_ONCE {
                let mut taken = 0;
                // It takes longer than the sender needs.
                sniffers.attend(monotonic_now(), &mut events, |_, _| {
                    taken += 1;
                    thread::sleep(Duration::from_micros(100));
                    if taken > MOST_AT_ONCE {
                        over.store(true, Ordering::Relaxed);
                        panic!("{taken} messages in one turn");
                    }
                });
                most = most.max(taken);
            }
            over.store(true, Ordering::Relaxed);
        });
    }
}
