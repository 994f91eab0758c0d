//! What a device says of its link in a TCP option, and what a server makes of it, in this machine's
//! kernel over a loopback that plays the radio. Where it cannot be loaded, each test says why and
//! passes.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

mod device;
#[allow(dead_code, reason = "made for kernel.rs too")]
mod support;

use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use device::{alone, load};
use sounding_bpf::{Downlink, Instance, Peer, Peers, PeersConfig, Phase, ReportCause, Signal};
use sounding_estimate::wire::{code_of, rate_of};
use sounding_estimate::{Bound, Direction, FairShare, LinkEstimate, Source, State};
use sounding_host::monotonic_now;
use sounding_units::Rate;
use support::*;

/// A rate as 16 bits carry it.
fn as_told(bits_per_sec: u64) -> Rate {
    rate_of(code_of(Some(Rate::from_bits_per_sec(bits_per_sec)))).unwrap()
}

fn hear(biscay: &Instance, cgroup: &Path) -> Peers {
    let config = PeersConfig { cgroup: Some(cgroup.into()), ..PeersConfig::default() };
    Peers::attach(biscay, &config).unwrap_or_else(|error| panic!("{error}"))
}

/// Data on its way under this instance, and the end that receives it.
fn download(biscay: &Instance) -> (Bulk, TcpStream) {
    let (near, far) = connected();
    let end = far.try_clone().unwrap();
    select(&near, biscay.name()).unwrap();
    (Bulk::start((near, far)), end)
}

const FAIR: FairShare = FairShare::new(Rate::from_bits_per_sec(12_000_000), 3, 2);

fn link(state: State, fair: Option<FairShare>) -> LinkEstimate {
    LinkEstimate::new(Direction::Downlink, Rate::from_bits_per_sec(40_000_000), Bound::Floor)
        .with_age(Duration::from_millis(20))
        .with_state(state)
        .with_source(Source::Cell)
        .with_fair(fair)
}

/// What the sender's side keeps of the device once that is so, while the device says this of its
/// link.
fn told(
    (downlink, peers): (&Downlink, &Peers),
    sender: &TcpStream,
    link: &LinkEstimate,
    is_so: impl Fn(&Peer) -> bool,
) -> Peer {
    wait_for("the device", || {
        let now = monotonic_now();
        downlink.feed().publish_link(link, now);
        downlink.feed().heartbeat(now);
        peers.peer(sender).unwrap().filter(&is_so)
    })
}

#[test]
fn a_server_keeps_what_a_device_says_of_its_link_and_its_cells() {
    alone(|cgroup| {
        let Some(biscay) = support::load() else { return };
        let peers = hear(&biscay, cgroup);
        let downlink = load(cgroup, Signal::Option);
        let (bulk, _end) = download(&biscay);
        let says = |link: &LinkEstimate, is_so: &dyn Fn(&Peer) -> bool| {
            told((&downlink, &peers), &bulk.sender, link, is_so)
        };
        // Its other end counts as one that receives until an epoch shows that it does not.
        let (all, fair) = (as_told(40_000_000), as_told(12_000_000));
        let peer = says(&link(State::Silent, Some(FAIR)), &|peer| peer.claim.rate == Some(all));
        assert_eq!((peer.claim.bound, peer.claim.state), (Bound::Floor, Some(State::Silent)));
        assert_eq!(peer.claim.fair, Some(fair));
        assert_eq!((peer.claim.users, peer.claim.carriers), (Some(3), Some(2)));
        let aged = [16, 32].map(Duration::from_millis);
        assert!(aged.contains(&peer.claim.age), "{:?}", peer.claim.age);
        assert_eq!(peer.fair, Some(FAIR.with_rate(fair)));
        let flow = biscay.flow(&bulk.sender).unwrap().unwrap();
        assert_eq!((flow.phase, flow.share), (Phase::RadioLimited, all));
        // Its cells are no longer known, and the link is another.
        let peer = says(&link(State::Active, None), &|peer| peer.claim.fair.is_none());
        assert_eq!((peer.claim.users, peer.claim.carriers, peer.fair), (None, None, None));
        assert_eq!((peer.claim.rate, peer.claim.state), (Some(all), Some(State::Active)));
        // Once, whatever it says later.
        let report = peers.poll_report().unwrap();
        assert_eq!(report.cause, ReportCause::First);
        assert_eq!(report.remote.port(), bulk.sender.peer_addr().unwrap().port());
        assert_eq!(report.claim.users, Some(3));
    });
}

#[test]
fn a_device_whose_rate_is_unknown_says_its_fair_share_and_limits_nothing() {
    alone(|cgroup| {
        let Some(biscay) = support::load() else { return };
        let peers = hear(&biscay, cgroup);
        let downlink = load(cgroup, Signal::Option);
        let (bulk, end) = download(&biscay);
        let says = |link: &LinkEstimate, is_so: &dyn Fn(&Peer) -> bool| {
            told((&downlink, &peers), &bulk.sender, link, is_so)
        };
        says(&link(State::Active, Some(FAIR)), &|peer| peer.claim.rate.is_some());
        let idle = link(State::Idle, Some(FAIR));
        let peer = says(&idle, &|peer| peer.claim.rate.is_none());
        assert_eq!((peer.claim.state, peer.claim.users), (Some(State::Idle), Some(3)));
        assert_eq!(biscay.flow(&bulk.sender).unwrap().unwrap().phase, Phase::NoEstimate);
        // A link that is left has nothing to say.
        let before = downlink.flow(&end).unwrap().unwrap();
        assert!(before.options > 0);
        let away = link(State::Handover, Some(FAIR));
        let options = || downlink.flow(&end).unwrap().unwrap().options;
        let publish = || {
            let now = monotonic_now();
            downlink.feed().publish_link(&away, now);
            downlink.feed().heartbeat(now);
        };
        publish();
        let said = options();
        let arrived = bulk.arrived();
        wait_for("data", || {
            publish();
            (bulk.arrived() > arrived + 1_000_000).then_some(())
        });
        // A segment may have been under way.
        assert!(options() <= said + 1, "{} after {said}", options());
    });
}

#[test]
fn where_sack_blocks_leave_no_room_a_device_says_its_rate_alone() {
    alone(|cgroup| {
        let Some(biscay) = support::load() else { return };
        let peers = hear(&biscay, cgroup);
        let downlink = load(cgroup, Signal::Option);
        // A queue of ten packets loses many.
        let narrow = "qdisc add dev lo root tbf rate 30mbit burst 3k limit 15k";
        match Command::new("tc").args(narrow.split(' ')).status() {
            Ok(status) if status.success() => {}
            other => {
                sounding_testdata::skip(
                    sounding_testdata::Need::Tools,
                    format_args!("tc {narrow}: {other:?}"),
                );
                return;
            }
        }
        let (bulk, end) = download(&biscay);
        let says = link(State::Active, Some(FAIR));
        let flow = || downlink.flow(&end).unwrap().unwrap();
        let short = |_: &Peer| flow().options > flow().whole_options + 10;
        let peer = told((&downlink, &peers), &bulk.sender, &says, short);
        assert!(flow().whole_options > 10, "{:?}", flow());
        // Fields that the short ones lack keep their values.
        assert!(peer.claim.rate.is_some());
        assert_eq!((peer.claim.users, peer.claim.state), (Some(3), Some(State::Active)));
        assert_eq!(peers.counts().unreadable, 0);
    });
}

#[test]
fn a_sender_obeys_the_option_and_is_bbr_without_it() {
    alone(|cgroup| {
        let Some(biscay) = support::load() else { return };
        let peers_config = PeersConfig { cgroup: Some(cgroup.into()), ..PeersConfig::default() };
        let _peers =
            Peers::attach(&biscay, &peers_config).unwrap_or_else(|error| panic!("{error}"));
        let downlink = load(cgroup, Signal::Option);
        let daemon = Daemon::publish(downlink.feed(), 40);
        let (near, far) = connected();
        let end = far.try_clone().unwrap();
        select(&near, biscay.name()).unwrap();
        let bulk = Bulk::start((near, far));
        let state = || biscay.flow(&bulk.sender).unwrap().unwrap();
        wait_for("the law to drive", || (state().phase == Phase::RadioLimited).then_some(()));
        // Its other end counts as one that receives until an epoch shows that it does not.
        let all = as_told(40_000_000);
        wait_for("all of the link", || (state().share == all).then_some(()));
        let flow = downlink.flow(&end).unwrap().unwrap();
        assert!(flow.whole_options > 0 && flow.clamps == 0, "{flow:?}");
        drop(daemon);
        downlink.feed().invalidate();
        wait_for("BBR", || (state().phase == Phase::NoEstimate).then_some(()));
        let _daemon = Daemon::publish(downlink.feed(), 20);
        wait_for("the law to be back", || {
            let state = state();
            let is_back = state.phase == Phase::RadioLimited && state.share == as_told(20_000_000);
            is_back.then_some(())
        });
    });
}

#[test]
fn another_experiments_option_says_nothing() {
    alone(|cgroup| {
        let Some(biscay) = support::load() else { return };
        let peers_config =
            PeersConfig { cgroup: Some(cgroup.into()), exid: 0x1234, ..PeersConfig::default() };
        let _peers = Peers::attach(&biscay, &peers_config).unwrap();
        let downlink = load(cgroup, Signal::Option);
        let _daemon = Daemon::publish(downlink.feed(), 40);
        let (near, far) = connected();
        let end = far.try_clone().unwrap();
        select(&near, biscay.name()).unwrap();
        let bulk = Bulk::start((near, far));
        wait_for("options", || {
            (downlink.flow(&end).unwrap().unwrap().options > 1_000).then_some(())
        });
        assert_eq!(biscay.flow(&bulk.sender).unwrap().unwrap().phase, Phase::NoEstimate);
    });
}
