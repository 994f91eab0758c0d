//! Wireshark dissects every message of the shared captures, and shows its carrier.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value as Json;
use sounding_testdata::{Need, shared, shared_files, skip};

fn program() -> Command {
    Command::new(assert_cmd::cargo::cargo_bin!("sounding"))
}

/// Whether Wireshark's form without windows is installed; a skip is reported.
fn has_tshark() -> bool {
    let has = Command::new("tshark").arg("--version").output().is_ok();
    if !has {
        skip(Need::Tools, "tshark is absent: scripts/setup test installs it");
    }
    has
}

/// Converts a capture; returns the last line that is said, or `None` if it is no capture.
fn converted(capture: &Path, to: &Path, more: &[&str]) -> Option<String> {
    let mut convert = program();
    convert.arg("convert").arg(capture).arg(to).args(["--no-redact", "--force"]).args(more);
    let output = convert.stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    output.status.success().then(|| said.lines().last().unwrap_or_default().to_owned())
}

/// The number before some words; 0 if they are absent.
fn number(line: &str, words: &str) -> u64 {
    let before =
        line.split_once(words).and_then(|(before, _)| before.trim_end().rsplit([' ', '(']).next());
    before.map_or(0, |number| number.parse().unwrap())
}

/// Wireshark's reading of a packet.
#[derive(Debug)]
struct Frame {
    number: String,
    protocols: String,
    malformed: String,
    column: String,
    comments: String,
    warnings: String,
}

impl Frame {
    /// Whether Wireshark found no dissector for it, or one that failed.
    fn is_undissected(&self) -> bool {
        let last = self.protocols.rsplit(':').next().unwrap_or_default();
        ["exported_pdu", "gsmtap", "udp", "data"].contains(&last)
            || ["", "Exported PDU"].contains(&self.column.as_str())
            || !self.malformed.is_empty()
            || self.warnings.contains("Unknown Message Type")
    }
}

/// Wireshark's reading of a file, with the options of its command line.
fn dissected(file: &Path, options: &[&str]) -> Vec<Frame> {
    let mut shark = Command::new("tshark");
    shark.args(options).args(["-T", "fields", "-E", "occurrence=a"]);
    for field in [
        "frame.number",
        "frame.protocols",
        "_ws.malformed",
        "_ws.col.Protocol",
        "frame.comment",
        "_ws.expert.message",
    ] {
        shark.args(["-e", field]);
    }
    let output = shark.arg("-r").arg(file).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let frames = text.lines().map(|line| {
        let fields: Vec<_> = line.split('\t').map(str::to_owned).collect();
        let [number, protocols, malformed, column, comments, warnings] =
            fields.try_into().unwrap_or_else(|_| panic!("six fields: {line}"));
        Frame { number, protocols, malformed, column, comments, warnings }
    });
    frames.collect()
}

/// Why Wireshark does not dissect a frame, and the options with which it does.
const REASONS: &[(&str, &[&str])] = &[(
    "Wireshark takes a ciphered NAS message for one without encryption, by its first bits",
    &["-o", "nas-eps.null_decipher:FALSE"],
)];

#[test]
fn wireshark_dissects_every_message_of_the_shared_captures() {
    if !has_tshark() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let pcapng = folder.path().join("messages.pcapng");
    let (mut captures, mut frames, mut explained, mut left) = (0, 0, 0, Vec::new());
    let files = shared_files("captures");
    for capture in &files {
        let Some(line) = converted(capture, &pcapng, &[]) else { continue };
        let found = dissected(&pcapng, &[]);
        assert_eq!(found.len() as u64, number(&line, " message"), "{line}");
        assert!(!line.contains("without the number of their carrier"), "{line}");
        captures += 1;
        frames += found.len();
        let mut failed: Vec<_> = found.into_iter().filter(Frame::is_undissected).collect();
        for (_, options) in REASONS {
            if failed.is_empty() {
                break;
            }
            let again = dissected(&pcapng, options);
            let before = failed.len();
            failed.retain(|frame| {
                let same = again.iter().find(|other| other.number == frame.number);
                same.is_none_or(Frame::is_undissected)
            });
            explained += before - failed.len();
        }
        left.extend(failed.into_iter().map(|frame| format!("{}: {frame:?}", capture.display())));
    }
    if files.is_empty() {
        return;
    }
    assert!(captures > 50 && frames > 90_000, "{captures} captures, {frames} frames");
    assert!(left.is_empty(), "{} frames are not dissected:\n{}", left.len(), left.join("\n"));
    // A reason that explains nothing is to be removed.
    assert!(explained > 0, "{REASONS:?}");
}

/// A capture of NR beside LTE, with carriers of LTE above 16383.
fn of_nr() -> Option<PathBuf> {
    let name = "20201116_124345_Xiaomi-Mi10_46000.mi2log";
    shared(&format!("captures/mobile-insight__mobileinsight-core/{name}"))
}

/// Carrier, cell and direction of each message of RRC that GSMTAP version 2 has no place for, from
/// the fields of its record.
fn beyond_gsmtap(capture: &Path) -> Vec<String> {
    let mut decode = program();
    let output = decode.arg("decode").arg(capture).arg("--no-redact").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let mut comments = Vec::new();
    for line in text.lines() {
        let line: Json = serde_json::from_str(line).unwrap();
        let fields = &line["fields"];
        let (Some(pdu), Some(cell)) = (fields["pdu"].as_str(), fields["pci"].as_u64()) else {
            continue;
        };
        let direction = if pdu.contains("_ul_") { "uplink" } else { "downlink" };
        match (fields["earfcn"].as_u64(), fields["nr_arfcn"].as_u64()) {
            (Some(carrier @ 16384..), None) => {
                comments.push(format!("EARFCN {carrier}, PCI {cell}, {direction}"));
            }
            // Wireshark has no dissector for the answer to a reconfiguration that stands alone.
            (None, Some(_)) if pdu == "nr_reconfiguration_complete" => {}
            // A message within one of LTE.
            (None, Some(0)) => comments.push(direction.to_owned()),
            (None, Some(carrier)) => {
                comments.push(format!("NR-ARFCN {carrier}, PCI {cell}, {direction}"));
            }
            _ => {}
        }
    }
    comments
}

#[test]
fn a_message_beyond_gsmtap_has_its_carrier_cell_and_direction_as_comment() {
    let Some(capture) = of_nr() else { return };
    if !has_tshark() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let pcapng = folder.path().join("messages.pcapng");
    converted(&capture, &pcapng, &[]).unwrap();
    let found = dissected(&pcapng, &[]);
    let (exported, gsmtap): (Vec<_>, Vec<_>) =
        found.iter().partition(|frame| frame.protocols.starts_with("exported_pdu"));
    let comments: Vec<_> = exported.iter().map(|frame| frame.comments.clone()).collect();
    assert_eq!(comments, beyond_gsmtap(&capture));
    for part in ["EARFCN", "NR-ARFCN", "uplink"] {
        assert!(comments.iter().any(|comment| comment.contains(part)), "{part}");
    }
    assert!(gsmtap.iter().all(|frame| frame.comments.is_empty()));
    assert!(!gsmtap.is_empty());
}

#[test]
fn convert_counts_messages_without_a_place_by_their_kind() {
    let Some(capture) = of_nr() else { return };
    let folder = tempfile::tempdir().unwrap();
    let [pcap, pcapng] = ["a.pcap", "a.pcapng"].map(|name| folder.path().join(name));
    let complete =
        number(&converted(&capture, &pcapng, &[]).unwrap(), " nr_reconfiguration_complete");
    assert!(complete > 0);
    // A pcap has no place for NR at all.
    let line = converted(&capture, &pcap, &[]).unwrap();
    assert_eq!(number(&line, " nr_reconfiguration_complete"), complete, "{line}");
    for kind in [" nr_reconfiguration,", " nr_radio_bearer_config", " nr_ul_dcch"] {
        assert!(number(&line, kind) > 0, "{line}");
    }
    // Version 3 of GSMTAP has one, but for a kind that its proposal does not number.
    let line = converted(&capture, &pcap, &["--gsmtap", "3"]).unwrap();
    let left = line.split_once("such a file has no place for (").unwrap().1;
    assert!(left.split_once(')').unwrap().0.ends_with(" nr_radio_bearer_config"), "{line}");
    assert!(!left.split_once(')').unwrap().0.contains(','), "{line}");
    assert!(!line.contains("without the number of their carrier"), "{line}");
}

#[test]
fn a_version_of_gsmtap_is_refused_where_no_gsmtap_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let capture = folder.path().join("in.qmdl");
    std::fs::write(&capture, []).unwrap();
    let mut convert = program();
    convert.arg("convert").arg(&capture).arg(folder.path().join("out.jsonl"));
    let output = convert.args(["--gsmtap", "3"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("--gsmtap is for messages"), "{said}");
}
