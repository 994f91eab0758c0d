//! Each measured figure of a flow agrees with its definition.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use sounding_sim::Histogram;
use sounding_sim::world::Report;
use sounding_units::Bytes;

use super::outcome::Pantheon;
use super::*;
use crate::plan::Text;

fn outcomes(plan: &str) -> Vec<Outcome> {
    let text = Text::new("plan.toml", plan, PathBuf::new());
    let runs = text.runs().expect("a plan");
    let (about, stop) = (About::new(&text), AtomicBool::new(false));
    let open = |_: &Run| Err(std::io::Error::other("nothing is kept"));
    all(&runs, &Keep::default(), &about, 2, &stop, &open, &mut |_| {}).expect("no error").outcomes
}

fn link(up: &str, duration: &str, flows: &str) -> Vec<Outcome> {
    outcomes(&format!(
        "duration = \"{duration}\"\n\
         links = [{{ up = \"{up}\", down = \"1Gbit\", delay = \"20ms\", queue = \"60kB\" }}]\n{flows}"
    ))
}

const BULK: &str = "[[flows]]\ndirection = \"up\"\n";

#[test]
fn pantheon_counts_from_the_first_departure_to_the_last_and_everything_that_entered() {
    let at = |ms: u64| HostInstant::from_nanos(ms * 1_000_000);
    let mut one_way = Histogram::default();
    // 41 delays of 1 to 41 ms: the rank of 95 % is 38, counted from 0.
    (1..=41).for_each(|ms| one_way.record(Duration::from_millis(ms)));
    let report = Report {
        since: at(0),
        until: at(10_000),
        sent: 50,
        offered: Bytes::new(50_000),
        arrived: 41,
        carried: Bytes::new(41_000),
        arrivals: Some((at(2_000), at(4_000))),
        one_way,
        ..Report::default()
    };
    let Pantheon { throughput_mbit_per_sec, delay_p95_ms, loss } = Pantheon::of(&report);
    assert_eq!(throughput_mbit_per_sec, Some(41_000.0 * 8.0 / 2.0 / 1e6));
    assert!((delay_p95_ms.expect("packets") - 39.0).abs() < 39.0 * 0.01, "{delay_p95_ms:?}");
    assert!((loss - 0.18).abs() < 1e-12);
}

#[test]
fn a_report_knows_its_first_and_last_arrival_and_all_that_entered() {
    let outcome = link("12Mbit", "5s", BULK).remove(0);
    let Report { arrivals, offered, sent, carried, arrived, .. } = outcome.flows[0].report.clone();
    let (first, last) = arrivals.expect("packets");
    let [first, last] = [first, last].map(|at| at.as_nanos() / 1_000_000);
    // A handshake and a half of 20 ms each way; the link is busy until the end.
    assert!((60..70).contains(&first), "{first:?}");
    assert!(last > 4_980, "{last:?}");
    assert_eq!((offered, carried), (Bytes::new(sent * 1500), Bytes::new(arrived * 1500)));
}

#[test]
fn power_is_throughput_over_the_tail_of_the_delay() {
    let flow = link("12Mbit", "5s", BULK).remove(0).flows.remove(0);
    let delays = flow.one_way_ms.expect("packets");
    let power = flow.power_mbit_per_sec_per_sec.expect("packets");
    assert!((power * delays.p95 / 1e3 - flow.throughput_mbit_per_sec).abs() < 1e-9);
}

#[test]
fn an_outage_is_a_stall_of_its_length_and_a_bit() {
    let flow = link("0s 12Mbit, 4s 0bit, 6s 12Mbit", "12s", BULK).remove(0).flows.remove(0);
    let (stalled, longest) = (flow.stalled_ms.expect("bulk"), flow.longest_gap_ms.expect("bulk"));
    // The queue continues at once.
    assert!((1_999.0..2_010.0).contains(&longest), "{longest}");
    assert!((longest..longest + 500.0).contains(&stalled), "{stalled}");
    let steady = link("12Mbit", "12s", BULK).remove(0).flows.remove(0);
    assert_eq!(steady.stalled_ms, Some(0.0));
}

#[test]
fn a_flow_that_sends_now_and_then_has_no_stalls_and_no_share() {
    let flow = "[[flows]]\ndirection = \"up\"\ntraffic = { kind = \"steady\", rate = \"1Mbit\" }\n";
    let flow = link("12Mbit", "5s", flow).remove(0).flows.remove(0);
    assert_eq!((flow.stalled_ms, flow.jain, flow.convergence_ms), (None, None, None));
}

#[test]
fn a_second_flow_takes_time_to_its_share_and_windows_tell_it_from_the_whole() {
    let flows =
        "[[flows]]\ndirection = \"up\"\ncontroller = \"bbr\"\ncount = 2\nstagger = \"10s\"\n";
    let outcome = link("12Mbit", "60s", flows).remove(0);
    let [first, second] = &outcome.flows[..] else { panic!("two flows") };
    let jain = first.jain.expect("two of them");
    assert_eq!(first.jain, second.jain);
    // The whole counts the ten seconds that the first was alone.
    let (mean, least) = (jain.mean.expect("windows"), jain.least.expect("windows"));
    assert!(jain.whole < 0.99 && (0.5..=1.0).contains(&least) && least < mean, "{jain:?}");
    let alone = first.convergence_ms.expect("it had the link for itself");
    let later = second.convergence_ms.expect("it gets its half");
    assert!(alone < 1_000.0, "{alone}");
    assert!(later > alone, "{later}");
}

#[test]
fn responses_have_a_tail_of_completion_times() {
    let flow = "[[flows]]\ndirection = \"up\"\n\
                traffic = { kind = \"responses\", size = \"30kB\", think = \"10ms\" }\n";
    let flow = link("12Mbit", "20s", flow).remove(0).flows.remove(0);
    let completion = flow.completion_ms.expect("responses");
    let tail = flow.completion_p999_ms.expect("responses");
    assert!(flow.completed > 50 && completion.p99 <= tail && tail <= completion.max);
}

const ORACLE: &str = "[[flows]]\ndirection = \"up\"\n\
                      [sweep]\n\"flows.0.controller\" = [\"cubic\", \"oracle\", \"vegas\"]\n";

#[test]
fn the_oracle_uses_the_link_without_a_queue_and_others_are_measured_from_it() {
    for (up, way) in [("0s 12Mbit, 4s 3Mbit, 7s 30Mbit", "up"), ("10Mbit", "up")] {
        let outcomes = link(up, "12s", ORACLE);
        let [cubic, oracle, vegas] = &outcomes[..] else { panic!("three runs over {way}") };
        let flow = &oracle.flows[0];
        assert!(flow.utilisation.expect("a link") > 0.985, "{flow:?}");
        let queue = flow.queueing_ms.expect("packets");
        // A packet takes 4 ms at 3 Mbit/s.
        assert!(queue.p95 < 5.1, "{queue:?}");
        let itself = flow.oracle.expect("itself");
        assert_eq!((itself.throughput_share, itself.queueing_p95_ms), (1.0, 0.0));
        for other in [cubic, vegas] {
            let other = &other.flows[0];
            let distance = other.oracle.expect("the same link");
            let share = other.throughput_mbit_per_sec / flow.throughput_mbit_per_sec;
            assert_eq!(distance.throughput_share, share);
            assert!(distance.queueing_p95_ms > 0.0 && share < 1.01, "{distance:?}");
        }
    }
}

#[test]
fn the_oracle_is_in_time_on_the_way_down_too() {
    let flows = "[[flows]]\ndirection = \"down\"\ncontroller = \"oracle\"\n";
    let outcome = outcomes(&format!(
        "duration = \"10s\"\n\
         links = [{{ up = \"12Mbit\", down = \"0s 20Mbit, 5s 8Mbit\", delay = \"30ms\" }}]\n{flows}"
    ));
    let flow = &outcome[0].flows[0];
    assert!(flow.utilisation.expect("a link") > 0.98, "{flow:?}");
    assert!(flow.queueing_ms.expect("packets").p95 < 3.0, "{flow:?}");
}
