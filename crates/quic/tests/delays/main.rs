//! `copa-gandalf` behind a QUIC stack's events, over a modelled cell in virtual time: what its modem writes reaches it through
//! the product's own code, in an upload through the handle and in a download through datagrams.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

mod transfer;

use std::time::Duration;

use sounding_kpi::Direction;
use transfer::{Measured, Stack, Transfer};

const LENGTH: Duration = Duration::from_secs(12);

fn run(direction: Direction, stack: Stack, controller: &str, modem: bool) -> Measured {
    let mut transfer = Transfer::new(direction, stack, controller, 2001);
    transfer.modem_lives = modem;
    transfer.run(LENGTH);
    transfer.measured()
}

#[test]
fn explore() {
    for direction in [Direction::Uplink, Direction::Downlink] {
        for stack in [Stack::Quinn, Stack::Noq] {
            for (controller, modem) in [("copa", false), ("copa-gandalf", true), ("copa-gandalf", false), ("cubic", false), ("vivace", false), ("vivace-gandalf", true), ("vivace-gandalf", false)] {
                let m = run(direction, stack, controller, modem);
                println!("{direction} {stack:?} {controller} {modem}: {m:?}");
            }
        }
    }
}
