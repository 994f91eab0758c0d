use sounding_estimate::Direction;
use sounding_qdisc::{Error, Restored, Shaper};

use crate::{Cable, mbit, run};

#[test]
fn a_device_that_went_and_one_that_came_back_are_two_answers() {
    let Some(cable) = Cable::new() else { return };
    let mut shaper =
        cable.enter(|tc| Shaper::build(tc, Direction::Uplink, "v0", None, mbit(5)).unwrap());
    cable.run("ip link del v0");
    let gone = cable.enter(|tc| shaper.set_rate(tc, mbit(6)).unwrap_err());
    assert!(matches!(gone, Error::Gone { .. }), "{gone}");
    let lay = "ip link add v0 type veth peer name v1";
    cable.here.enter(|| run(lay)).unwrap();
    cable.run("ip link set v0 up");
    cable.run("ip link set v1 up");
    cable.wait_for_link();
    let text = cable.text();
    let (returned, restored) = cable.enter(|tc| {
        let returned = shaper.set_rate(tc, mbit(6)).unwrap_err();
        (returned, shaper.before().restore(tc).unwrap())
    });
    assert!(matches!(returned, Error::Returned { .. }), "{returned}");
    assert_eq!((restored, cable.text()), (Restored::Nothing, text.clone()));
    cable.enter(|tc| {
        let mut again = Shaper::build(tc, Direction::Uplink, "v0", None, mbit(5)).unwrap();
        again.set_rate(tc, mbit(6)).unwrap();
        assert_eq!(again.rate(tc).unwrap(), Some(mbit(6)));
        again.restore(tc).unwrap();
    });
    assert_eq!(cable.text(), text);
}

#[test]
fn an_ifb_whose_device_went_is_removed() {
    let Some(cable) = Cable::new() else { return };
    let shaper =
        cable.enter(|tc| Shaper::build(tc, Direction::Downlink, "v0", None, mbit(5)).unwrap());
    cable.run("ip link del v0");
    cable.enter(|tc| shaper.restore(tc).unwrap());
    let links = cable.run("ip -o link show");
    assert!(!links.contains("ifb4v0"), "{links}");
}
