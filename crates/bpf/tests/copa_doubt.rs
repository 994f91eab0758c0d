//! When a server doubts what a device says that its radio adds (docs/interpretations/gandalf.md,
//! interpretation 23): by `corrected.h`, which the kernel runs, and by
//! `sounding_laws::copa_gandalf` alike.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

mod filter;

use std::collections::VecDeque;
use std::iter;
use std::ops::Range;

use filter::{Filter, Told};
use sounding_estimate::wire::RadioDelay;
use sounding_laws::copa_gandalf::{CopaAck, Corrected, CorrectedBy};
use sounding_units::HostInstant;

const MS: u64 = 1_000_000;
const BEGINS: u64 = 5_000 * MS;
/// Kinds of steps of `copa_host.c`.
const BEGIN: u64 = 0;
const ACK: u64 = 1;
const SAID: u64 = 9;

/// The path's RTT, and the least that is an eighth longer, microseconds.
const PATH: u32 = 40_000;
const EIGHTH: u32 = PATH + PATH / 8;
/// For so long the smallest RTT is remembered, and a device is doubted.
const LASTS: u64 = 10_000;

/// What a device says: 2 ms of retransmissions, and a usual wait 4 ms longer than the shortest.
const HONEST: u16 = 9 << 8 | 17;
/// As much as 16 bits can say.
const LIE: u16 = u16::MAX;

/// A server's flow to a device that says the same all the time.
struct Flow {
    law: Corrected,
    told: Told,
    answers: Vec<[u64; 2]>,
    says: u16,
    delivered: u32,
    /// Milliseconds in which the device was believed, up to an acknowledgement.
    believed: Vec<Range<u64>>,
    /// Milliseconds whose RTT was no more than an eighth above the path's.
    short: Vec<u64>,
    ms: u64,
}

impl Flow {
    fn begin(says: u16) -> Self {
        let mut flow = Self {
            law: Corrected::new(0),
            told: Told::default(),
            answers: Vec::new(),
            says,
            delivered: 0,
            believed: Vec::new(),
            short: Vec::new(),
            ms: 0,
        };
        flow.tell(BEGIN, 0, &CopaAck::default());
        flow.tell(SAID, says.into(), &CopaAck::default());
        flow
    }

    fn tell(&mut self, kind: u64, word: u64, ack: &CopaAck) {
        self.told.longs(&[kind, 0, word, ack.now.as_nanos(), ack.sent.as_nanos()]);
        self.told.ints(&[ack.rtt_us, ack.acked, ack.app_limited.into(), ack.timed_out.into()]);
        self.told.ints(&[ack.sent_delivered, ack.delivered]);
    }

    fn believes(&self) -> bool {
        self.law.by() == Some(CorrectedBy::Peer)
    }

    /// An acknowledgement a millisecond after the last one.
    fn ack(&mut self, rtt_us: u32, acked: u32) {
        self.ms += 1;
        let now = BEGINS + self.ms * MS;
        let sent_delivered = self.delivered;
        self.delivered = self.delivered.wrapping_add(acked);
        let ack = CopaAck {
            now: HostInstant::from_nanos(now),
            sent: HostInstant::from_nanos(now - u64::from(rtt_us) * 1_000),
            rtt_us,
            acked,
            app_limited: false,
            timed_out: false,
            sent_delivered,
            delivered: self.delivered,
        };
        let was_believed = self.believes();
        self.law.handle_ack(None, RadioDelay::of_code(self.says), &ack);
        self.tell(ACK, 0, &ack);
        self.short.extend((rtt_us <= EIGHTH).then_some(self.ms));
        self.answers.push([self.law.copa().cwnd().into(), self.believes().into()]);
        if self.believes() {
            match self.believed.last_mut() {
                Some(span) if was_believed => span.end = self.ms + 1,
                _ => self.believed.push(self.ms..self.ms + 1),
            }
        }
    }

    /// So many milliseconds of RTTs.
    fn acks(&mut self, count: u64, rtt_us: impl Fn(&Self) -> u32) {
        for _ in 0..count {
            let rtt_us = rtt_us(self);
            self.ack(rtt_us, 4);
        }
    }

    /// The first answer in which a law in C differs.
    fn differs(self, filter: &Filter) -> Option<usize> {
        let heard = filter.ask(self.told);
        let (answers, _) = heard.as_chunks::<8>();
        assert_eq!(answers.len(), self.answers.len());
        // Window, and whether a device says what the radio adds.
        let same = |(ours, theirs): &(&[u64; 2], &[u64; 8])| {
            **ours == [theirs[0], u64::from(theirs[6] == 2)]
        };
        self.answers.iter().zip(answers).position(|two| !same(&two))
    }

    fn agrees(self) {
        assert_eq!(self.differs(&Filter::compile("copa_host")), None);
    }
}

/// A device whose queue stands for nine seconds of ten, and that is believed.
fn honest() -> Flow {
    let mut flow = Flow::begin(HONEST);
    flow.acks(60_000, |flow| if flow.ms % (LASTS - 100) < 500 { PATH } else { 2 * PATH });
    flow
}

/// A device that hides a queue while it is believed, for 60 s, and then says the truth.
fn liar() -> Flow {
    let mut flow = Flow::begin(LIE);
    flow.acks(60_000, |flow| if flow.believes() { EIGHTH + 1_000 } else { PATH });
    flow.acks(30_000, |_| PATH);
    flow
}

/// A path that gets longer after two seconds, of an honest device.
fn longer() -> Flow {
    let mut flow = Flow::begin(HONEST);
    flow.acks(40_000, |flow| if flow.ms < 2_000 { PATH } else { 2 * PATH });
    flow
}

#[test]
fn a_device_whose_queue_empties_every_ten_seconds_is_never_doubted() {
    let flow = honest();
    let [believed] = &flow.believed[..] else { panic!("{:?}", flow.believed) };
    assert!(believed.start < 10 && believed.end == 60_001, "{believed:?}");
    flow.agrees();
}

#[test]
fn a_device_that_hides_a_queue_is_doubted_for_ten_seconds_after_ten() {
    let flow = liar();
    let (lies, honest): (Vec<_>, Vec<_>) = flow.believed.iter().partition(|span| span.end < 61_000);
    assert_eq!(lies.len(), 3, "{:?}", flow.believed);
    for span in &lies {
        assert!((LASTS..LASTS + 100).contains(&(span.end - span.start)), "{lies:?}");
    }
    for two in flow.believed.windows(2) {
        assert!((LASTS..LASTS + 100).contains(&(two[1].start - two[0].end)), "{two:?}");
    }
    // At the latest ten seconds after its last lie, and from then on.
    let [believed] = honest[..] else { panic!("{honest:?}") };
    assert!(believed.start < 60_000 + LASTS + 100 && believed.end == 90_001, "{believed:?}");
    flow.agrees();
}

#[test]
fn a_path_that_got_longer_costs_ten_seconds_of_doubt_once() {
    let flow = longer();
    let [before, after] = &flow.believed[..] else { panic!("{:?}", flow.believed) };
    assert!((2_000 + LASTS..2_100 + LASTS).contains(&before.end), "{before:?}");
    assert!((before.end + LASTS..before.end + LASTS + 100).contains(&after.start), "{after:?}");
    assert_eq!(after.end, 40_001);
    flow.agrees();
}

#[test]
fn a_smallest_rtt_is_doubted_above_an_eighth_over_the_old_one() {
    for (stands, is_doubted) in [(EIGHTH, false), (EIGHTH + 1, true)] {
        let mut flow = Flow::begin(HONEST);
        flow.acks(20_000, |flow| if flow.ms < 2_000 { PATH } else { stands });
        assert_eq!(flow.believes(), !is_doubted, "{stands}: {:?}", flow.believed);
        flow.agrees();
    }
}

/// A link of four segments a millisecond under the law's own window.
fn closed_loop(says: u16, lasts_ms: u64) -> (Flow, Vec<u64>) {
    let mut flow = Flow::begin(says);
    // When each waiting segment was sent, and acknowledgements on their way.
    let (mut waiting, mut acks) = (VecDeque::new(), VecDeque::new());
    let (mut out, mut queues) = (0u32, Vec::new());
    for ms in 0..lasts_ms {
        let served: Vec<u64> = waiting.drain(..waiting.len().min(4)).collect();
        if let Some(sent) = served.last() {
            acks.push_back((ms + u64::from(PATH) / 1_000, *sent, served.len() as u32));
        }
        match acks.front() {
            Some((at, sent, count)) if *at <= ms => {
                flow.ack(((ms - sent) * 1_000) as u32, *count);
                out -= count;
                acks.pop_front();
            }
            _ => flow.ms += 1,
        }
        while out < flow.law.copa().cwnd().min(2_000) {
            waiting.push_back(ms);
            out += 1;
        }
        queues.push(waiting.len() as u64 / 4);
    }
    (flow, queues)
}

#[test]
fn a_lie_in_a_closed_loop_hides_a_quarter_for_ten_seconds_at_most() {
    let (honest, queues) = closed_loop(HONEST, 60_000);
    println!("honest: {:?}, {:?} ms", honest.believed, queues[2_000..].iter().max());
    let [believed] = &honest.believed[..] else { panic!("{:?}", honest.believed) };
    assert!(believed.start < 100 && believed.end > 59_900, "{believed:?}");
    honest.agrees();
    let (liar, queues) = closed_loop(LIE, 60_000);
    let most = queues[2_000..].iter().max().unwrap();
    println!("liar: {:?}, {most} ms", liar.believed);
    // And the packets that Copa sends above its target.
    assert!(*most <= u64::from(PATH) / 4_000 + 5, "{most}");
    for span in &liar.believed {
        let within = liar.short.iter().copied().filter(|ms| span.contains(ms));
        let marks: Vec<u64> = iter::once(span.start).chain(within).chain([span.end]).collect();
        let gap = marks.windows(2).map(|two| two[1] - two[0]).max();
        assert!(gap <= Some(LASTS + 100), "{gap:?} of {span:?}");
    }
    liar.agrees();
}

/// Each of these changes of the C alone is noticed.
#[test]
fn another_rule_does_not_agree() {
    let changes = [
        ["if (!s->doubted_until_ns && s->least_raw", "if (0 && s->least_raw"],
        [
            "s->doubted_until_ns = law_add(now, COPA_LEAST_LASTS_NS);",
            "s->doubted_until_ns = law_add(now, COPA_LEAST_LASTS_NS / 2);",
        ],
        ["> ever + ever / CORRECTED_PEER_PART)", "> ever + ever / 4)"],
        ["\t\ts->least_ever_us = s->least_raw.best[0];", "\t\t;"],
        ["\t\ts->doubted_until_ns = 0;\n", ""],
        ["rtt_us < s->least_ever_us", "rtt_us > s->least_ever_us"],
    ];
    for change in changes {
        let changed = Filter::compile_changed("copa_host", "copa/corrected.h", change);
        let differs =
            [honest, liar, longer].into_iter().any(|play| play().differs(&changed).is_some());
        assert!(differs, "{change:?}");
    }
}
