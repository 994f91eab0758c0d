//! What several controllers ask together of those who read the modem.

use sounding_baselines::needs;
use sounding_cc::Needs;
use sounding_laws::sounding;

fn of(names: &[&str]) -> Needs {
    Needs::of_all(names.iter().filter_map(|name| needs(name)))
}

#[test]
fn estimates_have_the_span_of_the_controllers_that_use_them() {
    for told in [&["cubic", "sounding"][..], &["sounding", "sounding-cubic", "copa-gandalf"]] {
        assert_eq!(of(told).span, Some(sounding::SPAN), "{told:?}");
    }
    for told in [&["cubic"][..], &["biscay"], &["sounding", "biscay-cubic"], &[]] {
        assert_eq!(of(told).span, None, "{told:?}");
    }
}

#[test]
fn delays_are_read_if_one_uses_them() {
    assert!(of(&["sounding", "copa-gandalf"]).delays);
    assert!(!of(&["sounding", "copa"]).delays);
}

#[test]
fn a_device_reports_to_senders_that_are_all_remote() {
    assert!(of(&["pbe-cc", "pbe-cc-published"]).remote);
    assert!(!of(&["pbe-cc", "sounding"]).remote && !of(&["cubic"]).remote);
}
