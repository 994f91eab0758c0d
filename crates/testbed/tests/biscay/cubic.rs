//! CUBIC as what flows fall back to.

use sounding_bpf::{Bound, Config, Phase, Reason};
use sounding_emu::Emulation;
use sounding_laws::{Fallback, Law};
use sounding_sim::{PathConfig, QueueLimit};
use sounding_testbed::flow::{RunningTcp, TcpInfo, TcpResult};
use sounding_testdata::steadily;
use sounding_units::Bytes;

use crate::radio::Radio;
use crate::{RTT, emulate, flow, link, secs, socket, upload};

fn start(test: &str, mbit: u64, law: Law, bound: Bound) -> Option<Radio> {
    let config = Config { law, fallback: Fallback::Cubic, ..Config::default() };
    Radio::start_as(test, mbit, bound, config)
}

/// CUBIC's behaviour in a flow that has just been left to it, over a wire of 10 Mbit/s.
fn watch_cubic(running: &RunningTcp) {
    let info = || TcpInfo::of(socket(running)).unwrap();
    secs(1);
    let begin = info();
    println!("a second later: RTT {:?}, {} segments", begin.rtt, begin.cwnd);
    // It begins with twice what the wire holds, 70 segments, at most, and not with what the radio
    // would.
    assert!(begin.cwnd < 120, "{}", begin.cwnd);
    secs(5);
    let later = info();
    println!("six seconds later: RTT {:?}, {} segments", later.rtt, later.cwnd);
    // BBR would hold two BDPs: what the queue has room for is CUBIC's to fill.
    assert!(later.rtt > RTT * 3, "{:?}", later.rtt);
}

#[test]
fn a_wire_narrower_than_the_radio_is_left_to_cubic_until_it_carries_the_radio_again() {
    steadily(|| {
        let Some(radio) = start("cubic_b", 40, Law::Biscay, Bound::Capacity) else { return };
        let emulation = emulate(&[(0, 40), (3, 10)]);
        let running = upload(&emulation, radio.instance.name());
        radio.next(Phase::RadioLimited);
        assert_eq!(radio.next(Phase::BottleneckElsewhere).reason, Reason::Narrow);
        watch_cubic(&running);
        assert_eq!(flow(&radio, &running).reason, Reason::Narrow);
        radio.set_mbit(5);
        assert_eq!(radio.next(Phase::RadioLimited).reason, Reason::Wide);
        running.stop().unwrap();
    });
}

#[test]
fn a_queue_that_the_radio_does_not_have_is_left_to_cubic() {
    steadily(|| {
        let Some(radio) = start("cubic_s", 10, Law::Sounding, Bound::Floor) else { return };
        let emulation = emulate(&[(0, 10)]);
        let running = upload(&emulation, radio.instance.name());
        assert_eq!(radio.next(Phase::BottleneckElsewhere).reason, Reason::Narrow);
        watch_cubic(&running);
        running.stop().unwrap();
    });
}

/// Mbit/s, mean RTT in ms and mean window in segments of ten seconds over a wire with a queue of
/// two BDPs.
fn figures(congestion: &str) -> [f64; 3] {
    let queue = QueueLimit::bytes(Bytes::new(150_000));
    let up = PathConfig { queue, ..link(&[(0, 15)]) };
    let config = sounding_emu::Config::new(up, link(&[(0, 1_000)]));
    let emulation = Emulation::start(config).unwrap();
    let running = upload(&emulation, congestion);
    secs(10);
    let result: TcpResult = running.stop().unwrap();
    let windows = result.samples.iter().map(|sample| f64::from(sample.info.cwnd));
    let mean = windows.sum::<f64>() / result.samples.len() as f64;
    [result.goodput.mbit_per_sec(), result.mean_rtt.as_secs_f64() * 1e3, mean]
}

#[test]
fn without_a_publisher_a_flow_is_the_kernels_cubic() {
    steadily(|| {
        let Some(radio) = start("cubic", 40, Law::Sounding, Bound::Capacity) else { return };
        radio.die();
        let (ours, kernels) = (figures(radio.instance.name()), figures("cubic"));
        println!("Mbit/s, RTT, window: {ours:.1?}, of the kernel {kernels:.1?}");
        for (ours, kernels) in ours.into_iter().zip(kernels) {
            assert!((0.85..1.15).contains(&(ours / kernels)), "{ours} and {kernels}");
        }
    });
}
