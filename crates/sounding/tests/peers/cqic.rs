//! Downloads under CQIC's law: the reports of the device cross the emulated network as options on
//! acknowledgements.

use super::*;

/// The flows of this module go by this law.
const LAW: [&str; 2] = ["--law", "cqic"];
const RTT: Duration = Duration::from_millis(40);
/// The kernel reads rate and window of a socket without its lock: of so many readings one may be of
/// the microsecond in which an ACK is processed, when BBR has its own there to measure.
const FEW_READINGS: usize = 50;

#[test]
fn a_flow_sends_what_the_device_reports_and_its_queue_is_at_most_a_path() {
    if skipped() {
        return;
    }
    steadily(|| {
        let says = Rate::from_bits_per_sec(PATH.bits_per_sec() * 95 / 100);
        let ran = download(Speaker::Device(says), LASTS, &LAW);
        assert_arrives(&ran);
        assert!(ran.resent() < 20, "{} resent", ran.resent());
        let entered = ran.events("transition").any(|event| event["to"] == "radio-limited");
        assert!(entered, "the law never had the flow");
        let from = ran.flow.began + Duration::from_secs(1);
        let late: Vec<_> = ran.flow.samples.iter().filter(|sample| sample.at >= from).collect();
        let paced = says.mbit_per_sec() * 1448.0 / 1500.0;
        let rates = late.iter().map(|sample| sample.info.pacing_rate.mbit_per_sec());
        let off: Vec<_> = rates.filter(|mbit| (mbit / paced - 1.0).abs() >= 0.01).collect();
        assert!(off.len() * FEW_READINGS < late.len(), "{off:?} and not {paced} Mbit/s");
        assert_eq!(ran.events("transition").count(), 1);
        let mean = late.iter().map(|sample| sample.info.rtt).sum::<Duration>();
        let mean = mean / late.len().max(1) as u32;
        assert!(mean < 2 * RTT, "{mean:?}");
    });
}

#[test]
fn a_rate_that_no_path_has_is_used_up_to_what_arrives() {
    if skipped() {
        return;
    }
    steadily(|| {
        let ran = download(Speaker::Device(LIE), LASTS, &LAW);
        assert!(ran.obeyed());
        assert_arrives(&ran);
        // At the end only what arrives, and an eighth for a path that gets wider.
        let last = ran.flow.samples.last().expect("a sample").info.pacing_rate;
        assert!(last.bits_per_sec() * 4 < PATH.bits_per_sec() * 5, "{last:?}");
    });
}

#[test]
fn an_option_that_does_not_arrive_leaves_cubic_in_control() {
    if skipped() {
        return;
    }
    assert_stock_without_option(&LAW);
}
