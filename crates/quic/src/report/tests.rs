use super::*;

fn estimate() -> LinkEstimate {
    LinkEstimate::new(Direction::Downlink, Rate::from_bits_per_sec(48_000_000), Bound::Floor)
        .with_age(Duration::from_micros(12_345))
        .with_state(State::Silent)
        .with_source(Source::Cell)
        .with_fair(Some(FAIR))
}

/// Of one carrier: three fair shares are all.
fn seen() -> LinkEstimate {
    let cell = CellUse::new(Rate::from_bits_per_sec(48_000_000), 400, 248);
    estimate().with_cell(Some(cell))
}

const FAIR: FairShare = FairShare::new(Rate::from_bits_per_sec(16_000_000), 3, 2);

fn report(sequence: u32) -> [u8; Report::LENGTH] {
    Report::new(sequence, estimate()).emit()
}

#[test]
fn what_is_sent_is_what_arrives() {
    let sent = Report::new(0xDEAD_BEEF, estimate());
    assert_eq!(Report::parse(&sent.emit()), Ok(sent));
    let mut longer = sent.emit().to_vec();
    longer.extend([7; 9]);
    assert_eq!(Report::parse(&longer), Ok(sent));
    let bytes = sent.emit();
    assert_eq!(bytes[..9], *b"SNDG\x01\x01\x01\x03\x04");
    assert_eq!(bytes[16..24], 6_000_000_u64.to_be_bytes());
    assert_eq!(bytes[32..40], 2_000_000_u64.to_be_bytes());
    assert_eq!(bytes[40..], [0, 3, 0, 2]);
}

#[test]
fn a_report_without_a_fair_share_is_read_and_so_is_one_that_ends_within_it() {
    let none = Report::new(7, estimate().with_fair(None));
    assert_eq!(none.emit()[Report::LEAST..], [0; 12]);
    let whole = report(7);
    for length in Report::LEAST..Report::LENGTH {
        assert_eq!(Report::parse(&whole[..length]), Ok(none), "{length} bytes");
    }
    // One that is not known whole is none.
    for zeros in [32..40, 40..42, 42..44] {
        let mut bytes = whole;
        bytes[zeros].fill(0);
        assert_eq!(Report::parse(&bytes), Ok(none));
    }
}

#[test]
fn earlier_versions_ignore_the_bytes_of_blocks() {
    let sent = Report::new(7, seen());
    let bytes = sent.emit();
    assert_eq!(bytes[9..12], [101, 63, 128]);
    assert_eq!(Report::parse(&bytes), Ok(sent));
    // The layout of an earlier version, which writes zeros there and reads all else.
    let mut earlier = bytes;
    earlier[9..12].fill(0);
    assert_eq!(earlier, Report::new(7, estimate()).emit());
    assert_eq!(Report::parse(&earlier), Ok(Report::new(7, estimate())));
}

#[test]
fn blocks_that_are_not_known_whole_are_unknown() {
    for at in 9..12 {
        let mut bytes = Report::new(7, seen()).emit();
        bytes[at] = 0;
        assert_eq!(Report::parse(&bytes).unwrap().estimate.cell, None, "byte {at}");
    }
    let alone = Report::new(7, seen().with_fair(None));
    assert_eq!(Report::parse(&alone.emit()).unwrap().estimate.cell, None);
}

#[test]
fn parts_of_more_than_all_blocks_are_cut() {
    let mut bytes = Report::new(7, seen()).emit();
    bytes[9..11].fill(255);
    let cell = Report::parse(&bytes).unwrap().estimate.cell.unwrap();
    assert_eq!((cell.own, cell.idle, cell.others()), (1000, 0, 0));
}

#[test]
fn a_cells_rate_is_not_used_above_the_limit() {
    let handle = EstimateHandle::new();
    let now = HostInstant::from_nanos(1_000_000_000);
    let most = Rate::from_bits_per_sec(20_000_000);
    let mut intake = Intake::new(handle.clone()).at_most(most);
    intake.handle_datagram(now, Duration::ZERO, &Report::new(1, seen()).emit()).unwrap();
    let cell = handle.estimate(now).unwrap().cell.unwrap();
    assert_eq!((cell.rate, cell.own, cell.idle), (most, 400, 248));
}

#[test]
fn a_fair_share_too_small_or_too_crowded_to_be_written_is_the_nearest_that_is() {
    let fair = FairShare::new(Rate::ZERO, 70_000, u32::MAX);
    let sent = Report::new(0, estimate().with_fair(Some(fair)));
    let least = Rate::from_bytes_per_sec(1);
    let fair = FairShare::new(least, 65_535, 65_535);
    assert_eq!(Report::parse(&sent.emit()).unwrap().estimate.fair, Some(fair));
}

#[test]
fn every_value_has_a_code_of_its_own() {
    for (&direction, &bound) in Direction::ALL.iter().zip(Bound::ALL) {
        for (at, &source) in Source::ALL.iter().enumerate() {
            let state = State::ALL[at % State::ALL.len()];
            let estimate = estimate()
                .with_direction(direction)
                .with_bound(bound)
                .with_state(state)
                .with_source(source);
            let sent = Report::new(0, estimate);
            assert_eq!(Report::parse(&sent.emit()), Ok(sent));
        }
    }
}

#[test]
fn what_is_no_report_says_why() {
    let changed = |offset: usize, value: u8| {
        let mut bytes = report(1);
        bytes[offset] = value;
        Report::parse(&bytes).unwrap_err()
    };
    assert_eq!(changed(0, b'X'), ReportError::Other { length: 44 });
    assert_eq!(Report::parse(&report(1)[..31]), Err(ReportError::Short { length: 31 }));
    assert_eq!(changed(4, 2), ReportError::Version { version: 2 });
    for offset in [5, 6, 7, 8] {
        assert_eq!(changed(offset, 9), ReportError::Value { offset, value: 9 });
    }
    for offset in [16, 32] {
        assert!(matches!(changed(offset, 1), ReportError::Absurd { .. }));
    }
}

#[test]
fn no_report_is_used_for_longer_than_a_second() {
    let long = estimate().with_valid_for(Duration::from_secs(4000));
    let parsed = Report::parse(&Report::new(0, long).emit()).unwrap();
    assert_eq!(parsed.estimate.valid_for, MAX_VALIDITY);
}

#[test]
fn a_report_that_was_overtaken_is_not_obeyed_and_the_way_counts_as_age() {
    let handle = EstimateHandle::new();
    let mut intake = Intake::new(handle.clone());
    let now = HostInstant::from_nanos(1_000_000_000);
    let way = Duration::from_millis(30);
    for sequence in [u32::MAX - 1, 0, u32::MAX, 0] {
        intake.handle_datagram(now, way, &report(sequence)).unwrap();
    }
    intake.handle_datagram(now, way, b"else").unwrap_err();
    assert_eq!(intake.counts(), Counts { taken: 2, late: 2, refused: 1, times: 0 });
    assert_eq!(handle.estimate(now).unwrap().age, estimate().age + way);
    // Released when no more come.
    assert!(handle.estimate(now).unwrap().is_usable());
    assert!(!handle.estimate(now + Duration::from_millis(200)).unwrap().is_usable());
}

#[test]
fn a_report_of_the_peers_uplink_is_refused() {
    let handle = EstimateHandle::new();
    let mut intake = Intake::new(handle.clone());
    let uplink = estimate().with_direction(Direction::Uplink);
    let datagram = Report::new(1, uplink).emit();
    let now = HostInstant::from_nanos(1_000_000_000);
    let refused = intake.handle_datagram(now, Duration::ZERO, &datagram);
    assert_eq!(refused, Err(ReportError::Uplink));
    assert_eq!(intake.counts(), Counts { refused: 1, ..Counts::default() });
    assert_eq!(handle.estimate(now), None);
    // Nor does it make the next one late.
    intake.handle_datagram(now, Duration::ZERO, &report(0)).unwrap();
    assert_eq!(intake.counts().taken, 1);
}

#[test]
fn no_report_is_used_above_the_limit() {
    let handle = EstimateHandle::new();
    let now = HostInstant::from_nanos(1_000_000_000);
    let limits = [(4_000_000, 4_000_000), (20_000_000, 20_000_000), (100_000_000, 48_000_000)];
    for (most, believed) in limits {
        let most = Rate::from_bits_per_sec(most);
        let mut intake = Intake::new(handle.clone()).at_most(most);
        intake.handle_datagram(now, Duration::ZERO, &report(1)).unwrap();
        let estimate = handle.estimate(now).unwrap();
        assert_eq!(estimate.rate, Rate::from_bits_per_sec(believed));
        assert_eq!(estimate.fair, Some(FAIR.with_rate(FAIR.rate.min(most))));
    }
}
