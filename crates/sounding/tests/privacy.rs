//! No output contains the personal data of the real captures.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

use std::collections::BTreeSet;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value as Json;
use sounding_diag::capture::{Capture, Format};
use sounding_testdata::{shared, shared_files};

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

/// Parts of RRC messages that show a person's identity or location, as the independent reader names
/// them.
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

/// The identity in an attach request or an identity response (TS 24.301 §8.2.4, §8.2.19; TS 24.008
/// §10.5.1.4).
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
    // Check that the search can find the data at all.
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
        let ways = [
            format!("{number:08x}"),
            format!("{:08x}", number.swap_bytes()),
            format!("{number:032b}"),
            format!(":{number},"),
            format!(":{number}}}"),
        ];
        for written in ways {
            assert!(!text.contains(&written), "{file}: a line holds {written}");
        }
    }
    for digits in &known.digits {
        assert!(!text.contains(digits.as_str()), "{file}: a line holds an IMSI or IMEI");
        let listed: Vec<_> = digits.chars().map(String::from).collect();
        assert!(!text.contains(&listed.join(",")), "{file}: a line holds an IMSI or IMEI");
    }
}

/// The remaining bytes are still a file of its kind, if there are any.
fn recognised(name: &str, bytes: &[u8]) -> bool {
    let format = match name {
        "a.hdf" => Format::Hdf,
        "a.dlf" => Format::Dlf,
        _ => return true,
    };
    bytes.is_empty() || Capture::new(bytes).is_ok_and(|capture| capture.kind().format == format)
}

/// Members of RRC and NAS messages with a person's identity, location, or called number, as our own
/// decoder names them.
const IDENTITIES: &[&str] = &[
    "imsi",
    "imei",
    "imeisv",
    "tmsi",
    "guti",
    "i-rnti",
    "randomvalue",
    "msin",
    "msisdn",
    "called",
    "calling",
    "cellidentity",
    "coordinates",
    "resumeid",
    "address",
    "suci",
    "apn",
    "text",
];

/// Collects the leaves under members of such names.
fn identities(name: &str, value: &Json, inside: bool, found: &mut BTreeSet<String>) {
    let inside = inside || {
        let name = name.to_lowercase();
        IDENTITIES.iter().any(|part| name.contains(part))
    };
    match value {
        Json::Object(members) => {
            members.iter().for_each(|(name, value)| identities(name, value, inside, found));
        }
        Json::Array(items) => {
            // Digits one by one are one identity.
            let digits: Option<Vec<_>> = items.iter().map(Json::as_u64).collect();
            match digits {
                Some(digits) if inside && digits.len() > 5 => {
                    found.insert(digits.iter().map(|digit| format!("{digit},")).collect());
                    found.insert(digits.iter().map(u64::to_string).collect());
                }
                _ => items.iter().for_each(|item| identities("", item, inside, found)),
            }
        }
        // Shorter ones are kinds and lengths, or come by chance.
        Json::String(text) if inside && text.len() >= 8 => drop(found.insert(text.clone())),
        Json::Number(number) if inside && number.to_string().len() >= 8 => {
            found.insert(number.to_string());
        }
        _ => {}
    }
}

fn decode(capture: &Path, more: &[&str]) -> Vec<Json> {
    let program = assert_cmd::cargo::cargo_bin!("sounding");
    let output = Command::new(program).arg("decode").arg(capture).args(more).output().unwrap();
    assert!(output.status.success(), "{}", capture.display());
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The leaves of what is shown.
fn leaves<'j>(value: &'j Json, each: &mut impl FnMut(&'j Json)) {
    match value {
        Json::Object(members) => members.values().for_each(|value| leaves(value, each)),
        Json::Array(items) => items.iter().for_each(|item| leaves(item, each)),
        leaf => each(leaf),
    }
}

/// A string of bits or bytes. The specifications have names such as `eea2` and `dB10`, and none so
/// long.
fn is_string_of_digits(text: &str) -> bool {
    text.len() >= 6 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[test]
fn no_capture_shows_in_a_message_what_its_own_decoding_calls_an_identity() {
    let (mut hidden, mut shown, mut met) = (0, 0, 0);
    for path in shared_files("captures") {
        let bytes = std::fs::read(&path).unwrap();
        if Capture::new(&bytes).is_err() {
            continue;
        }
        let open = decode(&path, &["--no-redact"]);
        let mut secrets = BTreeSet::new();
        for line in &open {
            identities("", &line["decoded"]["content"], false, &mut secrets);
        }
        // Values in every message identify no person: a word of the specification, a field of only
        // zeros or ones.
        secrets.retain(|secret| {
            secret.bytes().any(|byte| byte.is_ascii_digit())
                && !matches!(secret.bytes().collect::<BTreeSet<_>>().len(), 1)
        });
        met += secrets.len();
        for line in decode(&path, &[]) {
            let at = || format!("{} at {}", path.display(), line["offset"]);
            let decoded = &line["decoded"];
            if line["redacted"] == true && !decoded.is_null() {
                hidden += 1;
                leaves(decoded, &mut |leaf| {
                    if let Some(text) = leaf.as_str() {
                        assert!(!is_string_of_digits(text), "{}: {text}", at());
                    }
                    shown += usize::from(leaf != "redacted");
                });
            }
            let text = decoded.to_string();
            let words = text.split(|c: char| !c.is_ascii_alphanumeric());
            let words: BTreeSet<&str> = words.filter(|word| word.len() >= 8).collect();
            for secret in &secrets {
                let is_there = match secret.contains(',')
                    || !secret.bytes().all(|byte| byte.is_ascii_alphanumeric())
                {
                    true => text.contains(secret.as_str()),
                    false => words.contains(secret.as_str()),
                };
                assert!(!is_there, "{} shows {secret}: {text}", at());
            }
        }
    }
    if shared("captures").is_some() {
        assert!(met > 1000 && hidden > 10_000 && shown > 100_000, "{met} {hidden} {shown}");
    }
}

/// Every capture that an independent reader has described, in the three kinds of file that differ
/// in how messages get there.
#[test]
fn no_capture_gives_away_what_an_independent_reader_found_in_it() {
    let mut known_of_all = 0;
    for path in shared_files("captures") {
        let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
        let (folder, file) = (name(path.parent().unwrap()), name(&path));
        let expected =
            path.ancestors().nth(3).unwrap().join(format!("expected/{folder}_{file}.jsonl.zst"));
        if !expected.exists() {
            continue;
        }
        let known = Known::of(&expected);
        known_of_all += known.messages.len() + known.temporary.len() + known.digits.len();
        let out = tempfile::tempdir().unwrap();
        let text = convert(&path, &out.path().join("a.jsonl"), &[]);
        lines_hide(&known, &String::from_utf8(text).unwrap(), &file);
        for name in ["a.qmdl", "a.pcapng"] {
            let bytes = convert(&path, &out.path().join(name), &[]);
            let bytes = if name == "a.qmdl" { unframed(&bytes) } else { bytes };
            for message in &known.messages {
                assert!(!holds(&bytes, message), "{file}: {name} holds {message:02x?}");
            }
            assert_eq!(held_number(&bytes, &known.temporary), None, "{file}: {name}");
            for digits in &known.digits {
                assert!(!holds(&bytes, digits.as_bytes()), "{file}: {name}");
            }
        }
    }
    assert!(known_of_all > 1000 || shared("expected").is_none(), "{known_of_all}");
}

/// The first of the numbers that lies in a message, as [`holds_number`] looks for one.
fn held_number(bytes: &[u8], numbers: &BTreeSet<u32>) -> Option<u32> {
    let swapped: BTreeSet<u32> = numbers.iter().map(|number| number.swap_bytes()).collect();
    bytes.windows(5).find_map(|window| {
        let word = window.iter().fold(0u64, |word, &byte| word << 8 | u64::from(byte));
        let shifted = (0..=8).map(|shift| (word >> shift) as u32);
        let found = shifted.into_iter().find(|number| numbers.contains(number));
        found.or(Some((word >> 8) as u32).filter(|number| swapped.contains(number)))
    })
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
