//! A stream that stops after any record.

use std::io::Write as _;

use serde_json::Value as Json;
use sounding_diag::capture::Format;

use crate::{Lines, has_ended, piped, records, uplink};

/// The code of reports with `lte.pusch.tbs` in them.
const PUSCH: u16 = 0xB139;

/// The records that decide the format of a stream.
const DECIDE: usize = 3;

#[test]
fn a_record_is_printed_before_the_next_is_there() {
    let (capture, mut compared) = (uplink(), 0);
    for format in [Format::Hdlc, Format::NonHdlc, Format::Hdf, Format::Dlf] {
        for arguments in [
            &["convert", "-", "-", "--to", "jsonl"][..],
            &["decode", "-"],
            &["kpi", "-", "--kpi", "lte.pusch.tbs", "--json"],
        ] {
            let of_kpis = arguments[0] == "kpi";
            let mut child = piped(arguments);
            let (mut input, lines) =
                (child.stdin.take().unwrap(), Lines::of(child.stdout.take().unwrap()));
            let what = format!("{arguments:?} of {format}");
            let mut waiting = 0;
            for (number, (_, code, bytes)) in records(&capture, format).iter().take(20).enumerate()
            {
                input.write_all(bytes).unwrap();
                waiting += u64::from(!of_kpis || *code == PUSCH);
                if number + 1 < DECIDE {
                    continue;
                }
                while waiting > 0 {
                    let line = lines.next(&what).unwrap();
                    let line: Json = serde_json::from_str(&line).unwrap();
                    // A report has many blocks.
                    waiting -= u64::from(!of_kpis || line["item"] == serde_json::json!([0]));
                    compared += 1;
                }
            }
            drop(input);
            lines.rest();
            assert!(has_ended(&mut child, &what), "{what}");
        }
    }
    assert!(compared > 200, "{compared}");
}

#[test]
fn a_capture_in_a_pipe_is_written_record_by_record() {
    let records = records(&uplink(), Format::Hdlc);
    let mut child = piped(&["convert", "-", "-", "--to", "qmdl", "--no-redact"]);
    let (mut input, mut output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    for (_, _, bytes) in &records[..10] {
        input.write_all(bytes).unwrap();
        let mut written = vec![0; bytes.len()];
        std::io::Read::read_exact(&mut output, &mut written).unwrap();
        assert_eq!(&written, bytes);
    }
    drop(input);
    assert!(has_ended(&mut child, "convert"));
}

#[test]
fn a_bin_of_a_pipe_is_printed_a_second_and_a_half_after_its_end() {
    const BIN_MS: u64 = 1_000;
    const HELD_MS: u64 = 1_500;
    let mut child = piped(&["link", "-", "--direction", "uplink", "--bin", "1s", "--json"]);
    let (mut input, lines) = (child.stdin.take().unwrap(), Lines::of(child.stdout.take().unwrap()));
    let records = records(&uplink(), Format::Hdlc);
    let begin = records[0].0;
    let mut end = BIN_MS;
    for (at, _, bytes) in &records {
        input.write_all(bytes).unwrap();
        if at - begin < end + HELD_MS {
            continue;
        }
        let row: Json = serde_json::from_str(&lines.next("a row").unwrap()).unwrap();
        assert_eq!(row["time_s"].as_f64(), Some(end as f64 / 1e3), "{row}");
        end += BIN_MS;
    }
    assert_eq!(end, 3 * BIN_MS, "the capture has four seconds");
    drop(input);
    assert!(!lines.rest().is_empty());
    assert!(has_ended(&mut child, "link"));
}

#[test]
fn a_reader_that_goes_away_ends_commands_that_wait_for_bytes() {
    let records = records(&uplink(), Format::Hdlc);
    for arguments in [
        &["convert", "-", "-", "--to", "jsonl"][..],
        &["decode", "-"],
        &["kpi", "-", "--kpi", "lte.pusch.tbs"],
        &["link", "-"],
    ] {
        let mut child = piped(arguments);
        let mut input = child.stdin.take().unwrap();
        for (_, _, bytes) in &records[..5] {
            input.write_all(bytes).unwrap();
        }
        // Nothing more is written, and the pipe stays open.
        drop(child.stdout.take());
        assert!(has_ended(&mut child, arguments[0]), "{arguments:?}");
        let said = Lines::of(child.stderr.take().unwrap()).rest();
        assert_eq!(said, [""; 0], "{arguments:?}");
    }
}

#[test]
fn an_interrupt_ends_a_conversion_in_a_pipe_with_its_account() {
    let records = records(&uplink(), Format::Hdlc);
    let mut child = piped(&["convert", "-", "-", "--to", "jsonl"]);
    let mut input = child.stdin.take().unwrap();
    let lines = Lines::of(child.stdout.take().unwrap());
    for (_, _, bytes) in &records[..5] {
        input.write_all(bytes).unwrap();
        lines.next("a record").unwrap();
    }
    // SAFETY: the child has not been waited for, so the id is its own.
    assert_eq!(unsafe { libc::kill(child.id() as i32, libc::SIGINT) }, 0);
    assert!(has_ended(&mut child, "convert"));
    let said = Lines::of(child.stderr.take().unwrap()).rest().join("\n");
    assert!(said.contains("standard input: 5 records written"), "{said}");
}
