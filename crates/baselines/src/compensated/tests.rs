use std::vec;
use std::vec::Vec;

use sounding_estimate::{Confidence, DelayKind, RanDelay};

use super::*;
use sounding_cc::Start;
use sounding_cc::{Departure, Loss};
use sounding_units::{Bytes, Rate};

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn at(millis: u64) -> HostInstant {
    HostInstant::from_nanos(1_000_000_000) + ms(millis)
}

/// Keeps what it receives.
#[derive(Debug, Default)]
struct Noted {
    rtts: Vec<Duration>,
    revisions: Vec<Revision>,
}

impl Controller for Noted {
    fn handle_ack(&mut self, ack: &Ack) {
        self.rtts.extend(ack.rtt);
    }
    fn handle_loss(&mut self, _loss: &Loss) {}
    fn handle_timeout(&mut self, _now: HostInstant) {}
    fn handle_revision(&mut self, revision: &Revision) {
        self.revisions.push(*revision);
    }
    fn cwnd(&self) -> Bytes {
        Bytes::new(10_000)
    }
    fn pacing_rate(&self) -> Option<Rate> {
        None
    }
    fn state(&self) -> &'static str {
        "noted"
    }
}

/// An upload whose packets wait for blocks that come every 10 ms, over a path of 40 ms.
struct Drive<C> {
    flow: Compensated<C>,
    now: u64,
    interval: Option<Duration>,
}

/// The modem's knowledge comes so late.
const LATE: u64 = 60;

impl<C: Controller> Drive<C> {
    fn new(flow: Compensated<C>) -> Self {
        Self { flow, now: 0, interval: None }
    }

    /// One packet a millisecond, each with a queue of this much, and news every 10 ms.
    fn run(&mut self, millis: u64, queue: Duration, modem_lives: bool) {
        for _ in 0..millis {
            self.now += 1;
            let now = at(self.now);
            let wait = ms(10 - self.now % 10);
            let sent = Departure {
                at: now.saturating_before(ms(40) + wait + queue),
                ..Departure::default()
            };
            // The wait depends on when the packet entered.
            let entered = sent.at;
            let into = (entered.as_nanos() / 1_000_000) % 10;
            let rtt = ms(40) + ms(10 - into) + queue;
            let sent = Departure { at: entered, ..sent };
            let ack_at = entered + rtt;
            if modem_lives && self.now.is_multiple_of(10) {
                self.tell();
            }
            let ack = Ack {
                now: ack_at.max(now),
                acked: Bytes::new(1_448),
                rtt: Some(rtt),
                sent,
                ..Ack::default()
            };
            self.flow.handle_ack(&ack);
        }
    }

    fn tell(&mut self) {
        let until = at(self.now).saturating_before(ms(LATE));
        let block = HostInstant::from_nanos(until.as_nanos() / 10_000_000 * 10_000_000);
        let from = block.saturating_before(ms(10));
        let event = RanDelay::new(Direction::Uplink, DelayKind::Scheduling, from, block)
            .with_age(ms(LATE))
            .with_confidence(Confidence::Inferred);
        self.flow.handle_delays(
            at(self.now),
            Direction::Uplink,
            &DelayUpdate::new(at(self.now), vec![event])
                .with_up_until(Some(until))
                .with_down_until(Some(at(self.now)))
                .with_report_interval(self.interval),
        );
    }
}

/// Within this of what is true: the grid of the clock, and what comes between two events.
const NEAR: Duration = Duration::from_millis(3);

fn near(found: Duration, wanted: Duration) -> bool {
    found.abs_diff(wanted) <= NEAR
}

#[test]
fn a_wait_that_is_kept_is_the_paths_and_a_queue_is_not() {
    let mut drive = Drive::new(Compensated::revising(Noted::default()));
    drive.run(1_000, Duration::ZERO, true);
    let (shown, path) = (*drive.flow.inner.rtts.last().unwrap(), drive.flow.floor());
    assert!(near(shown, ms(46)) && near(path, ms(46)), "{shown:?} {path:?}");
    drive.run(500, ms(30), true);
    let (shown, path) = (*drive.flow.inner.rtts.last().unwrap(), drive.flow.floor());
    assert!(near(shown, ms(76)) && near(path, ms(46)), "{shown:?} {path:?}");
}

#[test]
fn the_paths_rtt_counts_as_longer_by_half_an_interval_of_reports() {
    let mut drive = Drive::new(Compensated::revising(Noted::default()));
    drive.run(1_000, Duration::ZERO, true);
    let cases = [(10, 2_500, 30), (20, 7_500, 40), (16, 5_500, 32), (64, 0, 30), (5, 0, 30)];
    for (interval, longer_us, mean) in cases {
        let before = Duration::from_micros(2_500) + ms(40);
        drive.interval = Some(ms(interval));
        drive.tell();
        let floor = drive.flow.floor();
        let usual = floor - Duration::from_micros(longer_us);
        assert!(near(usual, before + ms(4)), "{interval} ms: {floor:?}");
        let means = drive.flow.smoothing.up.at(drive.flow.interval);
        assert_eq!(means.unsure, Duration::from_micros(2_500 + longer_us));
        assert_eq!([means.shown, means.steady], [ms(mean); 2]);
    }
}

/// A report is waited for during an interval; its answer takes what it takes.
#[test]
fn an_answer_that_takes_no_longer_with_rarer_reports_is_not_called_longer() {
    let mut flow = Compensated::exact(Noted::default());
    let mut tell = |interval: Option<u64>, amount: u64| {
        let wait = RanDelay::new(Direction::Uplink, DelayKind::Scheduling, at(0), at(100));
        let news = DelayUpdate::new(at(200), vec![wait.with_amount(ms(amount))])
            .with_report_interval(interval.map(ms));
        flow.handle_delays(at(200), Direction::Uplink, &news);
        flow.longest_wait()
    };
    assert_eq!(tell(None, 8), ms(15));
    assert_eq!(tell(Some(20), 8), ms(15));
    assert_eq!(tell(Some(20), 28), ms(28));
    assert_eq!(tell(Some(20), 90), ms(60));
    assert_eq!(tell(Some(5), 90), ms(15));
}

#[test]
fn the_wait_for_grants_is_taken_off_and_a_queue_is_not() {
    let off = Smoothing::default().without_waits();
    let mut drive = Drive::new(Compensated::revising_with(Noted::default(), off));
    drive.run(1_000, Duration::ZERO, true);
    let shown = *drive.flow.inner.rtts.last().unwrap();
    assert!(near(shown, ms(40)), "{shown:?}");
    drive.run(500, ms(30), true);
    let shown = *drive.flow.inner.rtts.last().unwrap();
    assert!(near(shown, ms(70)), "{shown:?}");
    let exact = drive.flow.inner.revisions.iter().rev().find_map(|revision| match revision {
        Revision::Sample { after, .. } => Some(*after),
        Revision::Rebase { .. } => None,
    });
    assert!(near(exact.unwrap(), ms(70)), "{exact:?}");
}

#[test]
fn without_a_modem_every_rtt_is_as_measured() {
    let mut drive = Drive::new(Compensated::revising(Noted::default()));
    drive.run(300, ms(5), false);
    assert!(drive.flow.inner.revisions.is_empty());
    assert!(drive.flow.inner.rtts.iter().all(|rtt| *rtt >= ms(45)));
}

#[test]
fn a_dead_modem_leaves_the_stock_controller_in_100_ms_and_no_rtt_below_the_path() {
    let mut drive = Drive::new(Compensated::revising(Noted::default()));
    drive.run(1_000, Duration::ZERO, true);
    let before = drive.flow.inner.rtts.len();
    drive.run(300, Duration::ZERO, false);
    let after = &drive.flow.inner.rtts[before..];
    assert!(after[170..].iter().all(|rtt| *rtt >= ms(41)), "{:?}", &after[170..]);
    let last = drive.flow.inner.revisions.last().unwrap();
    assert!(matches!(last, Revision::Rebase { least, .. } if *least >= ms(41)), "{last:?}");
}

#[test]
fn a_held_acknowledgement_comes_with_what_is_known_and_never_stays() {
    let mut drive = Drive::new(Compensated::holding(Noted::default()));
    drive.run(1_000, ms(30), true);
    let last = drive.flow.inner.rtts.iter().rev().take(20);
    let shown = last.sum::<Duration>() / 20;
    assert!(near(shown, ms(70)), "{shown:?}");
    // Over a shorter path acknowledgements are there before the modem's knowledge.
    drive.run(40, Duration::ZERO, true);
    let held = drive.flow.held.len();
    assert!(held > 0 && held < 200, "{held}");
    let due = drive.flow.wakeup().unwrap();
    assert!(due <= at(drive.now) + HELD_FOR + ms(80));
    drive.flow.handle_time(at(drive.now) + ms(400));
    assert!(drive.flow.held.is_empty());
}

#[test]
fn memory_stays_bounded_where_nothing_is_ever_known() {
    let mut flow = Compensated::revising(crate::copa::Copa::new(&Start::tcp(at(0), None, 1)));
    for turn in 0..30_000_u64 {
        let now = at(turn / 100);
        flow.handle_delays(now, Direction::Downlink, &DelayUpdate::new(now, Vec::new()));
        let sent = Departure { at: now.saturating_before(ms(50)), ..Departure::default() };
        let (rtt, one_way) = (Some(ms(50)), Some(ms(20)));
        flow.handle_ack(&Ack {
            now,
            acked: Bytes::new(1_448),
            rtt,
            one_way,
            sent,
            ..Ack::default()
        });
    }
    assert!(flow.samples.len() <= WAITING && flow.held.is_empty());
}

#[test]
fn a_controller_of_rises_sees_a_queue_and_none_that_the_radio_explains() {
    let mut drive = Drive::new(Compensated::revising_with(Noted::default(), Smoothing::of_rises()));
    drive.run(1_000, Duration::ZERO, true);
    let calm = drive.flow.inner.rtts.iter().rev().take(200);
    assert!(calm.clone().all(|rtt| near(*rtt, ms(40))), "{:?}", calm.max());
    drive.run(500, ms(30), true);
    let shown = *drive.flow.inner.rtts.last().unwrap();
    // No less than the queue without the longest wait.
    assert!(shown >= ms(60) && shown <= ms(72), "{shown:?}");
}

#[test]
fn rtprop_is_the_paths_with_a_modem_and_no_less_than_was_measured_without() {
    let start = Start::tcp(at(0), None, 1);
    let mut drive = Drive::new(Compensated::revising(sounding_laws::Bbr::new(&start)));
    drive.run(1_000, ms(3), true);
    let path = drive.flow.inner.rtt_min().unwrap();
    assert!(path >= ms(43) && near(path, ms(49)), "{path:?}");
    // A path that becomes longer is followed within the ten seconds of the filter.
    drive.run(11_000, ms(13), true);
    let path = drive.flow.inner.rtt_min().unwrap();
    assert!(path >= ms(53) && near(path, ms(59)), "{path:?}");
    drive.run(300, ms(13), false);
    let path = drive.flow.inner.rtt_min().unwrap();
    assert!((ms(53)..=ms(56)).contains(&path), "{path:?}");
}

#[test]
fn acknowledgements_of_one_time_that_leave_in_two_blocks_lose_each_its_own_wait() {
    let mut flow = Compensated::exact(Noted::default());
    // Data is received 20 ms after it was sent, and its acknowledgements wait for blocks 5 and 10
    // ms later.
    let received = at(100);
    // A report and its answer take 2 ms. The rest of a wait is behind others, and no queue of the
    // data.
    let block = |from: HostInstant, to: HostInstant| {
        RanDelay::new(Direction::Uplink, DelayKind::Scheduling, from, to)
            .with_amount(ms(2))
            .with_confidence(Confidence::Inferred)
    };
    let first = block(received.saturating_before(ms(3)), received + ms(5));
    let second = block(received + APART, received + ms(10));
    let tell = |flow: &mut Compensated<Noted>, now, events: &[RanDelay]| {
        let until = Some(events.last().map_or(received, |last| last.to + ms(14)));
        flow.handle_delays(
            now,
            Direction::Downlink,
            &DelayUpdate::new(now, events.to_vec()).with_up_until(until).with_down_until(until),
        );
    };
    tell(&mut flow, received, &[]);
    for wait in [ms(5), ms(10)] {
        flow.handle_ack(&Ack {
            now: received + wait + ms(20),
            acked: Bytes::new(1_448),
            rtt: Some(ms(40) + wait),
            one_way: Some(ms(20)),
            sent: Departure { at: received.saturating_before(ms(20)), ..Departure::default() },
            ..Ack::default()
        });
    }
    // The first block alone says nothing of an acknowledgement that came later.
    tell(&mut flow, at(131), &[first]);
    assert!(flow.inner.rtts.is_empty(), "{:?}", flow.inner.rtts);
    tell(&mut flow, at(141), &[second]);
    assert!(flow.inner.rtts.is_empty(), "{:?}", flow.inner.rtts);
    let last = block(received + ms(20), received + ms(21));
    tell(&mut flow, at(151), &[last]);
    let exact = [ms(40), ms(40) + APART];
    assert!(flow.inner.rtts.iter().zip(exact).all(|(rtt, of)| rtt.abs_diff(of) <= APART));
    assert_eq!(flow.inner.rtts.len(), 2);
}
