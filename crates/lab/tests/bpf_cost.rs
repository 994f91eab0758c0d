//! The cost of our laws can be measured where they can be loaded; a test does not check its amount.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

use std::time::Duration;

use sounding_bpf::preflight;
use sounding_lab::kernel::bpf_cost::{Contender, Plan, measure};
use sounding_laws::Law;
use sounding_testdata::may_emulate;
use sounding_units::Rate;

#[test]
fn every_contender_moves_data_and_calls_are_counted() {
    if !may_emulate() || preflight("cost").iter().any(|check| !check.ok) {
        return;
    }
    let limit = Some(Rate::from_bits_per_sec(1_000_000_000));
    let plan = Plan {
        repetitions: 1,
        span: Duration::from_millis(200),
        warm_up: Duration::from_millis(100),
        limits: vec![None, limit],
    };
    let mut told = 0;
    let report = measure(&plan, |_| told += 1).unwrap();
    assert_eq!(told, report.runs.len());
    // All thirteen at full speed; a limit paces BBR already.
    assert_eq!(report.runs.len(), 13 + 12);
    for run in &report.runs {
        assert!(run.goodput_bits_per_sec > 0, "{run:?}");
        assert!(run.total_secs_per_gb > 0.0, "{run:?}");
        let most = run.limit_bits_per_sec.unwrap_or(u64::MAX);
        // Buffers filled during the warm-up may be read during the span.
        assert!(run.goodput_bits_per_sec / 3 < most, "{run:?}");
    }
    for fed in [Contender::Fed(Law::Biscay), Contender::Fed(Law::Sounding), Contender::CopaFed] {
        assert!(report.over_bbr(fed, limit).is_some());
        let mut calls = report.calls.iter().filter(|cost| cost.contender == fed);
        let counted = calls.find(|cost| cost.program == "cong_control").unwrap();
        assert!(counted.calls > 0 && counted.nanos_per_call > 0.0, "{counted:?}");
    }
    print!("{report}");
}
