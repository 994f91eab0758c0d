//! What real captures are known to hold about their users is in nothing that is made of them.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

use std::collections::BTreeSet;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value as Json;
use sounding_diag::capture::{Capture, Format};
use sounding_testdata::shared;

/// What an independent reader found in a capture.
#[derive(Default)]
struct Known {
    /// NAS messages, and RRC messages that carry NAS or an identity.
    messages: BTreeSet<Vec<u8>>,
    /// Temporary identities of the network.
    temporary: BTreeSet<u32>,
    /// IMSI and IMEI, as digits.
    digits: BTreeSet<String>,
}

/// Parts of RRC messages that say who or where somebody is, as the independent reader names them.
const TELLING: &[&str] = &["TMSI", "imsi", "cellIdentity", "dedicatedInfoNAS", "registeredMME"];

impl Known {
    fn of(expected: &Path) -> Self {
        let mut text = String::new();
        let packed = std::fs::File::open(expected).unwrap();
        zstd::stream::read::Decoder::new(packed).unwrap().read_to_string(&mut text).unwrap();
        let mut known = Self::default();
        for line in text.lines() {
            let Ok(line) = serde_json::from_str::<Json>(line) else { continue };
            let code = line["code"].as_str().unwrap_or_default();
            let found = &line["mi"];
            if let Some(identity) = found["GUTI M-TMSI"].as_str() {
                let number = u32::from_str_radix(identity.trim_start_matches("0x"), 16);
                // All ones stand for none.
                known.temporary.extend(number.ok().filter(|&number| number != u32::MAX));
            }
            let message = bytes(found["Msg"]["hex"].as_str().unwrap_or_default());
            let parts = found["Msg"]["ws"].to_string();
            let is_nas = code.starts_with("0xB0E");
            if message.len() >= 8 && (is_nas || TELLING.iter().any(|word| parts.contains(word))) {
                known.messages.insert(message.clone());
            }
            known.digits.extend(is_nas.then(|| identity_digits(&message)).flatten());
        }
        known
    }
}

fn bytes(hex: &str) -> Vec<u8> {
    let pairs = (0..hex.len() / 2).map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16));
    pairs.map(Result::unwrap).collect()
}

/// The identity in an attach request or an identity response (TS 24.301 §8.2.4, §8.2.19; TS 24.008 §10.5.1.4).
fn identity_digits(message: &[u8]) -> Option<String> {
    let value = match message {
        [7, 0x41, _, len, value @ ..] | [7, 0x56, len, value @ ..] => {
            value.get(..usize::from(*len))?
        }
        _ => return None,
    };
    let (&first, rest) = value.split_first()?;
    if !matches!(first & 7, 1..=3) {
        return None;
    }
    let nibbles = rest.iter().flat_map(|octet| [octet & 15, octet >> 4]);
    let digits = std::iter::once(first >> 4).chain(nibbles);
    Some(digits.filter(|&digit| digit < 10).map(|digit| char::from(b'0' + digit)).collect())
}

/// Every way in which four bytes can lie in a message: any bit, either order of bytes.
fn holds_number(bytes: &[u8], number: u32) -> bool {
    bytes.windows(5).any(|window| {
        let word = window.iter().fold(0u64, |word, &byte| word << 8 | u64::from(byte));
        (0..=8).any(|shift| (word >> shift) as u32 == number)
            || (word >> 8) as u32 == number.swap_bytes()
    })
}

fn holds(bytes: &[u8], needle: &[u8]) -> bool {
    memchr::memmem::find(bytes, needle).is_some()
}

fn convert(capture: &Path, output: &Path, more: &[&str]) -> Vec<u8> {
    let program = assert_cmd::cargo::cargo_bin!("sounding");
    let done = Command::new(program)
        .arg("convert")
        .args([capture, output])
        .args(more)
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert!(done.success(), "{}", output.display());
    std::fs::read(output).unwrap()
}

/// What frames carry, without the framing.
fn unframed(capture: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let Ok(mut capture) = Capture::new(capture) else { return out };
    while let Some(found) = capture.poll_packet() {
        if let Ok(located) = found {
            located.packet.emit(&mut out).unwrap();
        }
    }
    out
}

fn keeps_its_secrets(folder: &str, file: &str) {
    let Some(capture) = shared(&format!("captures/{folder}/{file}")) else { return };
    let Some(expected) = shared(&format!("expected/{folder}_{file}.jsonl.zst")) else { return };
    let known = Known::of(&expected);
    assert!(known.messages.len() > 10, "{file}: nothing to look for");
    let out = tempfile::tempdir().unwrap();
    // The search finds what is there.
    let open = unframed(&convert(&capture, &out.path().join("open.qmdl"), &["--no-redact"]));
    assert!(known.messages.iter().all(|message| holds(&open, message)), "{file}");
    assert!(known.temporary.iter().all(|&number| holds_number(&open, number)), "{file}");
    for name in ["a.qmdl", "a.hdf", "a.dlf", "a.pcap", "a.pcapng", "a.jsonl"] {
        let mut bytes = convert(&capture, &out.path().join(name), &[]);
        if name == "a.qmdl" {
            bytes = unframed(&bytes);
        }
        if name == "a.jsonl" {
            lines_hide(&known, &String::from_utf8(bytes).unwrap(), file);
            continue;
        }
        for message in &known.messages {
            assert!(!holds(&bytes, message), "{file}: {name} holds {message:02x?}");
        }
        for &number in &known.temporary {
            assert!(!holds_number(&bytes, number), "{file}: {name} holds {number:08x}");
        }
        for digits in &known.digits {
            assert!(!holds(&bytes, digits.as_bytes()), "{file}: {name}");
        }
        assert!(recognised(name, &bytes), "{file}: {name}");
    }
}

fn lines_hide(known: &Known, text: &str, file: &str) {
    for message in &known.messages {
        let hex: String = message.iter().map(|byte| format!("{byte:02x}")).collect();
        assert!(!text.contains(&hex), "{file}: a line holds {hex}");
    }
    for number in &known.temporary {
        for written in [format!("{number:08x}"), format!("{:08x}", number.swap_bytes())] {
            assert!(!text.contains(&written), "{file}: a line holds {written}");
        }
    }
    for digits in &known.digits {
        assert!(!text.contains(digits.as_str()), "{file}: a line holds an IMSI or IMEI");
    }
}

/// What is left is still a file of its kind, if anything is left.
fn recognised(name: &str, bytes: &[u8]) -> bool {
    let format = match name {
        "a.hdf" => Format::Hdf,
        "a.dlf" => Format::Dlf,
        _ => return true,
    };
    bytes.is_empty() || Capture::new(bytes).is_ok_and(|capture| capture.kind().format == format)
}

macro_rules! captures {
    ($($test:ident = $folder:literal, $file:literal;)*) => {
        $(#[test]
        fn $test() {
            keeps_its_secrets($folder, $file);
        })*
    };
}

captures! {
    attaching = "mobile-insight__mobileinsight-core", "attach_sample.mi2log";
    failing_to_attach = "Exilarch__mobileinsight-core", "attach_fr_sample.mi2log";
    failing_to_authenticate = "Exilarch__mobileinsight-core", "auth_fr_sample.mi2log";
    moving = "mobile-insight__mobileinsight-core", "mobility_sample.mi2log";
    of_an_operator = "mobile-insight__mobileinsight-core", "cmcc.mi2log";
    of_a_hotspot = "ZeroChaos-__rayhunter-traces", "1749222138-goodsim.qmdl";
    of_a_newer_modem = "mobile-insight__mobileinsight-core", "20201116_123302_Xiaomi-Mi10_46000.mi2log";
}
