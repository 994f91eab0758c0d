//! Packet logs as mm-link writes them, so that mahimahi's own graph tools read them.

mod open;

use std::io::{self, Write};
use std::time::Duration;

use sounding_sim::LinkEvent;
use sounding_trace::{Opportunities, Schedule};
use sounding_units::{Bytes, HostInstant};

pub(crate) use open::open;

/// mm-link logs sizes with the 4-byte header of its TUN device, and opportunities of 1504 bytes.
const TUN_HEADER: u64 = 4;
const OPPORTUNITY: u64 = 1504;

/// The first lines of a log.
pub(crate) struct Header<'a> {
    /// `Uplink` or `Downlink`.
    pub(crate) direction: &'a str,
    /// Name of the trace.
    pub(crate) trace: &'a str,
    /// The log file itself.
    pub(crate) file: &'a str,
    pub(crate) command_line: &'a str,
    /// As mahimahi names it: `infinite` or `droptail [packets=100]`.
    pub(crate) queue: &'a str,
    /// Milliseconds of Unix time at which the link began.
    pub(crate) unix_millis: u128,
    pub(crate) delay: Duration,
}

/// The log of one direction.
pub(crate) struct LinkLog<W> {
    out: W,
    origin: HostInstant,
    /// Opportunities that were not written yet.
    ahead: Option<std::iter::Peekable<Opportunities>>,
    /// Number of written entries.
    written: u64,
    is_trace: bool,
}

/// A script's own lines would be taken for entries.
fn in_a_line(text: &str) -> String {
    text.replace(char::is_control, " ")
}

impl<W: Write> LinkLog<W> {
    pub(crate) fn new(
        mut out: W,
        header: &Header<'_>,
        schedule: Option<&Schedule>,
        origin: HostInstant,
    ) -> io::Result<Self> {
        let Header { direction, trace, file, command_line, queue, unix_millis, delay } = header;
        let [trace, file, command_line] = [trace, file, command_line].map(|text| in_a_line(text));
        writeln!(out, "# mahimahi mm-link ({direction}) [{trace}] > {file}")?;
        writeln!(out, "# command line: {command_line}")?;
        writeln!(out, "# queue: {queue}")?;
        writeln!(out, "# init timestamp: {unix_millis}")?;
        writeln!(out, "# base timestamp: 0")?;
        writeln!(out, "# mahimahi config: [delay {} ms] ", delay.as_millis())?;
        Ok(Self {
            out,
            origin,
            ahead: schedule.map(|schedule| schedule.opportunities().peekable()),
            written: 0,
            is_trace: matches!(schedule, Some(Schedule::Trace(_))),
        })
    }

    pub(crate) fn handle_event(&mut self, event: LinkEvent) -> io::Result<()> {
        match event {
            LinkEvent::Arrived { at, size } => {
                let millis = self.millis(at);
                self.write_opportunities_until(millis)?;
                writeln!(self.out, "{millis} + {}", logged(size))
            }
            LinkEvent::Departed { at, arrival, size, opportunities } => {
                let millis = self.millis(at);
                if self.is_trace {
                    self.write_opportunities_up_to(opportunities)?;
                } else {
                    self.write_opportunities_until(millis)?;
                }
                let delay = millis - self.millis(arrival).min(millis);
                writeln!(self.out, "{millis} - {} {delay}", logged(size))
            }
            LinkEvent::Dropped { at, size } => {
                let millis = self.millis(at);
                // A comment: mm-throughput-graph ends at the line that mm-link itself writes.
                writeln!(self.out, "# d {millis} 1 {}", logged(size))
            }
        }
    }

    /// Writes the unused opportunities, up to the end of the emulation.
    pub(crate) fn finish(mut self, end: HostInstant) -> io::Result<()> {
        let millis = self.millis(end);
        self.write_opportunities_until(millis)?;
        self.out.flush()
    }

    fn millis(&self, at: HostInstant) -> u128 {
        (at - self.origin).as_millis()
    }

    fn write_opportunities_until(&mut self, millis: u128) -> io::Result<()> {
        while let Some(ahead) = &mut self.ahead {
            let Some(at) = ahead.next_if(|at| at.as_millis() <= millis) else { break };
            self.write_opportunity(at)?;
        }
        Ok(())
    }

    fn write_opportunities_up_to(&mut self, count: u64) -> io::Result<()> {
        while self.written < count {
            let Some(at) = self.ahead.as_mut().and_then(Iterator::next) else { break };
            self.write_opportunity(at)?;
        }
        Ok(())
    }

    fn write_opportunity(&mut self, at: Duration) -> io::Result<()> {
        self.written += 1;
        writeln!(self.out, "{} # {OPPORTUNITY}", at.as_millis())
    }
}

fn logged(size: Bytes) -> u64 {
    size.count() + TUN_HEADER
}

#[cfg(test)]
mod tests {
    use super::*;
    use sounding_sim::{Link, QueueLimit};
    use sounding_trace::Trace;

    fn log(schedule: &Schedule, run: impl FnOnce(&mut Link<()>)) -> String {
        let origin = HostInstant::from_nanos(7_000_000_000);
        let header = Header {
            direction: "Uplink",
            trace: "a",
            file: "b",
            command_line: "c",
            queue: "infinite",
            unix_millis: 5,
            delay: Duration::from_millis(20),
        };
        let mut out = Vec::new();
        let mut log = LinkLog::new(&mut out, &header, Some(schedule), origin).unwrap();
        let mut link = Link::new(schedule, QueueLimit::packets(1), origin).logged();
        run(&mut link);
        let mut events = Vec::new();
        link.drain_events(&mut events);
        for event in events {
            log.handle_event(event).unwrap();
        }
        log.finish(origin + Duration::from_millis(4)).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_log_reads_as_mm_link_writes_it() {
        let schedule = Trace::from_millis(vec![1, 1, 3]).unwrap().into();
        let text = log(&schedule, |link| {
            let at = |micros: u64| HostInstant::from_nanos(7_000_000_000 + micros * 1_000);
            link.handle_packet(at(400), Bytes::new(1500), ());
            link.handle_packet(at(500), Bytes::new(40), ());
            link.handle_packet(at(1_700), Bytes::new(60), ());
            link.handle_time(at(3_000));
        });
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[0], "# mahimahi mm-link (Uplink) [a] > b");
        assert_eq!(
            lines[3..6],
            ["# init timestamp: 5", "# base timestamp: 0", "# mahimahi config: [delay 20 ms] "]
        );
        assert_eq!(
            lines[6..],
            [
                "0 + 1504",
                "0 + 44",
                "# d 0 1 44",
                "1 # 1504",
                "1 - 1504 1",
                "1 # 1504",
                "1 + 64",
                "3 # 1504",
                "3 - 64 2",
                "4 # 1504",
                "4 # 1504"
            ]
        );
    }
}
