//! A peer that reports fifty times what its path carries.

use super::*;

/// The queue after two seconds of a rate that is said in this way.
fn queue_ms(law: &str, say: fn(&EstimateHandle, LinkEstimate, HostInstant)) -> f64 {
    let handle = EstimateHandle::new();
    let mut stack = Stack::new(driver(law, &handle), 2);
    let rate = Rate::from_bits_per_sec(50 * capacity(2).bits_per_sec());
    let claim = estimate(rate);
    for ms in 0..2_000 {
        if ms % 5 == 0 {
            say(&handle, claim, at(ms));
        }
        stack.pass(1_000);
    }
    stack.queue_ms()
}

#[test]
fn a_peer_is_believed_up_to_what_arrives_and_an_own_modem_is_not_doubted() {
    let peers = queue_ms("cqic", EstimateHandle::set_report);
    let own = queue_ms("cqic", EstimateHandle::set);
    assert!(peers < 200.0 && own > 1_000.0, "{peers} and {own} ms");
}
