//! Flows of `background` in the link of a device whose other flows a law shares out: they have what
//! those leave.

use nix::net::if_::if_nametoindex;
use sounding_bpf::{Background, BackgroundConfig, Bound, Counting, Sharing};
use sounding_emu::{Outcome, PacketRecord, monotonic_now};
use sounding_laws::Law;
use sounding_sim::world::Traffic;
use sounding_units::HostInstant;

use super::*;

const MBIT: u64 = 24;
/// The device that the emulator gives its near end.
const DEVICE: &str = "radio0";

/// A link, a law's instance that is fed with its rate and counts what leaves by it, and
/// `background` beside it.
struct Scene {
    emulation: Emulation,
    radio: Radio,
    background: Background,
    _counting: Counting,
}

impl Scene {
    fn new(test: &str) -> Option<Self> {
        let sharing = Sharing { others: true, ..Sharing::default() };
        let config =
            sounding_bpf::Config { law: Law::Sounding, sharing, ..sounding_bpf::Config::default() };
        let radio = Radio::start_as(test, MBIT, Bound::Capacity, config)?;
        let mut config = Config::new(link(&[(0, MBIT)]), link(&[(0, 1_000)]));
        config.record = true;
        let emulation = Emulation::start(config).unwrap();
        let counting = emulation.near().enter(|| {
            let device = if_nametoindex(DEVICE).unwrap();
            radio.instance.count_on(device).unwrap()
        });
        let name = format!("{}_bg", radio.instance.name());
        let background =
            Background::load(&BackgroundConfig { name, ..BackgroundConfig::default() }).unwrap();
        Some(Self { emulation, radio, background, _counting: counting.unwrap() })
    }

    fn below(&self) -> RunningTcp {
        upload(&self.emulation, self.background.name())
    }
}

/// Mbit/s that came out of each flow in a span.
fn rates(
    records: &[PacketRecord],
    flows: &[sounding_emu::Flow; 2],
    (from, to): (HostInstant, HostInstant),
) -> [f64; 2] {
    flows.map(|flow| {
        let of_flow = records.iter().filter(|record| record.flow == flow);
        let bytes: u64 = of_flow
            .filter(|record| {
                matches!(record.outcome, Outcome::Delivered { written, .. }
                    if written >= from && written < to)
            })
            .map(|record| record.size.count())
            .sum();
        bytes as f64 * 8.0 / (to - from).as_secs_f64() / 1e6
    })
}

fn span(seconds: u64) -> (HostInstant, HostInstant) {
    let from = monotonic_now();
    secs(seconds);
    (from, monotonic_now())
}

#[test]
fn a_flow_has_beside_a_background_upload_of_its_device_what_it_has_alone() {
    steadily(|| {
        let Some(scene) = Scene::new("bulk") else { return };
        let bulk = upload(&scene.emulation, scene.radio.instance.name());
        secs(2);
        let alone = span(4);
        let below = scene.below();
        secs(2);
        let beside = span(6);
        let shared = flow(&scene.radio, &bulk);
        let names = [bulk.flow(), below.flow()];
        bulk.stop().unwrap();
        secs(6);
        let after = span(4);
        below.stop().unwrap();
        let records = scene.emulation.stop().unwrap().records;
        let [alone, beside, after] =
            [alone, beside, after].map(|span| rates(&records, &names, span));
        println!("Mbit/s of both: {alone:.2?} alone, {beside:.2?} beside, {after:.2?} after");
        assert_eq!((shared.flows, shared.share), (1, mbit(MBIT)), "it shares with no flow");
        // Two segments in a round trip are 0.6 Mbit/s. Of two flows alike each would have half.
        assert!(beside[1] < 0.05 * MBIT as f64, "{beside:?}");
        assert!(beside[0] > 0.9 * alone[0], "{beside:?}, and {alone:?} alone");
        assert!(after[1] > 0.6 * MBIT as f64, "{after:?}");
    });
}

#[test]
fn a_background_upload_has_what_the_other_flows_of_its_device_leave() {
    steadily(|| {
        let Some(scene) = Scene::new("rest") else { return };
        let below = scene.below();
        secs(6);
        let alone = span(3);
        let steady = TcpFlow {
            congestion: Some(scene.radio.instance.name().into()),
            traffic: Traffic::Steady(mbit(8)),
            ..TcpFlow::new(Direction::Uplink)
        };
        let steady = steady.start(&scene.emulation).unwrap();
        secs(2);
        let beside = span(6);
        let names = [steady.flow(), below.flow()];
        steady.stop().unwrap();
        below.stop().unwrap();
        let records = scene.emulation.stop().unwrap().records;
        let [alone, beside] = [alone, beside].map(|span| rates(&records, &names, span));
        println!("Mbit/s of both: {alone:.2?} before, {beside:.2?} beside");
        assert!(beside[0] > 7.8, "{beside:?}");
        assert!(beside[1] > 6.0, "of 16 that are left: {beside:?}");
    });
}
