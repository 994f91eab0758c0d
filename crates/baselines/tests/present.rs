//! The backlog as a sender with knowledge of its link's present computes it, compared with an exact
//! queue.

#![allow(clippy::unwrap_used, reason = "a test whose input is wrong has to fail")]

use std::collections::VecDeque;
use std::time::Duration;

use proptest::prelude::*;
use sounding_baselines::oracle::{Present, Word};
use sounding_cc::{Controller, Departure, Start};
use sounding_units::{Bytes, HostInstant};

const MSS: u64 = 1448;
const STEP: u64 = 1_000_000;

const fn at(nanos: u64) -> HostInstant {
    HostInstant::from_nanos(nanos)
}

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// An exact queue. In each step the oldest packets leave at its beginning, as many as the step
/// carries. Unused capacity of the step is lost.
struct Exact<'a> {
    /// Packets that each step carries.
    steps: &'a [u64],
    served: usize,
    /// Arrival times of the packets that are on their way.
    coming: VecDeque<u64>,
    /// Packets in the queue.
    queue: VecDeque<u64>,
}

impl<'a> Exact<'a> {
    fn new(steps: &'a [u64]) -> Self {
        Self { steps, served: 0, coming: VecDeque::new(), queue: VecDeque::new() }
    }

    /// Bytes in the queue at that time.
    fn at(&mut self, nanos: u64) -> u64 {
        while let Some(arrives) = self.coming.front().copied().filter(|arrives| *arrives <= nanos) {
            self.coming.pop_front();
            self.serve(arrives);
            self.queue.push_back(arrives);
        }
        self.serve(nanos);
        self.queue.len() as u64 * MSS
    }

    fn serve(&mut self, until: u64) {
        while self.served as u64 * STEP <= until {
            for _ in 0..self.steps.get(self.served).copied().unwrap_or(0) {
                self.queue.pop_front();
            }
            self.served += 1;
        }
    }
}

/// Bytes that a link with these steps carries until a time, inclusive.
fn carried(steps: &[u64], until: HostInstant) -> Bytes {
    let whole = (until.as_nanos() / STEP) as usize + 1;
    Bytes::new(steps[..whole.min(steps.len())].iter().sum::<u64>() * MSS)
}

fn departure(nanos: u64) -> Departure {
    let (at, zero) = (at(nanos), Bytes::ZERO);
    Departure {
        at,
        delivered: zero,
        delivered_at: at,
        first_sent_at: at,
        in_flight: zero,
        app_limited: false,
        lost: zero,
    }
}

/// Sends `sends` packets in steps, one after the other. Compares the computed queue with the exact
/// one after each step and between packets.
fn compare(steps: &[u64], sends: &[u64], word: Word) -> Result<(), TestCaseError> {
    let start = Start::tcp(at(0), None, 0);
    let known = steps.to_vec();
    let mut present = Present::new(&start, word, move |until| carried(&known, until));
    let mut exact = Exact::new(steps);
    let most = steps.iter().max().unwrap_or(&0) * MSS;
    for (step, &count) in sends.iter().enumerate() {
        for packet in 0..=count {
            // Spread over the step, the first at its beginning.
            let now = step as u64 * STEP + packet * STEP / (count + 1);
            present.handle_time(at(now));
            let late = word.late.as_nanos() as u64;
            let every = (word.every.as_nanos() as u64).max(1);
            let told = now.saturating_sub(late) / every * every;
            let (believed, waits) = (present.backlog().count(), exact.at(told));
            prop_assert!(
                believed.abs_diff(waits) <= most,
                "at {now} ns the computed queue has {believed} bytes, the exact one {waits}: a step carries at most {most}"
            );
            // With knowledge of every state the two must be equal.
            prop_assert_eq!(believed, waits);
            if packet < count {
                present.handle_sent(&departure(now), start.mss);
                exact.coming.push_back(now + word.lead.as_nanos() as u64);
            }
        }
    }
    Ok(())
}

fn words() -> impl Strategy<Value = Word> {
    let [zero, wire] = [0, 20].map(ms);
    let every = prop_oneof![Just(zero), Just(ms(10))];
    (prop_oneof![Just(zero), Just(wire)], every).prop_map(move |(late, every)| Word {
        lead: late,
        late,
        every,
        span: ms(10),
        room: zero,
    })
}

proptest! {
    /// Bursts and pauses, with more and less capacity than is sent.
    #[test]
    fn the_computed_backlog_is_that_of_an_exact_queue(
        steps in prop::collection::vec(prop_oneof![Just(0_u64), 0..8_u64], 300),
        sends in prop::collection::vec(prop_oneof![Just(0_u64), 0..6_u64], 300),
        word in words(),
    ) {
        compare(&steps, &sends, word)?;
    }
}

#[test]
fn packets_that_arrive_and_leave_within_a_step_are_no_backlog() {
    // One packet per millisecond over a link that carries two: no packet waits longer than until
    // the next step.
    let word = Word { lead: ms(0), late: ms(0), every: ms(10), span: ms(10), room: ms(0) };
    compare(&[2; 200], &[1; 200], word).unwrap();
}

#[test]
fn capacity_before_a_packet_arrives_does_not_serve_it() {
    // Nine steps with nothing to carry, and then ten packets at once, for a link of one in a step.
    let sends: Vec<u64> = (0..200).map(|step| if step % 20 == 9 { 10 } else { 0 }).collect();
    let word = Word { lead: ms(0), late: ms(0), every: ms(10), span: ms(10), room: ms(0) };
    compare(&[1; 200], &sends, word).unwrap();
}
