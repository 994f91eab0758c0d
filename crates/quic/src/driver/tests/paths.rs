use super::*;

#[test]
fn a_new_path_begins_with_the_smallest_rtt_and_no_more() {
    let handle = EstimateHandle::new();
    let mut stack = Stack::new(driver("cubic", &handle), 2);
    (0..500).for_each(|_| stack.pass(u64::MAX));
    let renewed = stack.driver.renewed();
    assert_eq!(renewed.window(), renewed.initial_window());
    assert!(renewed.start.rtt >= Some(Duration::from_millis(RTT_MS)));
}

#[test]
fn a_new_path_begins_when_something_happens_there_and_draws_the_same_lots() {
    let (begins, begun) = channel();
    let (sender, _heard) = channel();
    let make: Maker = Arc::new(move |start: &Start| -> Box<dyn Controller> {
        begins.send(*start).unwrap();
        Box::new(Told(sender.clone()))
    });
    let mut driver = Driver::new(&make, start(), &EstimateHandle::new());
    driver.handle_sent(at(0), Bytes::new(MTU), 0);
    driver.handle_acked(at(40), at(0), Bytes::new(MTU));
    driver.handle_acks_end(at(40), Bytes::ZERO, true);
    let mut renewed = driver.renewed();
    renewed.handle_sent(at(5000), Bytes::new(MTU), 1);
    renewed.handle_sent(at(5001), Bytes::new(MTU), 2);
    let rtt = Some(Duration::from_millis(40));
    assert_eq!(begun.try_iter().last(), Some(Start { now: at(5000), rtt, ..start() }));
}

#[test]
fn the_path_that_was_left_is_no_flow_until_something_leaves_there_again() {
    let handle = EstimateHandle::new();
    let mut driver = driver("cubic", &handle);
    driver.handle_sent(at(10), Bytes::new(20 * MTU), 19);
    let claims = || handle.flows().iter().map(|flow| flow.claim).collect::<Vec<_>>();
    assert_eq!(claims(), [Claim::Hungry]);
    let renewed = driver.renewed();
    assert_eq!(claims(), [Claim::Idle]);
    drop(renewed);
    assert!(claims().is_empty());
    // As after a look at the state of the connection, for which a stack makes a copy.
    driver.handle_sent(at(11), Bytes::new(MTU), 20);
    assert_eq!(claims(), [Claim::Hungry]);
}

#[test]
fn what_left_by_the_path_before_is_none_of_the_new_ones() {
    let (mut driver, heard) = told();
    driver.handle_sent(at(0), Bytes::new(3 * MTU), 2);
    let mut renewed = driver.renewed();
    renewed.handle_lost(at(40), 0, Bytes::new(MTU));
    renewed.handle_sent(at(50), Bytes::new(MTU), 3);
    renewed.handle_lost(at(90), 2, Bytes::new(MTU));
    renewed.handle_lost_together(at(90), at(0), Bytes::new(2 * MTU));
    renewed.handle_acked(at(90), at(0), Bytes::new(MTU));
    renewed.handle_acks_end(at(90), Bytes::new(MTU), false);
    assert!(heard.try_iter().all(|heard| matches!(heard, Heard::Sent(..))));
    renewed.handle_sent(at(100), Bytes::new(MTU), 4);
    renewed.handle_lost(at(140), 3, Bytes::new(MTU));
    renewed.handle_lost_together(at(140), at(100), Bytes::new(MTU));
    assert_eq!(losses(&heard), [(MTU, true), (MTU, false)]);
}

#[test]
fn numbers_that_begin_anew_within_a_connection_are_its_own() {
    let (mut driver, heard) = told();
    driver.handle_sent(at(0), Bytes::new(MTU), 1);
    driver.handle_sent(at(10), Bytes::new(MTU), 0);
    driver.handle_lost(at(90), 0, Bytes::new(MTU));
    assert_eq!(losses(&heard), [(MTU, true)]);
}

#[test]
fn packets_from_before_an_address_changed_do_not_reach_the_new_controller() {
    // A stack makes a new controller there, and continues the numbers.
    let (mut driver, heard) = told();
    driver.handle_sent(at(10), Bytes::new(MTU), 100);
    driver.handle_lost(at(50), 99, Bytes::new(MTU));
    let before = at(0).saturating_before(Duration::from_millis(5));
    driver.handle_lost_together(at(50), before, Bytes::new(MTU));
    assert!(losses(&heard).is_empty());
    driver.handle_lost(at(50), 100, Bytes::new(MTU));
    assert_eq!(losses(&heard), [(MTU, true)]);
}
