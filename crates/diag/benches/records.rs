//! Speed of reading a capture, in steps: framing and checks, headers and one number, all fields.
//!
//! Reads the largest shared capture of mixed LTE records. If there is none, it makes one of every
//! described record and says so.

#[path = "../tests/synthetic/mod.rs"]
mod synthetic;

use std::path::Path;
use std::sync::LazyLock;

use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use sounding_diag::capture::Reader;
use sounding_diag::hdlc::{Deframer, encode};
use sounding_diag::layout::{Sink, Value};
use sounding_diag::packet::Packet;
use sounding_diag::record::{self, PuschTxReport};

fn main() {
    LazyLock::force(&INPUT);
    divan::main();
}

struct Input {
    bytes: Vec<u8>,
    logs: u64,
}

static INPUT: LazyLock<Input> = LazyLock::new(|| {
    let largest = sounding_testdata::shared_files("captures/lgs96__mobileinsight_core")
        .into_iter()
        .max_by_key(|file| file.metadata().map_or(0, |metadata| metadata.len()));
    let bytes = match &largest {
        Some(file) => std::fs::read(file).expect("the capture can be read"),
        None => generated(),
    };
    let name = largest.as_deref().and_then(Path::file_name);
    let name = name.map_or("generated".into(), |name| name.to_string_lossy().into_owned());
    let mut reader = Reader::new();
    let mut input = bytes.as_slice();
    while reader.poll_packet(&mut input).is_some() {}
    let logs = reader.counts().logs;
    eprintln!("{} bytes, {logs} log records: {name}", bytes.len());
    Input { bytes, logs }
});

/// About four megabytes.
fn generated() -> Vec<u8> {
    let mut stream = Vec::new();
    for seed in 0.. {
        for (code, body) in synthetic::bodies(seed) {
            let mut payload = Vec::new();
            synthetic::record(code, &body).emit(&mut payload).expect("bodies are short");
            encode(&payload, &mut stream);
        }
        if stream.len() > 4_000_000 {
            break;
        }
    }
    stream
}

fn counted(bencher: Bencher<'_, '_>, read: impl Fn(&[u8]) -> u64 + Sync) {
    let input = &*INPUT;
    bencher
        .counter(BytesCount::of_slice(&input.bytes))
        .counter(ItemsCount::new(input.logs))
        .bench(|| read(divan::black_box(&input.bytes)));
}

/// Framing and checks only.
#[divan::bench]
fn frames(bencher: Bencher<'_, '_>) {
    counted(bencher, |mut input| {
        let mut deframer = Deframer::new();
        let mut bytes = 0;
        while let Some(frame) = deframer.poll_frame(&mut input) {
            bytes += frame.map_or(0, |frame| frame.payload.len() as u64);
        }
        bytes
    });
}

/// The same, in the small parts of a serial port.
#[divan::bench(args = [64, 4096, 65536])]
fn frames_in_chunks(bencher: Bencher<'_, '_>, size: usize) {
    counted(bencher, |input| {
        let mut deframer = Deframer::new();
        let mut bytes = 0;
        for mut chunk in input.chunks(size) {
            while let Some(frame) = deframer.poll_frame(&mut chunk) {
                bytes += frame.map_or(0, |frame| frame.payload.len() as u64);
            }
        }
        bytes
    });
}

/// Framing, checks, record headers, and the bytes granted in every uplink transmission.
#[divan::bench]
fn one_number(bencher: Bencher<'_, '_>) {
    counted(bencher, |input| {
        let mut bytes = 0;
        each_log(input, |log| {
            if log.code == PuschTxReport::CODE
                && let Ok(report) = PuschTxReport::parse(log.body)
            {
                bytes += report.transmissions().map(|found| found.size.count()).sum::<u64>();
            }
        });
        bytes
    });
}

/// Framing, checks, and every field of every described record.
#[divan::bench]
fn every_field(bencher: Bencher<'_, '_>) {
    counted(bencher, |input| {
        let mut fields = Fields(0);
        each_log(input, |log| {
            let _ = record::decode(log, &mut fields);
        });
        fields.0
    });
}

/// Every described record through its typed view.
#[divan::bench]
fn every_view(bencher: Bencher<'_, '_>) {
    counted(bencher, |input| {
        let mut items = 0;
        each_log(input, |log| items += view(log));
        items
    });
}

fn view(log: &sounding_diag::LogRecord<'_>) -> u64 {
    use record::Record;
    match Record::parse(log) {
        Ok(Record::PuschTx(report)) => sum(report.transmissions(), |found| found.size.count()),
        Ok(Record::MacUplink(uplink)) => sum(uplink.blocks(), |found| {
            found.grant.count() + sum(found.pdu.elements(), |(header, _)| u64::from(header.id()))
        }),
        Ok(Record::MacDownlink(downlink)) => sum(downlink.blocks(), |found| found.size.count()),
        Ok(Record::PdschStat(stat)) => {
            sum(stat.subframes(), |found| sum(found.blocks(), |block| block.size.count()))
        }
        Ok(Record::PdschDemapper(demapper)) => {
            sum(demapper.assignments(), |found| u64::from(found.rbs().count()))
        }
        Ok(Record::UplinkBuffer(buffer)) => sum(buffer.samples(), |found| found.total().count()),
        Ok(Record::MacUplinkStats(stats)) => sum(stats.statistics(), |found| found.used.count()),
        Ok(Record::ServingCells(cells)) => sum(cells.cells(), |found| u64::from(found.pci)),
        Ok(Record::PdcchDecoding(pdcch)) => sum(pdcch.messages(), |found| u64::from(found.format)),
        Ok(Record::PdcchPhich(phich)) => {
            sum(phich.subframes(), |found| sum(found.answers(), |answer| u64::from(answer.cell)))
        }
        Ok(Record::PdschDecoding(pdsch)) => sum(pdsch.blocks(), |found| u64::from(found.retx)),
        // No capture has the others.
        Ok(_) | Err(_) => 0,
    }
}

fn sum<T>(items: impl Iterator<Item = T>, number: impl Fn(T) -> u64) -> u64 {
    items.map(number).sum()
}

fn each_log(mut input: &[u8], mut read: impl FnMut(&sounding_diag::LogRecord<'_>)) {
    let mut reader = Reader::new();
    while let Some(found) = reader.poll_packet(&mut input) {
        if let Ok(located) = found
            && let Packet::Log(log) = located.packet
        {
            read(&log);
        }
    }
}

/// Adds up the numbers, so that none is left unread.
struct Fields(u64);

impl Sink for Fields {
    fn field(&mut self, _: &'static str, value: Value<'_>) {
        self.0 = self.0.wrapping_add(match value {
            Value::Uint(number) | Value::Hex(number, _) | Value::Name(number, _) => number,
            Value::Int(number) => number.cast_unsigned(),
            Value::Flag(set) => u64::from(set),
            Value::Scaled(number) => number.to_bits(),
            Value::Bytes(bytes) => bytes.len() as u64,
            Value::Plmn(_) => 1,
        });
    }
    fn begin_list(&mut self, _: &'static str) {}
    fn begin_item(&mut self) {}
    fn end_item(&mut self) {}
    fn end_list(&mut self) {}
}
