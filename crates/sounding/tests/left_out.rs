//! The parts of a capture that are not in a command's output are counted, by reason; a requested
//! part that occurs nowhere is reported.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

use std::collections::BTreeMap;
use std::process::{Command, Output, Stdio};

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use serde_json::Value as Json;
use sounding_diag::capture::Format;
use sounding_diag::packet::Packet;
use sounding_diag::record::{Form, compose};
use sounding_diag::{LogCode, LogRecord};
use sounding_units::ModemInstant;

fn sounding(arguments: &[&str]) -> Output {
    let program = assert_cmd::cargo::cargo_bin!("sounding");
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", said(&output));
    output
}

fn said(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// The one line that is said at the end.
fn line_said(output: &Output) -> String {
    let said = said(output);
    // These two come at the beginning.
    let is_early = |line: &&str| {
        line.starts_with("warning:") || line.starts_with("sounding: most messages are left out")
    };
    let lines: Vec<&str> = said.lines().filter(|line| !is_early(line)).collect();
    let [line] = lines[..] else { panic!("one line: {said}") };
    line.to_owned()
}

/// The rows of a table of a capture: of each the columns that are not empty.
fn table(folder: &str, code: &str) -> Vec<BTreeMap<String, Field>> {
    let file = std::fs::File::open(format!("{folder}/{code}.parquet")).unwrap();
    let reader = SerializedFileReader::new(file).unwrap();
    let rows = reader.get_row_iter(None).unwrap().map(|row| {
        let columns = row.unwrap().into_columns().into_iter();
        columns.filter(|(_, field)| *field != Field::Null).collect()
    });
    rows.collect()
}

fn lines(output: &[u8]) -> Vec<Json> {
    let text = std::str::from_utf8(output).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A capture that is put together record by record, in a folder for whatever is made of it.
struct Rig {
    folder: tempfile::TempDir,
    bytes: Vec<u8>,
    packets: u64,
}

impl Rig {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), bytes: Vec::new(), packets: 0 }
    }

    fn packet(&mut self, packet: &Packet<'_>) {
        Format::Hdlc.emit(packet, &mut self.bytes).unwrap();
        self.packets += 1;
    }

    fn body(&mut self, code: u16, body: &[u8]) {
        // 2024, a tenth of a second apart.
        let stamp = (1_100_000_000_000 + 80 * self.packets) << 16;
        let at = ModemInstant::from_diag(stamp);
        self.packet(&Packet::Log(LogRecord {
            code: LogCode::new(code),
            at,
            stamp,
            radio: None,
            body,
        }));
    }

    fn record(&mut self, code: u16, version: u32, form: &Form) {
        let mut body = Vec::new();
        compose(LogCode::new(code), version, form, &mut body).unwrap();
        self.body(code, &body);
    }

    fn message(&mut self, version: u32, pdu: u8, message: &[u8]) {
        self.record(0xB0C0, version, &Form::new().number("pdu", pdu).bytes("message", message));
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    /// The capture as a file.
    fn capture(&self) -> String {
        let path = self.path("in.qmdl");
        std::fs::write(&path, &self.bytes).unwrap();
        path
    }

    /// Converts; returns the messages and the output.
    fn convert(&self, to: &str, more: &[&str]) -> (String, Vec<u8>) {
        let to = self.path(to);
        let output = sounding(&[&["convert", &self.capture(), &to, "--force"], more].concat());
        let made = std::fs::read(&to).unwrap_or_default();
        (line_said(&output), made)
    }
}

/// NB-IoT's and LTE's enquiry for the device's capabilities (TS 36.331 §6.7.1, §6.2.2), and an LTE
/// release.
const NB_ENQUIRY: &[u8] = &[0x40, 0];
const LTE_ENQUIRY: &[u8] = &[0x38, 0, 0];
const LTE_RELEASE: &[u8] = &[0x28, 2];
/// DL-DCCH as version 13 of the record numbers it, NB-IoT's as version 15 does, and a kind that is
/// unknown there.
const LTE_DL_DCCH: u8 = 6;
const NB_DL_DCCH: u8 = 44;
const UNKNOWN_KIND: u8 = 47;

#[test]
fn a_narrowband_message_is_in_every_kind_of_output_that_has_messages() {
    let mut rig = Rig::new();
    rig.message(15, NB_DL_DCCH, NB_ENQUIRY);
    let output = sounding(&["decode", &rig.capture(), "--no-redact"]);
    assert_eq!(said(&output), "", "all of it is read");
    let [line] = &lines(&output.stdout)[..] else { panic!("one record") };
    assert_eq!(
        (&line["fields"]["pdu"], &line["fields"]["message"]),
        (&"nb_dl_dcch".into(), &"4000".into())
    );
    assert_eq!(line["decoded"]["message"], "ueCapabilityEnquiry-r13", "{line}");
    let (_, made) = rig.convert("out.jsonl", &["--no-redact"]);
    assert_eq!(lines(&made), lines(&output.stdout));

    let (line, pcapng) = rig.convert("out.pcapng", &["--no-redact"]);
    assert!(line.ends_with(": 1 message written"), "{line}");
    // The end of GSMTAP's header: subtype 15, DL-DCCH of NB-IoT, antenna, subframe and a byte that
    // is left free.
    let gsmtap = [&[15, 0, 0, 0], NB_ENQUIRY].concat();
    assert!(pcapng.windows(gsmtap.len()).any(|window| window == gsmtap), "{pcapng:02x?}");
}

#[test]
fn every_kind_of_narrowband_message_that_the_version_numbers_is_named() {
    let mut rig = Rig::new();
    for pdu in 40..=46 {
        rig.message(15, pdu, NB_ENQUIRY);
    }
    let output = sounding(&["decode", &rig.capture(), "--no-redact"]);
    let named: Vec<String> =
        lines(&output.stdout).iter().map(|line| line["fields"]["pdu"].to_string()).collect();
    let names = ["bcch_bch", "bcch_dl_sch", "pcch", "dl_ccch", "dl_dcch", "ul_ccch", "ul_dcch"];
    assert_eq!(named, names.map(|name| format!("\"nb_{name}\"")));
    assert_eq!(said(&output), "");
}

#[test]
fn an_undescribed_kind_of_message_counts_as_that_in_every_command() {
    let mut rig = Rig::new();
    rig.message(15, UNKNOWN_KIND, NB_ENQUIRY);
    rig.message(15, NB_DL_DCCH, NB_ENQUIRY);
    let capture = rig.capture();
    let counted = "not read: 1 record of unknown codes or versions";

    let output = sounding(&["decode", &capture, "--no-redact"]);
    assert!(line_said(&output).contains(counted), "{}", said(&output));
    let unknown = &lines(&output.stdout)[0];
    // The known part of it stays.
    assert_eq!(unknown["fields"]["message"], "4000");
    let why = "log 0xB0C0 v15 message of kind 47: not described, 21 bytes";
    assert_eq!(unknown["decoded"]["unread"], why);
    let output = sounding(&["decode", &capture, "--summary", "--json"]);
    let summary = &lines(&output.stdout)[0];
    assert_eq!(summary["undescribed_records"], 1, "{summary}");
    let kind = &summary["records"][0];
    assert_eq!((&kind["decoded"], &kind["unsupported"]), (&1.into(), &1.into()));

    for name in ["out.jsonl", "out.parquet", "out.pcap", "out.pcapng"] {
        for more in [&[][..], &["--no-redact"]] {
            let (line, _) = rig.convert(name, more);
            assert!(line.contains(counted), "{name} {more:?}: {line}");
        }
    }
}

/// One packet of everything that may become of one.
fn mixed() -> Rig {
    let mut rig = Rig::new();
    let transmission = Form::new().number("tb_bytes", 100);
    let report = Form::new().list("transmissions", vec![transmission]);
    rig.record(0xB139, 43, &report);
    rig.message(13, LTE_DL_DCCH, LTE_RELEASE);
    rig.message(13, LTE_DL_DCCH, LTE_ENQUIRY);
    // Parts of a message, of a version that marks them.
    for segment in [1, 7] {
        let part = Form::new().number("pdu", 9).number("segment", segment);
        rig.record(0xB0C0, 30, &part.bytes("message", LTE_ENQUIRY));
    }
    // A reconfiguration's answer that came within a message of LTE has no dissector.
    rig.record(0xB821, 7, &Form::new().number("pdu", 10).bytes("message", [0, 0]));
    // Corrupt: shorter than its version; and a message that ends before its length does.
    rig.body(0xB139, &[43, 0, 1, 0, 0]);
    rig.body(0xB0C0, &[13, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 0, 9, 0, 0x28]);
    // An undescribed code.
    rig.body(0x1FEB, &[1, 2, 3]);
    rig.packet(&Packet::Other { command: 0x7C, radio: None, body: b"a build" });
    rig.packet(&Packet::Other { command: 0x79, radio: None, body: b"a debug message" });
    rig
}

/// The number before some words.
fn number(line: &str, words: &str) -> u64 {
    let before = line.split(words).next().filter(|before| before.len() < line.len());
    let digits = before.and_then(|before| before.trim_end().rsplit([' ', '(']).next());
    digits.and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

#[test]
fn convert_counts_what_it_leaves_out_by_reason_in_one_line() {
    let rig = mixed();
    // The written packets, and those left out with reasons, in the order of the sentence; together
    // every packet.
    for (name, more, parts) in [
        (
            "out.jsonl",
            &[][..],
            &["9 records written, 6 of them hidden", "2 packets that are no log records"][..],
        ),
        (
            "out.jsonl",
            &["--no-redact"],
            &["9 records written", "2 packets that are no log records"],
        ),
        (
            "out.parquet",
            &[],
            &["9 records written, 6 of them hidden", "2 packets that are no log records"],
        ),
        (
            "out.parquet",
            &["--only", "0xB139"],
            &["2 records written", "9 packets that --only does not name"],
        ),
        (
            "out.pcap",
            &["--no-redact"],
            &[
                "2 messages written",
                "2 packets that are no log records",
                "3 records without a message",
                "2 parts of messages",
                "1 message that such a file has no place for (1 nr_reconfiguration_complete)",
                "1 corrupt record",
            ],
        ),
        (
            "out.pcapng",
            &[],
            &[
                "1 message written",
                "2 packets that may identify a person (--no-redact)",
                "2 packets that are no log records",
                "3 records without a message",
                "2 parts of messages",
                "1 corrupt record",
            ],
        ),
        ("out.qmdl", &["--no-redact"], &["11 records written"]),
        ("out.qmdl", &[], &["4 records written", "7 packets that may identify a person"]),
        ("out.dlf", &["--no-redact"], &["9 records written", "2 packets that are no log records"]),
        (
            "out.hdf",
            &["--only", "0xB0C0,0xB139", "--no-redact"],
            &["7 records written", "4 packets that --only does not name"],
        ),
    ] {
        let (line, _) = rig.convert(name, more);
        let start = format!("sounding: {}: ", rig.path("in.qmdl"));
        assert!(line.starts_with(&start), "{line}");
        let mut rest = &line[start.len()..];
        let mut sum = 0;
        for part in parts {
            let at = rest.find(part).unwrap_or_else(|| panic!("{name} {more:?}: {part}: {line}"));
            rest = &rest[at + part.len()..];
            sum += part.split(' ').next().unwrap().parse::<u64>().unwrap();
        }
        assert_eq!(sum, rig.packets, "{name} {more:?}: {line}");
    }
}

#[test]
fn convert_counts_corrupt_and_undescribed_records_and_corrupt_frames() {
    let mut rig = mixed();
    rig.bytes.extend_from_slice(&[1, 2, 3, 4, 0x7E]);
    for (name, corrupt, undescribed) in
        [("a.jsonl", 2, 1), ("a.parquet", 2, 1), ("a.pcapng", 1, 0), ("a.pcap", 1, 0)]
    {
        let (line, _) = rig.convert(name, &["--no-redact"]);
        assert_eq!(number(&line, "corrupt frame"), 1, "{name}: {line}");
        assert_eq!(number(&line, "corrupt record"), corrupt, "{name}: {line}");
        assert_eq!(
            number(&line, "record of unknown codes or versions"),
            undescribed,
            "{name}: {line}"
        );
        assert!(line.contains("the first: frame of 4 bytes at offset"), "{line}");
    }
    // A record that cannot be read goes into a capture unchanged: nothing is left out.
    let (line, _) = rig.convert("a.qmdl", &["--no-redact"]);
    assert_eq!(number(&line, "corrupt frame"), 1, "{line}");
    assert!(!line.contains("corrupt record"), "{line}");
}

#[test]
fn what_occurs_nowhere_is_said_and_is_no_failure() {
    let rig = mixed();
    let capture = rig.capture();

    let output = sounding(&["decode", &capture, "--code", "0xB139,0xB193,0x1fff,0xB193"]);
    assert_eq!(lines(&output.stdout).len(), 2);
    let line = line_said(&output);
    assert!(
        line.starts_with(&format!("sounding: {capture}: nowhere in it: 0xB193, 0x1FFF; not read:")),
        "{line}"
    );
    let output = sounding(&["decode", &capture, "--code", "0xB193", "--summary", "--json"]);
    assert_eq!(lines(&output.stdout)[0]["absent"], serde_json::json!(["0xB193"]));
    assert_eq!(line_said(&output), format!("sounding: {capture}: nowhere in it: 0xB193"));
    let output = sounding(&["decode", &capture, "--code", "0x1FEB"]);
    assert!(!said(&output).contains("nowhere"), "{}", said(&output));

    let names = "lte.pusch.tbs,lte.cell.rsrp,lte.rrc.state";
    let output = sounding(&["kpi", &capture, "--kpi", names]);
    let line = line_said(&output);
    let nowhere = "nowhere in it: lte.cell.rsrp (there is no record 0xB193)";
    assert!(line.contains(nowhere) && !line.contains("lte.pusch.tbs"), "{line}");
    let output = sounding(&["kpi", &capture, "--kpi", names, "--json"]);
    let last = lines(&output.stdout).pop().unwrap();
    assert_eq!(last["absent"][0], "lte.cell.rsrp", "{last}");

    for (name, only) in
        [("a.jsonl", "0xB139,0xB193"), ("a.dlf", "0xB139,0xB193"), ("a.parquet", "0xB139,0xB193")]
    {
        let (line, _) = rig.convert(name, &["--only", only]);
        assert!(line.contains("; nowhere in it: 0xB193"), "{name}: {line}");
    }
    // A reader that has had enough cannot say what else there is not.
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = Command::new(assert_cmd::cargo::cargo_bin!("sounding"))
        .args(["decode", &capture, "--code", "0xB139,0xB193"])
        .stdout(writer)
        .output()
        .unwrap();
    assert_eq!(said(&output), "");
}

/// The output of a modem with two of its four antennas: zero steps for the others, and a map of
/// receivers.
fn two_of_four(rig: &mut Rig) {
    let cell = Form::new()
        .number("pci", 7)
        .number("serving", 1)
        .level("rsrp_rx0_dbm", -90.0)
        .level("rsrp_rx1_dbm", -95.0)
        .level("rsrp_dbm", -90.0)
        .level("rsrp_filtered_dbm", -91.0)
        .level("rsrq_rx0_db", -10.0)
        // The least there is, of an antenna that is there.
        .level("rsrq_rx1_db", -30.0)
        .level("rsrq_db", -10.0)
        .level("rsrq_filtered_db", -10.5)
        .level("rssi_rx0_dbm", -60.0)
        .level("rssi_rx1_dbm", -65.0)
        .level("rssi_dbm", -60.0)
        .level("snr_rx0_db", 12.0)
        .level("snr_rx1_db", 9.0);
    let sub = Form::sub_packet(25, 36).number("valid_receivers", 3).list("cells", vec![cell]);
    rig.record(0xB193, 1, &Form::new().list("sub_packets", vec![sub]));
}

#[test]
fn an_antenna_that_is_not_there_has_no_level_anywhere() {
    let mut rig = Rig::new();
    two_of_four(&mut rig);
    let capture = rig.capture();
    let output = sounding(&["decode", &capture]);
    let cell = &lines(&output.stdout)[0]["fields"]["sub_packets"][0]["cells"][0];
    let of = |antenna: u32| {
        ["rsrp_rx{}_dbm", "rsrq_rx{}_db", "rssi_rx{}_dbm", "snr_rx{}_db"]
            .map(|name| cell[name.replace("{}", &antenna.to_string())].as_f64())
    };
    assert_eq!(of(0), [-90.0, -10.0, -60.0, 12.0].map(Some), "{cell}");
    assert_eq!(of(1), [-95.0, -30.0, -65.0, 9.0].map(Some), "{cell}");
    assert_eq!((of(2), of(3)), ([None; 4], [None; 4]), "{cell}");
    assert_eq!(cell["rsrp_dbm"], -90.0);

    let names = "lte.cell.rsrp_rx1,lte.cell.sinr_rx1,lte.cell.sinr_rx2,lte.cell.sinr_rx3";
    let output = sounding(&["kpi", &capture, "--kpi", names, "--csv"]);
    let values = String::from_utf8(output.stdout.clone()).unwrap();
    assert_eq!(values.lines().count(), 3, "a heading and two values: {values}");
    let nowhere = "lte.cell.sinr_rx2 (the one record 0xB193 has no value of it)";
    assert!(line_said(&output).contains(nowhere), "{}", said(&output));

    let (_, made) = rig.convert("a.jsonl", &[]);
    assert_eq!(lines(&made), lines(&sounding(&["decode", &capture]).stdout));
    rig.convert("a.parquet", &[]);
    let rows = table(&rig.path("a.parquet"), "0xB193");
    let has = |column: &str| rows.iter().any(|row| row.contains_key(column));
    assert!(has("sub_packets.cells.rsrp_rx1_dbm"), "{rows:?}");
    assert!(!has("sub_packets.cells.rsrp_rx2_dbm") && !has("sub_packets.cells.snr_rx3_db"));
}
