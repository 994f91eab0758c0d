use super::*;

fn claim(handle: &EstimateHandle) -> Claim {
    handle.flows()[0].claim
}

#[test]
fn a_connection_that_only_acknowledges_claims_nothing() {
    let handle = EstimateHandle::new();
    let mut receiver = driver("sounding", &handle);
    for ms in 0..3000 {
        receiver.handle_sent(at(ms), Bytes::new(40), ms);
    }
    assert_eq!(claim(&handle), Claim::Idle);
}

#[test]
fn a_flow_that_sends_again_claims_what_it_was_limited_to_until_its_window_is_full() {
    let handle = EstimateHandle::new();
    let mut driver = driver("cubic", &handle);
    driver.handle_sent(at(10), Bytes::new(MTU), 0);
    assert_eq!(claim(&handle), Claim::Limited(Rate::ZERO));
    driver.handle_acked(at(50), at(10), Bytes::new(MTU));
    driver.handle_acks_end(at(50), Bytes::ZERO, true);
    driver.handle_sent(at(100), Bytes::new(40), 1);
    assert_eq!(claim(&handle), Claim::Idle);
    driver.handle_sent(at(110), Bytes::new(MTU), 2);
    // 1200 bytes and 28 of headers in 40 ms.
    assert_eq!(claim(&handle), Claim::Limited(Rate::from_bytes_per_sec(30_700)));
    driver.handle_sent(at(120), Bytes::new(7 * MTU), 9);
    assert!(matches!(claim(&handle), Claim::Limited(_)));
    driver.handle_sent(at(130), Bytes::new(2 * MTU), 11);
    assert_eq!(claim(&handle), Claim::Hungry);
}

#[test]
fn a_flow_with_more_to_send_is_hungry_from_its_first_acknowledgement() {
    let handle = EstimateHandle::new();
    let mut driver = driver("cubic", &handle);
    driver.handle_sent(at(10), Bytes::new(2 * MTU), 1);
    driver.handle_acked(at(50), at(10), Bytes::new(MTU));
    driver.handle_acks_end(at(50), Bytes::new(MTU), false);
    driver.handle_sent(at(60), Bytes::new(MTU), 2);
    assert_eq!(claim(&handle), Claim::Hungry);
}

#[test]
fn a_rare_message_claims_no_more_than_its_rate_and_only_until_it_has_arrived() {
    let handle = EstimateHandle::new();
    let mut telemetry = driver("cubic", &handle);
    for message in 0..20 {
        let (left, arrived) = (at(10 + 200 * message), at(50 + 200 * message));
        telemetry.handle_sent(left, Bytes::new(MTU), message);
        let used = if message == 0 { 0 } else { 30_700 };
        assert_eq!(claim(&handle), Claim::Limited(Rate::from_bytes_per_sec(used)));
        telemetry.handle_acked(arrived, left, Bytes::new(MTU));
        telemetry.handle_acks_end(arrived, Bytes::ZERO, true);
        assert_eq!(claim(&handle), Claim::Idle);
    }
}
