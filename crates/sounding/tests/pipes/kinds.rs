//! Kinds of files that do not stream, and messages that are left out.

use std::io::Write as _;
use std::time::Duration;

use sounding_diag::capture::Format;
use sounding_testbed::radio::RadioLink;

use crate::{Lines, has_ended, piped, records};

#[test]
fn parquet_says_that_it_cannot_be_streamed() {
    for output in ["-", "/dev/stdout"] {
        let mut child = piped(&["convert", "-", output, "--to", "parquet"]);
        assert!(!has_ended(&mut child, "convert"));
        let said = Lines::of(child.stderr.take().unwrap()).rest().join(" ");
        for part in [output, "Parquet cannot be streamed", "--to jsonl"] {
            assert!(said.contains(part), "{part}: {said}");
        }
    }
}

#[test]
fn the_first_hidden_message_says_that_most_are_left_out() {
    const RRC: u16 = 0xB0C0;
    let capture = RadioLink::cell(Some(1), Duration::from_secs(3)).unwrap().capture;
    let records = records(&capture, Format::Hdlc);
    for more in [&[][..], &["--no-redact"]] {
        let mut child = piped(&[&["convert", "-", "-", "--to", "pcapng"], more].concat());
        let mut input = child.stdin.take().unwrap();
        let said = Lines::of(child.stderr.take().unwrap());
        let first = records.iter().position(|(_, code, _)| *code == RRC).unwrap();
        for (_, _, bytes) in &records[..first.max(2) + 1] {
            input.write_all(bytes).unwrap();
        }
        if more.is_empty() {
            let line = said.with("most messages are left out");
            assert!(line.contains("--no-redact"), "{line}");
        }
        drop((input, child.stdout.take()));
        has_ended(&mut child, "convert");
        let rest = said.rest();
        assert!(!rest.iter().any(|line| line.contains("most messages")), "{rest:?}");
    }
}
