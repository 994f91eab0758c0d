use super::*;
use crate::limit::cake_limit;
use crate::message::{At, messages};
use crate::numbers::{TCA_CAKE_AUTORATE, TCA_KIND, TCA_OPTIONS};

fn device() -> Device {
    let kind = Some("veth".into());
    Device { name: "v0".into(), index: 3, kind, header_bytes: 14, is_up: true }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A root as the kernel lists it.
fn listed(kind: &str, autorate: u32) -> Qdisc {
    let at = At { device: 3, handle: 0x8001_0000, parent: Handle::ROOT.number(), info: 2 };
    let message = Message::new(libc::RTM_NEWQDISC, 0).about(at).text(TCA_KIND, kind);
    let message = message.nested(TCA_OPTIONS, |options| {
        let options = options.attribute(TCA_CAKE_BASE_RATE64, &1_250_000_u64.to_ne_bytes());
        options.number(TCA_CAKE_AUTORATE, autorate)
    });
    let bytes = message.finish(1);
    let read = messages(&bytes).find_map(|message| Qdisc::read(message.content));
    read.expect("it is whole")
}

/// `tc qdisc change dev v0 root handle 8001: cake bandwidth 10mbit` of iproute2 6.1, without its
/// `autorate-ingress 0`.
#[test]
fn the_rate_of_cake_is_changed_by_the_message_of_tc() {
    let handle = Handle::new(0x8001_0000);
    let sent = hex(&cake_rate(&device(), "cake", handle, 1_250_000).finish(0));
    let header = "400000002400050000000000000000000000000003000000";
    let place = "00000180ffffffff00000000";
    let options = "0900010063616b6500000000100002000c000200d012130000000000";
    assert_eq!(sent, [header, place, options].concat());
}

#[test]
fn cake_of_both_kinds_has_its_rate_at_the_root() {
    for kind in [Kind::Cake, Kind::CakeMq] {
        let root = listed(kind.name(), 0);
        assert_eq!(Kind::of(&root.kind), Some(kind));
        assert_eq!(cake_limit(&root), Ok(1_250_000));
        let sent = cake_rate(&device(), &root.kind, root.handle, 5).finish(0);
        assert!(hex(&sent).contains(&hex(kind.name().as_bytes())), "{kind}");
    }
}

#[test]
fn cake_that_sets_its_own_rate_is_left_alone() {
    let why = cake_limit(&listed("cake", 1)).expect_err("it changes").expect("it is known");
    assert!(why.contains("autorate-ingress"), "{why}");
}
