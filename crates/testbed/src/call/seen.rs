//! What was seen of a call, from the lines of its ends and the network's account.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use serde_json::Value as Json;
use sounding_units::HostInstant;

use super::Waited;

/// The sender's statistics at a time. Absent is what the stack does not report.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StatsSeen {
    /// When they were read.
    pub at: HostInstant,
    /// The estimate of what the path carries, bit/s.
    pub available: Option<f64>,
    /// What the encoder is asked for, bit/s.
    pub target: Option<f64>,
    /// The height of the pictures.
    pub height: Option<f64>,
    /// Pictures a second.
    pub frames_per_sec: Option<f64>,
    /// Bytes of media sent so far, without headers.
    pub sent_bytes: Option<f64>,
}

/// A packet at the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketSeen {
    /// When it was sent.
    pub sent: Option<HostInstant>,
    /// When it arrived.
    pub arrived: HostInstant,
    /// What the sender was told of that.
    pub corrected: HostInstant,
}

/// A frame at the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameSeen {
    /// When its first packet was sent. Of a call to the device: when its picture was given to the
    /// sender.
    pub sent: Option<HostInstant>,
    /// When its last packet arrived. Of a call to the device: when its picture was shown.
    pub complete: HostInstant,
}

/// A call.
#[derive(Clone, Debug, Default)]
pub struct CallSeen {
    /// The start of the network's time.
    pub started: HostInstant,
    /// The first picture.
    pub connected: Option<HostInstant>,
    /// The sender's statistics, every 100 ms.
    pub stats: Vec<StatsSeen>,
    /// Packets, in order of arrival.
    pub packets: Vec<PacketSeen>,
    /// Frames, as they were complete.
    pub frames: Vec<FrameSeen>,
    /// What the radio did to packets of the call's direction, in order of entry.
    pub waited: Vec<Waited>,
    /// The receiver's sums.
    pub summary: Json,
    /// When the modem was last heard.
    pub heard: Option<HostInstant>,
}

/// A queue that stands for so long is one (RFC 8289, §3.2).
const STANDS: Duration = Duration::from_millis(100);

impl CallSeen {
    pub(super) fn of(
        started: HostInstant,
        said: &str,
        log: &str,
        waited: Vec<Waited>,
        heard: Option<HostInstant>,
    ) -> Self {
        let mut seen = Self { started, waited, heard, ..Self::default() };
        // When the sender was given the picture of this number.
        let mut given: HashMap<u64, HostInstant> = HashMap::new();
        let at = |of: &Json, field: &str| of[field].as_u64().map(HostInstant::from_nanos);
        for line in said.lines().chain(log.lines()) {
            // The last line of a process that was ended may be cut.
            let Ok(line) = serde_json::from_str::<Json>(line) else { continue };
            let Some((kind, of)) = line.as_object().and_then(|line| line.iter().next()) else {
                continue;
            };
            let number = |field: &str| of[field].as_f64();
            let complete = at(of, "complete_ns").or(at(of, "shown_ns"));
            let numbered = of["number"].as_u64();
            match (kind.as_str(), at(of, "at_ns"), at(of, "arrived_ns"), complete) {
                ("stats", Some(at), ..) => seen.stats.push(StatsSeen {
                    at,
                    available: number("available_bits_per_sec"),
                    target: number("target_bits_per_sec"),
                    height: number("frame_height"),
                    frames_per_sec: number("frames_per_sec"),
                    sent_bytes: number("bytes_sent"),
                }),
                ("connected", Some(at), ..) => seen.connected = Some(at),
                ("packet", _, Some(arrived), _) => seen.packets.push(PacketSeen {
                    sent: at(of, "sent_ns"),
                    arrived,
                    corrected: at(of, "corrected_ns").unwrap_or(arrived),
                }),
                ("frame", _, _, Some(complete)) => {
                    let sent = numbered.and_then(|number| given.get(&number)).copied();
                    let sent = sent.filter(|sent| *sent <= complete);
                    seen.frames.push(FrameSeen { sent: sent.or(at(of, "sent_ns")), complete });
                }
                ("sent", Some(at), ..) => given.extend(numbered.map(|number| (number, at))),
                ("summary", ..) => seen.summary = of.clone(),
                _ => {}
            }
        }
        seen
    }

    /// The standing queue of the device or of its cell, as each packet entered it: the least that a
    /// packet of the tenth of a second before waited for packets before it. It is zero if the
    /// queue was empty once. By the network's own account.
    pub fn standing(&self) -> Vec<(HostInstant, Duration)> {
        standing(&self.waited)
    }

    /// Falls of the stack's estimate after `begun`: see [`falls`].
    pub fn falls(&self, begun: HostInstant) -> Vec<(HostInstant, Duration)> {
        let known = self.stats.iter().filter_map(|stats| Some((stats.at, stats.available?)));
        let known: Vec<(HostInstant, f64)> = known.filter(|(at, _)| *at >= begun).collect();
        falls(&known, &self.waited)
    }

    /// One-way delays of the frames that were complete between two times, sorted.
    pub fn frame_delays(&self, from: HostInstant, to: HostInstant) -> Vec<Duration> {
        let frames =
            self.frames.iter().filter(|frame| frame.complete >= from && frame.complete < to);
        let delays = frames.filter_map(|frame| Some(frame.complete - frame.sent?));
        let mut delays: Vec<Duration> = delays.collect();
        delays.sort_unstable();
        delays
    }
}

/// See [`CallSeen::standing`]. Packets are in order of entry.
fn standing(waited: &[Waited]) -> Vec<(HostInstant, Duration)> {
    let mut last_sent = HostInstant::default();
    let mut behind: VecDeque<(HostInstant, Duration)> = VecDeque::new();
    let mut standing = Vec::with_capacity(waited.len());
    for waited in waited {
        behind.push_back((waited.entered, last_sent - waited.entered));
        last_sent = last_sent.max(waited.sent);
        while behind.front().is_some_and(|(at, _)| waited.entered - *at > STANDS) {
            behind.pop_front();
        }
        let least = behind.iter().map(|(_, behind)| *behind).min();
        standing.push((waited.entered, least.unwrap_or_default()));
    }
    standing
}

/// Falls of an estimate by a tenth or more from one sample to the next, and the largest standing
/// queue of the second before each. `waited` is in order of entry.
pub fn falls(estimates: &[(HostInstant, f64)], waited: &[Waited]) -> Vec<(HostInstant, Duration)> {
    let falls = estimates.iter().zip(estimates.iter().skip(1));
    let falls = falls.filter(|((_, before), (_, after))| *after <= 0.9 * *before);
    queues_before(falls.map(|(_, (at, _))| *at), waited)
}

/// These times, and the largest standing queue of the second before each. `waited` is in order of
/// entry.
pub fn queues_before(
    times: impl IntoIterator<Item = HostInstant>,
    waited: &[Waited],
) -> Vec<(HostInstant, Duration)> {
    let standing = standing(waited);
    let queues = times.into_iter().map(|at| {
        let from = at.saturating_before(Duration::from_secs(1));
        let begin = standing.partition_point(|(of, _)| *of < from);
        let last = standing[begin..].iter().take_while(|(of, _)| *of <= at);
        (at, last.map(|(_, queue)| *queue).max().unwrap_or_default())
    });
    queues.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> HostInstant {
        HostInstant::from_nanos(ms * 1_000_000)
    }

    fn waited(entered: u64, sent: u64) -> Waited {
        Waited { entered: at(entered), sent: at(sent), delivered: at(sent + 5) }
    }

    #[test]
    fn a_queue_stands_if_no_packet_of_a_tenth_of_a_second_found_it_empty() {
        let bursts = [waited(0, 9), waited(1, 12), waited(33, 40), waited(34, 45)];
        assert!(standing(&bursts).iter().all(|(_, queue)| queue.is_zero()));
        let growing: Vec<Waited> = (0..40).map(|n| waited(n * 10, 5 + n * 15)).collect();
        let standing = standing(&growing);
        // The packet of 280 ms waited for the one before it until 410 ms.
        assert_eq!(standing[38], (at(380), Duration::from_millis(130)));
    }

    #[test]
    fn a_fall_has_the_queue_of_the_second_before_it() {
        let lines = |rates: &[(u64, u64)]| {
            let line = |(at, rate): &(u64, u64)| {
                let at = at * 1_000_000;
                format!("{{\"stats\":{{\"at_ns\":{at},\"available_bits_per_sec\":{rate}}}}}\n")
            };
            rates.iter().map(line).collect::<String>()
        };
        let said = lines(&[(100, 900), (200, 100), (1_500, 1_000), (1_600, 901), (1_700, 810)]);
        let queue: Vec<Waited> = (0..160).map(|n| waited(n * 10, 30 + n * 10)).collect();
        let seen = CallSeen::of(at(0), &said, "", queue, None);
        assert_eq!(seen.falls(at(200)), [(at(1_700), Duration::from_millis(20))]);
        assert_eq!(seen.falls(at(0)).len(), 2);
    }

    #[test]
    fn a_numbered_picture_is_shown_some_time_after_it_was_given_to_the_sender() {
        let said =
            "{\"sent\":{\"number\":7,\"at_ns\":5}}\n{\"sent\":{\"number\":8,\"at_ns\":40}}\n";
        let log = "{\"frame\":{\"shown_ns\":25,\"number\":7}}\n{\"frame\":{\"shown_ns\":26}}\n\
                   {\"frame\":{\"shown_ns\":27,\"number\":8}}\n{\"frame\":{\"shown_ns\":28,\"number\":9}}\n";
        let seen = CallSeen::of(at(0), said, log, Vec::new(), None);
        let sent: Vec<_> = seen.frames.iter().map(|frame| frame.sent).collect();
        assert_eq!(sent, [Some(HostInstant::from_nanos(5)), None, None, None]);
    }

    #[test]
    fn lines_of_both_ends_are_put_together_and_others_are_ignored() {
        let log = "{\"packet\":{\"sent_ns\":5,\"arrived_ns\":9,\"corrected_ns\":7}}\n\
                   {\"frame\":{\"sent_ns\":5,\"complete_ns\":25}}\n{\"packet\":{}}\n[]\n{\"fra";
        let said = "{\"connected\":{\"at_ns\":3}}\n{\"summary\":{\"frames\":1}}\n";
        let seen = CallSeen::of(at(0), said, log, Vec::new(), None);
        let nanos = HostInstant::from_nanos;
        let packet = PacketSeen { sent: Some(nanos(5)), arrived: nanos(9), corrected: nanos(7) };
        assert_eq!(seen.packets, [packet]);
        assert_eq!(seen.connected, Some(nanos(3)));
        assert_eq!(seen.frame_delays(nanos(0), nanos(30)), [Duration::from_nanos(20)]);
        assert_eq!(seen.summary["frames"], 1);
    }
}
