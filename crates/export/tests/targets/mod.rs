//! The code of the fuzz targets. The test `corpus` runs it with the seeds.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use sounding_diag::{LogCode, LogRecord};
use sounding_export::message::Message;
use sounding_export::packets::Packets;
use sounding_export::pcap::Became;
use sounding_export::privacy::{self, Privacy};
use sounding_export::table::Tables;
use sounding_export::{json, messages, pcap};
use sounding_units::ModemInstant;

/// What a line of a hidden record may have.
const SHOWN: &[&str] =
    &["offset", "code", "name", "stamp", "unix_ns", "radio", "decoded", "redacted", "len_bytes"];

/// Reads records, each with a code, a length in two bytes and a body. Writes them in every format
/// and reads them back. The output must not contain hidden content. Returns the number of records.
pub(crate) fn export(data: &[u8]) -> usize {
    let records = records(data);
    for privacy in [Privacy::Redact, Privacy::Expose] {
        lines(&records, privacy);
        tables(&records, privacy);
    }
    pcaps(&records);
    records.len()
}

/// Reads a file of packets. Returns how many there are.
pub(crate) fn packets(data: &[u8]) -> usize {
    let Ok(found) = Packets::read(data) else { return 0 };
    assert!(found.packets.is_sorted_by_key(|packet| packet.at_ns));
    let of_flows: u64 = found.flows.iter().map(|flow| flow.packets).sum();
    assert_eq!(of_flows, found.packets.len() as u64);
    assert!(found.packets.iter().all(|packet| (packet.flow as usize) < found.flows.len()));
    assert_eq!(found.largest().is_some(), !found.packets.is_empty());
    found.packets.len()
}

fn records(mut data: &[u8]) -> Vec<LogRecord<'_>> {
    let mut records = Vec::new();
    while let Some((&[c0, c1, l0, l1], rest)) = data.split_first_chunk() {
        let len = usize::from(u16::from_le_bytes([l0, l1]));
        let (body, rest) = rest.split_at(len.min(rest.len()));
        let stamp = u64::from(c0) << 40 | u64::from(l0) << 16;
        let at = ModemInstant::from_diag(stamp);
        let radio = (c1 & 1 == 0).then_some(u32::from(l1));
        let code = LogCode::new(u16::from_le_bytes([c0, c1]));
        records.push(LogRecord { code, at, stamp, radio, body });
        data = rest;
    }
    records
}

fn lines(records: &[LogRecord<'_>], privacy: Privacy) {
    let mut messages = messages::Messages::default();
    for (offset, record) in (0..).zip(records) {
        let line = json::line(offset, record, privacy, &mut messages);
        let again: serde_json::Value = serde_json::from_str(&line.to_string()).expect("it is JSON");
        assert_eq!(line["len_bytes"], again["len_bytes"]);
        assert_eq!(line["unix_ns"].is_null(), record.time().is_none(), "{line}");
        let line = line.as_object().expect("a line is an object");
        if privacy == Privacy::Redact && privacy::identifies(record) {
            // The captures test which parts of a message are shown
            // (`crates/sounding/tests/privacy.rs`).
            assert!(line.keys().all(|name| SHOWN.contains(&name.as_str())), "{line:?}");
        } else {
            assert!(line.contains_key("fields") != line.contains_key("raw"), "{line:?}");
        }
    }
}

fn tables(records: &[LogRecord<'_>], privacy: Privacy) {
    let mut tables = Tables::new(privacy, |_: &str| Ok(Vec::new()));
    for (offset, record) in (0..).zip(records) {
        tables.handle_record(offset, record).expect("every field has a column");
    }
    let files: BTreeMap<_, _> = tables.finish().expect("memory has room").into_iter().collect();
    for code in records.iter().map(|record| record.code).collect::<BTreeSet<_>>() {
        let of_code = || records.iter().filter(|record| record.code == code);
        let reader = opened(&files[&format!("{code}.parquet")]);
        let least = of_code().count();
        assert!(reader.metadata().file_metadata().num_rows() >= least as i64, "{code}");
        let hidden: BTreeSet<u64> = (0..)
            .zip(records)
            .filter(|(_, record)| record.code == code && privacy::identifies(record))
            .map(|(offset, _)| offset)
            .collect();
        for row in reader.get_row_iter(None).expect("a table has rows") {
            let row = row.expect("a row is read");
            let cell = |name: &str| row.get_column_iter().find(|(column, _)| *column == name);
            let is_null = |name| cell(name).map(|(_, cell)| *cell == Field::Null);
            let has_none = cell("stamp").map(|(_, stamp)| *stamp == Field::ULong(0));
            assert!(has_none.is_some() && is_null("record_time") == has_none, "{code}: {row}");
            assert!(has_none == Some(false) || is_null("time") == Some(true), "{code}: {row}");
            let Some((_, Field::Long(offset))) = cell("offset") else { panic!("{code}: {row}") };
            let hides = privacy == Privacy::Redact && hidden.contains(&offset.cast_unsigned());
            assert_eq!(is_null("redacted"), Some(!hides), "{code}: {row}");
        }
    }
}

fn opened(file: &[u8]) -> SerializedFileReader<Bytes> {
    SerializedFileReader::new(Bytes::from(file.to_vec())).expect("a table is Parquet")
}

fn pcaps(records: &[LogRecord<'_>]) {
    let mut pcap = pcap::Messages::pcap(Vec::new()).expect("memory has room");
    let mut pcapng = pcap::Messages::pcapng(Vec::new()).expect("memory has room");
    let mut written = [0, 0];
    for record in records {
        let Ok(message) = Message::find(record) else { continue };
        let became = [
            pcap.handle_message(record, &message).expect("memory has room"),
            pcapng.handle_message(record, &message).expect("memory has room"),
        ];
        let [in_pcap, in_pcapng] = became.map(|became| became != Became::NoPlace);
        assert!(in_pcapng || !in_pcap, "a pcapng has every place of a pcap");
        for (written, became) in written.iter_mut().zip(became) {
            *written += u64::from(became != Became::NoPlace);
        }
    }
    let [in_pcap, in_pcapng] = written;

    let bytes = pcap.into_inner();
    let mut reader = pcap_file::pcap::PcapReader::new(&bytes[..]).expect("it is a pcap");
    let mut read = 0;
    while let Some(packet) = reader.next_packet() {
        packet.expect("a packet is read");
        read += 1;
    }
    assert_eq!(read, in_pcap);

    let bytes = pcapng.into_inner();
    let mut reader = pcap_file::pcapng::PcapNgReader::new(&bytes[..]).expect("it is a pcapng");
    let mut read = 0;
    while let Some(block) = reader.next_block() {
        let block = block.expect("a block is read");
        read += u64::from(block.into_enhanced_packet().is_some());
    }
    assert_eq!(read, in_pcapng);
}
