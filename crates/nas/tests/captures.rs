//! NAS messages of the real captures: their names, and that the shown fields do not identify a
//! person.

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::*;
use sounding_diag::LogRecord;
use sounding_diag::capture::Capture;
use sounding_diag::layout::{Sink, Value};
use sounding_diag::packet::Packet;
use sounding_diag::record;
use sounding_nas::{Direction, NasMessage, System};
use sounding_testdata::{shared, shared_files};

/// The message of a record.
#[derive(Default)]
struct Message(Vec<u8>);

impl Sink for Message {
    fn field(&mut self, name: &'static str, value: Value<'_>) {
        if let ("message", Value::Bytes(bytes)) = (name, value) {
            self.0 = bytes.to_vec();
        }
    }
    fn begin_list(&mut self, _: &'static str) {}
    fn begin_item(&mut self) {}
    fn end_item(&mut self) {}
    fn end_list(&mut self) {}
}

fn direction(log: &LogRecord<'_>) -> Option<Direction> {
    match log.code.number() {
        0xB0E0 | 0xB0E2 | 0xB0EA | 0xB0EC => Some(Direction::Downlink),
        0xB0E1 | 0xB0E3 | 0xB0EB | 0xB0ED => Some(Direction::Uplink),
        _ => None,
    }
}

/// The values of fields that are someone's identity.
fn identities(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for key in ["\"imsi\":", "\"imei\":", "\"imeisv\":", "\"m-tmsi\":", "\"tmsi\":"] {
        for (at, _) in text.match_indices(key) {
            let value = &text[at + key.len()..];
            let end = value.find([',', '}']).unwrap_or(value.len());
            found.push(value[..end].trim_matches(['"', '{']));
        }
    }
    // Some networks give a temporary identity of zero.
    found.retain(|identity| *identity != "0");
    found
}

#[test]
fn messages_of_the_captures_have_names_and_show_no_identity() {
    let mut names: BTreeMap<String, u64> = BTreeMap::new();
    let (mut encrypted, mut refused, mut hidden) = (0, 0, 0);
    for path in shared_files("captures") {
        let bytes = std::fs::read(&path).expect("a capture can be read");
        let Ok(mut capture) = Capture::new(&bytes) else { continue };
        while let Some(found) = capture.poll_packet() {
            let Ok(located) = found else { continue };
            let Packet::Log(log) = located.packet else { continue };
            let Some(direction) = direction(&log) else { continue };
            let mut message = Message::default();
            record::decode(&log, &mut message).expect("every version of the captures is described");
            let Ok(decoded) = NasMessage::decode(System::Eps, direction, &message.0) else {
                refused += 1;
                continue;
            };
            match decoded.name() {
                Some(name) => *names.entry(name.to_owned()).or_default() += 1,
                None => encrypted += 1,
            }
            let shown = decoded.redacted();
            for identity in identities(&decoded.whole()) {
                assert!(!shown.contains(identity), "{shown} shows {identity}");
                hidden += 1;
            }
        }
    }
    if shared("captures").is_none() {
        return;
    }
    let names: Vec<String> = names.iter().map(|(name, n)| format!("{name} {n}")).collect();
    assert_eq!((names.join(", ").as_str(), encrypted, refused, hidden), (NAMES, 931, 96, 1454));
}

const NAMES: &str = "activate-dedicated-eps-bearer-context-accept 1, \
    activate-dedicated-eps-bearer-context-request 1, \
    activate-default-eps-bearer-context-accept 135, \
    activate-default-eps-bearer-context-request 294, attach-accept 168, attach-complete 165, \
    attach-reject 9, attach-request 262, authentication-failure 1, authentication-request \
    57, authentication-response 56, deactivate-eps-bearer-context-accept 3, \
    deactivate-eps-bearer-context-request 3, detach-accept 7, detach-request 67, \
    downlink-nas-transport 6, emm-information 174, emm-status 5, esm-information-request \
    160, esm-information-response 160, identity-request 74, identity-response 75, \
    modify-eps-bearer-context-accept 2, modify-eps-bearer-context-request 2, \
    pdn-connectivity-request 136, pdn-disconnect-request 1, security-mode-command 81, \
    security-mode-complete 56, service-reject 5, service-request 962, \
    tracking-area-update-accept 323, tracking-area-update-complete 289, \
    tracking-area-update-reject 5, tracking-area-update-request 349, uplink-nas-transport 6";

proptest! {
    #[test]
    fn random_messages_do_no_harm(
        start in prop::sample::select(vec![0x07u8, 0x02, 0x52, 0x17, 0x27, 0xC7, 0x7E, 0x2E]),
        rest in vec(any::<u8>(), 0..300),
        uplink: bool,
    ) {
        let bytes = [&[start], rest.as_slice()].concat();
        let direction = if uplink { Direction::Uplink } else { Direction::Downlink };
        for system in [System::Eps, System::FiveGs] {
            if let Ok(message) = NasMessage::decode(system, direction, &bytes) {
                prop_assert!(message.redacted().len() <= message.whole().len() + 16 * 64);
            }
        }
    }
}
