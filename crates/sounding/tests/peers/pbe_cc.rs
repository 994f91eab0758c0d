//! Downloads under PBE-CC's law: the reports of the device cross the emulated network as options on
//! acknowledgements.

use sounding_units::HostInstant;

use super::*;

/// The flows of this module go by this law.
const LAW: [&str; 2] = ["--law", "pbe-cc"];
const RTT: Duration = Duration::from_millis(40);

/// Payload of a rate of IP packets, in Mbit/s.
fn payload(rate: Rate) -> f64 {
    rate.mbit_per_sec() * 1448.0 / 1500.0
}

fn share(rate: Rate, percent: u64) -> Rate {
    Rate::from_bits_per_sec(rate.bits_per_sec() * percent / 100)
}

impl Ran {
    /// What the flow went through, for the log.
    fn show_phases(&self) {
        for event in self.events("transition") {
            let at = HostInstant::from_nanos(event["at_ns"].as_u64().unwrap_or_default());
            let after = at - self.flow.began;
            let _ = writeln!(std::io::stderr(), "{after:?}: {} ({})", event["to"], event["reason"]);
        }
    }
    /// When it first entered a phase.
    fn entered(&self, phase: &str) -> Option<HostInstant> {
        let found = self.events("transition").find(|event| event["to"] == phase)?;
        found["at_ns"].as_u64().map(HostInstant::from_nanos)
    }

    /// The end of the round that begins at a moment: the first sample whose round trip began later.
    /// The queue that a lie makes has rounds take half as long again, or longer where it grew
    /// more.
    fn end_of_round(&self, began: HostInstant) -> HostInstant {
        let earliest = began + (RTT + RTT / 2);
        let later = self.flow.samples.iter().filter(|sample| sample.at >= earliest);
        let mut ended = later.filter(|sample| sample.at >= began + sample.info.rtt);
        ended.next().expect("a round that ends").at
    }

    /// The first pace from a moment on, in Mbit/s of payload, that is wrong and still is 20 ms
    /// later. Linux reads the pace without the socket's lock (`tcp_get_info`): a sample may
    /// show the one of BBR, which the law replaces in the same call.
    fn paced_wrongly(
        &self,
        from: HostInstant,
        is_wrong: impl Fn(f64) -> bool,
    ) -> Option<(Duration, f64)> {
        let samples = self.flow.samples.iter().filter(move |sample| sample.at >= from);
        let paces: Vec<_> = samples
            .map(|sample| (sample.at - self.flow.began, sample.info.pacing_rate.mbit_per_sec()))
            .collect();
        assert!(paces.len() > 10, "{} samples", paces.len());
        let wrong = paces.windows(2).find(|two| two.iter().all(|(_, pace)| is_wrong(*pace)));
        wrong.map(|two| two[0])
    }

    /// The mean of the smoothed RTT after the first second.
    fn mean_rtt(&self) -> Duration {
        let from = self.flow.began + Duration::from_secs(1);
        let late: Vec<_> = self.flow.samples.iter().filter(|sample| sample.at >= from).collect();
        late.iter().map(|sample| sample.info.rtt).sum::<Duration>() / late.len().max(1) as u32
    }
}

#[test]
fn a_flow_ramps_up_to_its_fair_share_and_holds_the_rate_without_a_queue() {
    if skipped() {
        return;
    }
    steadily(|| {
        let speaker = Speaker::Cells(PATH, share(PATH, 80));
        // The path carries 3 % more than the report says. Without that, a queue that one stall of
        // this machine leaves would stay for good.
        let ran = download_over(share(PATH, 103), speaker, LASTS, &LAW);
        ran.show_phases();
        assert_arrives(&ran);
        assert!(ran.resent() < 20, "{} resent", ran.resent());
        let (ramp, radio) = (ran.entered("ramp"), ran.entered("radio-limited"));
        let (ramp, radio) = (ramp.expect("a ramp"), radio.expect("its end"));
        // Three round trips, as far as acknowledgements come.
        let lasted = radio - ramp;
        assert!(lasted >= 3 * RTT && lasted < 4 * RTT, "{lasted:?}");
        let is_wrong = |paced: f64| (paced / payload(PATH) - 1.0).abs() >= 0.01;
        assert_eq!(ran.paced_wrongly(radio + RTT, is_wrong), None);
        assert_eq!(ran.events("transition").count(), 2, "it stays there");
        let queue = ran.mean_rtt() - RTT;
        assert!(queue < RTT / 4, "{queue:?}");
    });
}

#[test]
fn a_liar_gets_at_most_a_quarter_above_the_arrivals_after_three_rounds() {
    if skipped() {
        return;
    }
    for factor in [2, 10] {
        steadily(|| {
            let lie = share(PATH, factor * 100);
            let ran = download(Speaker::Cells(lie, lie), LASTS, &LAW);
            ran.show_phases();
            assert_arrives(&ran);
            let over = ran.entered("radio-limited").expect("the end of its start");
            // The kernel measures up to 2 % too much.
            let is_wrong = |paced: f64| paced >= 1.02 * 1.25 * payload(PATH);
            let third = (0..3).fold(over, |began, _| ran.end_of_round(began));
            let found = ran.paced_wrongly(third, is_wrong);
            assert_eq!(found, None, "{factor}");
        });
    }
}

#[test]
fn an_option_that_does_not_arrive_leaves_bbr_in_control() {
    if skipped() {
        return;
    }
    assert_stock_without_option(&LAW);
}
