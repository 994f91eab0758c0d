use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;
use std::vec::Vec;

use super::*;
use crate::radio::random::uniform;
use crate::radio::{
    Block, Channel, ChannelConfig, HarqConfig, Motion, Position, RankConfig, ReportConfig, Reporter,
};

fn at(millis: u64) -> HostInstant {
    HostInstant::from_nanos(millis * 1_000_000)
}

fn report(coding: Coding, sinr_db: &[f32]) -> CqiReport {
    let rank = RankConfig { most_layers: 1, ..RankConfig::default() };
    let config = ReportConfig { delay_ms: 8, rank, ..ReportConfig::default() };
    let mut reporter = Reporter::new(&config, coding).expect("possible");
    reporter.poll_report(at(0), sinr_db).expect("due")
}

fn adapter(coding: Coding) -> LinkAdaptation {
    LinkAdaptation::new(&AdaptConfig::DOWNLINK, coding).expect("possible")
}

#[test]
fn a_report_counts_from_the_moment_it_is_usable() {
    let mut adapter = adapter(Coding::Lte64Qam);
    adapter.handle_report(report(Coding::Lte64Qam, &[12.0; 4]));
    assert_eq!(adapter.choose(at(7), SubBands::ALL), None);
    assert!(adapter.choose(at(8), SubBands::ALL).is_some());
}

#[test]
fn a_device_out_of_range_is_not_sent_to() {
    let mut adapter = adapter(Coding::Lte64Qam);
    adapter.handle_report(report(Coding::Lte64Qam, &[12.0; 4]));
    adapter.handle_report(report(Coding::Lte64Qam, &[-15.0; 4]));
    assert_eq!(adapter.choose(at(8), SubBands::ALL), None);
}

#[test]
fn the_mcs_is_the_highest_that_loses_at_most_one_in_ten() {
    for coding in [Coding::Lte64Qam, Coding::Lte256Qam, Coding::LteUplink, Coding::Nr256Qam] {
        let thresholds = coding.thresholds_db();
        for step in 0..80_u16 {
            let sinr = f32::from(step) / 2.0 - 5.0;
            let mut adapter = adapter(coding);
            adapter.handle_measurement(&[sinr; 4], 1);
            let mcs = usize::from(adapter.choose(at(0), SubBands::ALL).expect("measured").mcs);
            assert!(mcs == 0 || thresholds[mcs] <= sinr, "{coding:?} {sinr} dB: {mcs}");
            for higher in &thresholds[mcs + 1..coding.mcs_count()] {
                assert!(*higher > sinr, "{coding:?} {sinr} dB: more than {mcs} would do");
            }
        }
    }
}

#[test]
fn better_sub_bands_are_sent_to_with_a_higher_mcs() {
    let mut adapter = adapter(Coding::Lte64Qam);
    adapter.handle_report(report(Coding::Lte64Qam, &[8.0, 8.0, 16.0, 8.0]));
    let mut mcs = |bands| adapter.choose(at(8), bands).expect("reported").mcs;
    assert!(
        mcs(SubBands::one(2)) > mcs(SubBands::ALL) && mcs(SubBands::ALL) > mcs(SubBands::one(0))
    );
}

#[test]
fn a_higher_mcs_and_more_layers_send_more_bits() {
    for coding in [Coding::Lte64Qam, Coding::Lte256Qam, Coding::Nr64Qam, Coding::Nr256Qam] {
        let adapter = adapter(coding);
        let bits = |mcs, layers| adapter.bits_per_element(Choice { mcs, layers });
        let top = coding.mcs_count() as u8 - 1;
        for mcs in 0..top {
            // The first row of a modulation may send as little as the last of the one before, of NR
            // a little less.
            assert!(bits(mcs + 1, 1) > bits(mcs, 1) - 0.01, "{coding:?} {mcs}");
        }
        assert!(bits(top, 1) > 4.5 && bits(top, 2) == 2.0 * bits(top, 1), "{coding:?}");
        assert_eq!(bits(31, 1), 0.0, "reserved");
    }
}

#[test]
fn losses_lower_the_offset_and_successes_raise_it_by_the_ratio_of_the_target() {
    let config = AdaptConfig { target_error_rate: 0.1, step_db: 0.9, ..AdaptConfig::DOWNLINK };
    let mut adapter = LinkAdaptation::new(&config, Coding::Nr64Qam).expect("possible");
    let choice = Choice { mcs: 10, layers: 1 };
    adapter.handle_feedback(choice, false);
    assert!((adapter.offset_db() + 0.9).abs() < 1e-6);
    for _ in 0..9 {
        adapter.handle_feedback(choice, true);
    }
    assert!(adapter.offset_db().abs() < 1e-5, "{}", adapter.offset_db());
}

#[test]
fn the_offset_does_not_run_away_where_no_mcs_can_mend_it() {
    let mut adapter = adapter(Coding::Nr64Qam);
    for _ in 0..10_000 {
        adapter.handle_feedback(Choice { mcs: 28, layers: 1 }, true);
        adapter.handle_feedback(Choice { mcs: 0, layers: 1 }, false);
    }
    assert_eq!(adapter.offset_db(), 0.0);
    for _ in 0..10_000 {
        adapter.handle_feedback(Choice { mcs: 10, layers: 1 }, false);
    }
    assert_eq!(adapter.offset_db(), -15.0);
}

#[test]
fn settings_outside_their_ranges_are_refused_by_name() {
    for (text, name) in [
        ("target_error_rate = 0.0", "adapt.target_error_rate"),
        ("step_db = -1.0", "adapt.step_db"),
        ("initial_offset_db = nan", "adapt.initial_offset_db"),
        ("most_offset_db = 31.0", "adapt.most_offset_db"),
    ] {
        let config: AdaptConfig = toml::from_str(text).expect(text);
        assert_eq!(LinkAdaptation::new(&config, Coding::Nr64Qam).expect_err(text).what, name);
    }
}

/// The loss of a saturated link with these settings.
struct Walk {
    /// Share of first transmissions lost.
    first: f64,
    /// Median over the seconds of the share of all transmissions lost: the MPER of Gandalf §3.1.3.
    median: f64,
}

/// A device of 5G on the n78 band walks at 1.4 m/s for this many seconds, through a channel with
/// the mean of this model; a block each ms on half of the carrier; eight milliseconds to a
/// retransmission, four of them at most.
fn walk(model: &str, adapt: &AdaptConfig, uplink: bool, secs: u64, seed: u64) -> Walk {
    const CODING: Coding = Coding::Nr256Qam;
    const BITS: u32 = 20_000;
    let text = std::format!(
        "carrier = {{ frequency_mhz = 3500.0, prb = 106, subcarrier_khz = 30, duplex = 'tdd' }}
        model = {model}"
    );
    let config: ChannelConfig = toml::from_str(&text).expect("a channel");
    let mut channel = Channel::new(&config, ChaCha8Rng::seed_from_u64(seed)).expect("possible");
    let mut rng = ChaCha8Rng::seed_from_u64(seed + 1_000);
    let mut reporter = Reporter::new(&ReportConfig::default(), CODING).expect("possible");
    let mut adapter = LinkAdaptation::new(adapt, CODING).expect("possible");
    // 23 dBm on half of the carrier; the site's noise is 5 dB above thermal.
    let uplink_snr_db = |gain: f32| gain + 23.0 - 17.24 + 174.0 - 55.56 - 5.0;
    let mut uplink_db = Vec::new();
    let mut retransmissions: VecDeque<(u64, Block, SubBands)> = VecDeque::new();
    let (mut firsts, mut lost_firsts) = (0_u32, 0_u32);
    let mut by_second = Vec::new();
    let (mut sent, mut lost) = (0_u32, 0_u32);
    for millis in 1..=secs * 1_000 {
        let x_m = -0.7 * secs as f64 + 1.4 * millis as f64 / 1e3;
        channel.advance(at(millis), Motion { position: Position::new(x_m, 350.0), speed_mps: 1.4 });
        uplink_db.clear();
        uplink_db.extend(channel.uplink_gain_db().iter().map(|gain| uplink_snr_db(*gain)));
        let sinr_db = if uplink { &uplink_db } else { channel.sinr_db() };
        if !uplink {
            if let Some(report) = reporter.poll_report(at(millis), sinr_db) {
                adapter.handle_report(report);
            }
        } else if millis % 20 == 0 {
            adapter.handle_measurement(sinr_db, 1);
        }
        let again = retransmissions.front().is_some_and(|(due, ..)| *due <= millis);
        let (block, bands, first) = if again {
            let Some((_, block, bands)) = retransmissions.pop_front() else { continue };
            (block, bands, None)
        } else {
            let half =
                SubBands::one((millis % 4) as usize) | SubBands::one((millis / 4 % 4) as usize);
            let Some(choice) = adapter.choose(at(millis), half) else { continue };
            let block = Block::new(CODING, choice, BITS, &HarqConfig::default());
            (block.expect("not reserved"), half, Some(choice))
        };
        let mut block = block;
        let arrived = uniform(&mut rng) >= f64::from(block.handle_transmission(sinr_db, bands));
        if let Some(choice) = first {
            adapter.handle_feedback(choice, arrived);
            firsts += 1;
            lost_firsts += u32::from(!arrived);
        }
        sent += 1;
        lost += u32::from(!arrived);
        if !arrived && block.transmissions() < 5 {
            retransmissions.push_back((millis + 8, block, bands));
        }
        if millis % 1_000 == 0 {
            by_second.push(f64::from(lost) / f64::from(sent.max(1)));
            (sent, lost) = (0, 0);
        }
    }
    by_second.sort_by(f64::total_cmp);
    Walk {
        first: f64::from(lost_firsts) / f64::from(firsts),
        median: by_second[by_second.len() / 2],
    }
}

#[test]
fn the_outer_loop_rests_at_its_target_over_a_fading_channel() {
    let model = "{ kind = 'script', levels = [{ at_s = 0, sinr_db = 12 }], fading = {} }";
    for target in [0.02, 0.1, 0.3] {
        let config = AdaptConfig { target_error_rate: target, ..AdaptConfig::DOWNLINK };
        let walk = walk(model, &config, false, 60, 1);
        let (have, want) = (walk.first, f64::from(target));
        assert!((have / want - 1.0).abs() < 0.06, "{have}, not {want}");
    }
}

/// An urban macro site at 350 m, with shadowing, fading and interference as they are unless stated
/// otherwise.
const CITY: &str = "{ kind = 'propagation' }";

#[test]
fn the_defaults_lose_what_a_walk_through_a_city_was_measured_to_lose() {
    // Medians over seconds: 5.54 % of MAC PDUs downlink, 8.00 % uplink (Gandalf §3.1.3, Fig. 5c).
    for (config, uplink, want) in
        [(AdaptConfig::DOWNLINK, false, 0.0554), (AdaptConfig::UPLINK, true, 0.08)]
    {
        let mut medians: Vec<f64> =
            (1..=9).map(|seed| walk(CITY, &config, uplink, 60, seed).median).collect();
        medians.sort_by(f64::total_cmp);
        let have = medians[4];
        assert!((have - want).abs() < 0.005, "uplink {uplink}: {have}, not {want}: {medians:?}");
    }
}
