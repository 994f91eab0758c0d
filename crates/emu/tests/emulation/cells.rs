//! A modelled cell in real time.

use std::sync::mpsc;
use std::time::Duration;

use crate::common::{assert_conserved, datagram, eventually, sockets};
use sounding_cell::config::{CarrierConfig, DeviceConfig};
use sounding_cell::modem::ModemConfig;
use sounding_cell::radio::{ModelConfig, ScriptConfig};
use sounding_emu::{Config, Direction, Emulation, Outcome, Slot, Tap};
use sounding_sim::{Device, Radio, Reading};
use sounding_testdata::may_emulate;

/// Devices that stand where nothing is lost, the modem of the first one listened to.
fn radio(devices: u16) -> Radio<Slot> {
    let channel = ModelConfig::Script(ScriptConfig::constant(20.0));
    let device = DeviceConfig { channel, ..DeviceConfig::default() };
    let carrier = CarrierConfig { prb: 50, ..CarrierConfig::default() };
    let mut radio = Radio::new(vec![carrier], 1).unwrap();
    radio.add_listened(device.clone(), ModemConfig::default(), Reading::AT_ONCE).unwrap();
    for _ in 1..devices {
        radio.add_device(device.clone()).unwrap();
    }
    radio
}

#[test]
fn packets_cross_the_cell_both_ways_and_its_modem_writes_about_it() {
    if !may_emulate() {
        return;
    }
    let (taken, diag) = mpsc::channel();
    let mut config = Config::over(radio(1), vec![Device(0)]);
    config.record = true;
    config.tap = Some(Tap::new(move |diag| taken.send(diag).is_ok()));
    let emulation = Emulation::start(config).unwrap();
    let (near, far) = sockets(&emulation);
    for _ in 0..20 {
        near.send(&datagram(1000)).unwrap();
        far.recv(&mut [0; 2000]).unwrap();
        far.send(&datagram(1400)).unwrap();
        near.recv(&mut [0; 2000]).unwrap();
    }
    let heard: Vec<_> = diag.iter().take(20).collect();
    let started = emulation.started();
    let report = emulation.stop().unwrap();
    assert_conserved(&report.up);
    assert_conserved(&report.down);
    assert_eq!((report.up.delivered, report.down.delivered), (20, 20));
    assert!(heard.iter().all(|piece| piece.at >= started && piece.bytes.last() == Some(&0x7E)));
    // A slot each millisecond, and how late each was is counted.
    assert!(u128::from(report.pace.steps.count()) >= report.ran.as_millis() / 2);
    for record in &report.records {
        let Outcome::Delivered { due, .. } = record.outcome else { panic!("{record:?}") };
        // Asking for the first grant and HARQ's processing take some milliseconds of the cell's own
        // time.
        let least =
            Duration::from_millis(if record.direction == Direction::Uplink { 4 } else { 1 });
        assert!(due - record.entered >= least, "{record:?}");
    }
}

#[test]
fn each_device_has_a_host_of_its_own_and_both_share_the_cell() {
    if !may_emulate() {
        return;
    }
    // The one between them has none.
    let hosts = [Device(0), Device(2)];
    let emulation = Emulation::start(Config::over(radio(3), hosts.to_vec())).unwrap();
    assert!(emulation.host(Device(1)).is_none());
    let far_address = emulation.far_address();
    let bind = |address| std::net::UdpSocket::bind((address, 0)).unwrap();
    let far = emulation.far().enter(|| bind(far_address)).unwrap();
    far.set_read_timeout(Some(crate::common::PATIENCE)).unwrap();
    for device in hosts {
        let address = emulation.address(device).unwrap();
        let near = emulation.host(device).unwrap().enter(|| bind(address)).unwrap();
        near.set_read_timeout(Some(crate::common::PATIENCE)).unwrap();
        near.connect(far.local_addr().unwrap()).unwrap();
        near.send(b"there").unwrap();
        let (_, from) = far.recv_from(&mut [0; 10]).unwrap();
        assert_eq!(from.ip(), address);
        far.send_to(b"and back", from).unwrap();
        near.recv(&mut [0; 10]).unwrap();
    }
    assert!(eventually(|| emulation.counts(Direction::Downlink).delivered == 2));
    let report = emulation.stop().unwrap();
    let ways: Vec<_> = report
        .devices
        .iter()
        .map(|way| (way.device, way.up.delivered, way.down.delivered))
        .collect();
    assert_eq!(ways, [(Device(0), 1, 1), (Device(2), 1, 1)]);
}

#[test]
fn more_hosts_than_namespaces_are_refused() {
    let hosts = (0..65).map(Device).collect();
    let error = Emulation::start(Config::over(radio(1), hosts)).unwrap_err();
    assert!(error.to_string().contains("1 to 64"), "{error}");
}
