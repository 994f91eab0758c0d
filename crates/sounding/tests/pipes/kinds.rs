//! Kinds of files that do not stream, and messages that are left out.

use std::io::Write as _;
use std::time::Duration;

use sounding_diag::capture::Format;

use crate::{Lines, has_ended, messages, piped, records};

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
    let records = records(&messages(Duration::from_secs(2)), Format::Hdlc);
    for more in [&[][..], &["--no-redact"]] {
        let mut child = piped(&[&["convert", "-", "-", "--to", "pcapng"], more].concat());
        let mut input = child.stdin.take().unwrap();
        let said = Lines::of(child.stderr.take().unwrap());
        // Three records decide the kind of a stream.
        for (_, _, bytes) in &records[..3] {
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
