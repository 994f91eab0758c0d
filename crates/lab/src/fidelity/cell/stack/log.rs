//! The stack's own logs. It ran slower than real time, so times are counted in TTIs.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::Path;

use super::{Phase, Run};

/// The stream's packets with PDCP's header, and those of the upload that follows it.
const STREAM: u64 = 1_252;
const UPLOAD: u64 = 1_502;
/// The largest ACK with PDCP's header.
const ACK: u64 = 200;
/// TTIs are counted so far.
const TURN: i64 = 10_240;

/// A line of the device's log that counts here, and its TTI.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Line {
    /// A packet of so many bytes entered RLC.
    Entered(u64),
    /// A report; whether the buffer was empty.
    Report { empty: bool },
    /// A block was built.
    Block,
    /// A request went out on PUCCH.
    Request,
}

/// Counts TTIs without wrap.
#[derive(Debug, Default)]
struct Clock(Option<i64>);

impl Clock {
    /// The TTI of this line, or of the last before it that had one.
    fn date(&mut self, line: &str) -> Option<i64> {
        if let Some(tti) = tti(line) {
            let ahead = |now: i64| (tti - now + TURN / 2).rem_euclid(TURN) - TURN / 2;
            self.0 = Some(self.0.map_or(tti, |now| now + ahead(now).max(0)));
        }
        self.0
    }
}

/// `2026-11-27T05:01:42.815227 [MAC    ] [I] [  299] …`
fn tti(line: &str) -> Option<i64> {
    let (_, rest) = line.split_once("] [I] [")?;
    let layer = line.split_once('[')?.1;
    if !(layer.starts_with("MAC") || layer.starts_with("PHY")) {
        return None;
    }
    rest.split_once(']')?.0.trim().parse().ok()
}

/// The bytes of `Tx SDU (1252 B, …`, or `Rx SDU (1252 B)`.
fn bytes(line: &str, what: &str) -> Option<u64> {
    let (_, rest) = line.split_once(what)?;
    rest.split_once(" B")?.0.parse().ok()
}

fn read(line: &str) -> Option<Line> {
    if let Some(size) = bytes(line, "DRB1: Tx SDU (") {
        return Some(Line::Entered(size));
    }
    if line.contains("PUCCH") && line.contains("sr=yes") {
        return Some(Line::Request);
    }
    if !line.contains("[MAC ") {
        return None;
    }
    if line.contains("New TX") {
        return Some(Line::Block);
    }
    if let Some((_, rest)) = line.split_once("SBSR: lcg=") {
        let index = rest.split_once("b=")?.1.split(' ').next()?;
        return Some(Line::Report { empty: index == "0" });
    }
    let (_, rest) = line.split_once("LBSR: b=")?;
    Some(Line::Report { empty: rest.split(' ').take(4).all(|index| index == "0") })
}

/// Reads the run with this timer from the folder; `None` if it is not there.
pub fn run(folder: &Path, timer_ms: u64) -> Option<Run> {
    let open = |name: &str| {
        let file = File::open(folder.join(format!("a{timer_ms}.{name}.log.zst"))).ok()?;
        let unpacked = ruzstd::decoding::StreamingDecoder::new(BufReader::new(file)).ok()?;
        Some(BufReader::new(unpacked).split(b'\n').map_while(Result::ok))
    };
    let mut clock = Clock::default();
    let mut lines = Vec::new();
    let mut wall = Vec::new();
    for line in open("ue")? {
        let line = String::from_utf8_lossy(&line);
        let Some(at) = clock.date(&line) else { continue };
        wall.extend(seconds(&line).map(|wall| (at, wall)));
        lines.extend(read(&line).map(|line| (at, line)));
    }
    let mut arrived = Vec::new();
    let mut clock = Clock::default();
    for line in open("enb")? {
        let line = String::from_utf8_lossy(&line);
        let Some(at) = clock.date(&line) else { continue };
        arrived.extend(bytes(&line, "DRB1: Rx SDU (").map(|_| at));
    }
    let of = |line: &(i64, Line)| match line.1 {
        Line::Entered(size) => Some((line.0, size)),
        _ => None,
    };
    // The bearer loses nothing and keeps the order.
    let packets: Vec<Packet> = lines.iter().filter_map(of).zip(arrived).map(packet).collect();
    let upload_ends = packets.iter().rev().find(|packet| packet.size == UPLOAD)?.at;
    let is_stream = |packet: &&Packet| packet.size == STREAM;
    let is_ack = |packet: &&Packet| packet.at > upload_ends && packet.size < ACK;
    let stream: Vec<&Packet> = packets.iter().filter(is_stream).collect();
    let acks: Vec<&Packet> = packets.iter().filter(is_ack).collect();
    let begins = stream.first()?.at;
    let pace = pace(&wall, begins)?;
    let pings = fs::read_to_string(folder.join(format!("a{timer_ms}.ping_idle"))).ok()?;
    let pings = pings
        .lines()
        .filter_map(|line| line.split_once("time=")?.1.split_once(" ms")?.0.parse::<f64>().ok());
    let round_trips = pings.map(|wall| wall * pace).collect();
    Some(Run {
        stream: phase(&lines, &stream),
        acks: phase(&lines, &acks),
        pings: Phase { delays_ms: round_trips, ..Phase::default() },
    })
}

/// A packet's TTI at the device, its size, and its delay.
struct Packet {
    at: i64,
    size: u64,
    delay: i64,
}

fn packet(((at, size), arrived): ((i64, u64), i64)) -> Packet {
    // The two logs begin in different cycles of the frame number.
    Packet { at, size, delay: (arrived - at + TURN / 2).rem_euclid(TURN) - TURN / 2 }
}

fn phase(lines: &[(i64, Line)], packets: &[&Packet]) -> Phase {
    let span =
        packets.first().map_or(0, |first| first.at)..=packets.last().map_or(0, |last| last.at);
    let within: Vec<_> = lines.iter().filter(|(at, _)| span.contains(at)).collect();
    let mut phase = Phase {
        delays_ms: packets.iter().map(|packet| packet.delay as f64).collect(),
        ..Phase::default()
    };
    for (place, (at, line)) in within.iter().enumerate() {
        match line {
            Line::Report { empty } => {
                phase.reports += 1;
                phase.empty += usize::from(*empty);
            }
            Line::Request => {
                let block = within[place..].iter().find(|(_, line)| *line == Line::Block);
                phase.answers_ms.extend(block.map(|(block, _)| (block - at) as f64));
            }
            Line::Entered(_) | Line::Block => {}
        }
    }
    phase
}

/// TTIs in a millisecond of real time, until the stream begins: after the start, when the stack
/// waited for its peers.
fn pace(wall: &[(i64, f64)], begins: i64) -> Option<f64> {
    /// TTIs before the stream that are all of the idle phase.
    const IDLE: i64 = 10_000;
    let mut idle = wall.iter().filter(|(at, _)| (begins - IDLE..begins).contains(at));
    let (first, last) = (idle.next()?, idle.next_back()?);
    Some((last.0 - first.0) as f64 / (last.1 - first.1) / 1e3)
}

/// The seconds of the day of a line.
fn seconds(line: &str) -> Option<f64> {
    let time = line.split_once('T')?.1.split_once(' ')?.0;
    let mut parts = time.split(':').map(str::parse::<f64>);
    let mut next = || parts.next()?.ok();
    Some(next()? * 3_600.0 + next()? * 60.0 + next()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_log_are_packets_reports_blocks_and_requests() {
        let mac = |text: &str| format!("2026-11-27T05:01:42.815227 [MAC    ] [I] [  299] {text}");
        assert_eq!(read(&mac("UL 0:  New TX, RV=0, TBS=185")), Some(Line::Block));
        assert_eq!(
            read(&mac("UL SBSR: lcg=3 b=38 LCID=3 len=1332")),
            Some(Line::Report { empty: false })
        );
        assert_eq!(
            read(&mac("UL LCID=3 len=86 LBSR: b=0 0 0 0 ")),
            Some(Line::Report { empty: true })
        );
        assert_eq!(read(&mac("UL LBSR: b=0 0 0 53 ")), Some(Line::Report { empty: false }));
        assert_eq!(read(&mac("UL LCID=3 len=348")), None);
        let rlc = "2026-11-27T05:01:42.818220 [RLC    ] [I] DRB1: Tx SDU (1252 B, PDCP_SN=1056 tx_sdu_queue_len=2)";
        assert_eq!(read(rlc), Some(Line::Entered(1_252)));
        assert_eq!(seconds(rlc), Some(5.0 * 3_600.0 + 60.0 + 42.818_22));
        let mut clock = Clock::default();
        assert_eq!(clock.date(&mac("UL 0:  New TX")), Some(299));
        assert_eq!(clock.date(rlc), Some(299));
        assert_eq!(
            clock.date("2026 [PHY0   ] [I] [10239] PUCCH"),
            Some(299),
            "late, not a turn later"
        );
        assert_eq!(clock.date("2026 [PHY0   ] [I] [  301] PUCCH"), Some(301));
    }
}
