//! A byte-order mark before a text changes nothing.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

use sounding_trace::{Series, csv, log, mahimahi};

fn marked(text: &str) -> Vec<u8> {
    format!("\u{feff}{text}").into_bytes()
}

#[test]
fn before_a_mahimahi_trace() {
    let text = "0\n3\n9\n";
    assert_eq!(mahimahi::parse(&marked(text)), Ok(mahimahi::parse(text.as_bytes()).unwrap()));
}

#[test]
fn before_a_table() {
    for text in [
        "time_ms,packets\n0,2\n3,1\n",
        "from_ns,until_ns,rate_bits_per_sec\n0,1500000001,12000000\n",
    ] {
        assert_eq!(csv::parse(&marked(text)), Ok(csv::parse(text.as_bytes()).unwrap()));
    }
}

#[test]
fn before_a_series() {
    let text = "10.0 9.9\n11.0 2\n";
    assert_eq!(Series::parse(&marked(text)), Ok(Series::parse(text.as_bytes()).unwrap()));
}

#[test]
fn before_a_log_of_g_nettrack() {
    let text = "Timestamp,Longitude,Latitude,DL_bitrate\nx,1,2,72\nx,1,2,0\n";
    assert!(Series::is_gnettrack(&marked(text)));
    let plain = Series::gnettrack(text.as_bytes(), "DL_bitrate").unwrap();
    assert_eq!(Series::gnettrack(&marked(text), "DL_bitrate"), Ok(plain));
}

#[test]
fn before_a_log_of_packets() {
    for text in ["# base timestamp: 39", "46 + 1504"] {
        let plain = log::parse_line(text.as_bytes()).unwrap();
        assert!(plain.is_some());
        assert_eq!(log::parse_line(&marked(text)), Ok(plain));
    }
}
