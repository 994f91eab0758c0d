//! Controllers behind a QUIC stack's events, over a modelled cell in virtual time: what its modem writes reaches them through
//! the product's own code, in an upload through the handle and in a download through datagrams.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

mod transfer;

use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sounding_baselines::{Compensated, Maker};
use sounding_cc::{Ack, Controller, Loss, Start};
use sounding_kpi::Direction;
use sounding_units::{Bytes, HostInstant, Rate};
use transfer::{Measured, Stack, Transfer};

const STACKS: [Stack; 2] = [Stack::Quinn, Stack::Noq];
const SEEDS: [u64; 5] = [2001, 2002, 2003, 2004, 2005];

fn run_once(
    direction: Direction,
    stack: Stack,
    controller: &str,
    modem: bool,
    seed: u64,
) -> Measured {
    let make: Maker = Arc::new(sounding_baselines::by_name(controller).unwrap());
    let mut transfer = Transfer::new(direction, stack, &make, seed);
    transfer.modem_lives = modem;
    transfer.run(Duration::from_secs(9));
    transfer.measured()
}

/// The mean of some seeds.
fn run(direction: Direction, stack: Stack, controller: &str, modem: bool) -> Measured {
    let all = SEEDS.map(|seed| run_once(direction, stack, controller, modem, seed));
    let mean = |of: fn(&Measured) -> f64| all.iter().map(of).sum::<f64>() / all.len() as f64;
    Measured { mbit_per_sec: mean(|one| one.mbit_per_sec), mean_ms: mean(|one| one.mean_ms) }
}

#[test]
fn copa_at_a_server_carries_far_more_where_the_device_reports_the_radios_delays() {
    for stack in STACKS {
        let stock = run(Direction::Downlink, stack, "copa", false);
        let ours = run(Direction::Downlink, stack, "copa-gandalf", true);
        println!("{stack:?}: {stock:.1?}, {ours:.1?}");
        assert!(ours.mbit_per_sec > 1.6 * stock.mbit_per_sec, "{stack:?}: {ours:?}, {stock:?}");
        assert!(ours.mean_ms < stock.mean_ms + 10.0, "{stack:?}: {ours:?}, {stock:?}");
    }
}

#[test]
fn without_a_modem_both_are_their_stock_algorithm_to_the_byte() {
    for direction in [Direction::Uplink, Direction::Downlink] {
        for (ours, stock) in [("copa-gandalf", "copa"), ("vivace-gandalf", "vivace-published")] {
            for stack in STACKS {
                let of = |name| run_once(direction, stack, name, false, SEEDS[0]);
                let [ours, stock] = [ours, stock].map(of);
                assert_eq!(ours, stock, "{direction} {stack:?}");
            }
        }
    }
}

/// Keeps four packets in flight, which leave no queue, and the RTTs that it receives.
#[derive(Debug)]
struct Probe(Sender<(HostInstant, Duration)>);

impl Controller for Probe {
    fn handle_ack(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.0.send((ack.now, rtt)).unwrap();
        }
    }
    fn handle_loss(&mut self, _: &Loss) {}
    fn handle_timeout(&mut self, _: HostInstant) {}
    fn cwnd(&self) -> Bytes {
        Bytes::new(4 * 1200)
    }
    fn pacing_rate(&self) -> Option<Rate> {
        None
    }
    fn state(&self) -> &'static str {
        "probe"
    }
}

/// The mean RTT that a controller receives in a span, ms, where the modem lives for so long.
fn rtt(direction: Direction, stack: Stack, lives: Duration, (from, to): (u64, u64)) -> f64 {
    let (sender, heard) = channel();
    let sender = Mutex::new(sender);
    let make: Maker = Arc::new(move |_: &Start| {
        let probe = Probe(sender.lock().unwrap().clone());
        Box::new(Compensated::holding(probe))
    });
    let mut transfer = Transfer::new(direction, stack, &make, SEEDS[0]);
    transfer.run(lives);
    transfer.modem_lives = false;
    transfer.run(Duration::from_millis(to).saturating_sub(lives));
    let at = |ms| HostInstant::default() + Duration::from_millis(ms);
    let all = heard.try_iter().filter(|(now, _)| *now >= at(from) && *now < at(to));
    let all: Vec<f64> = all.map(|(_, rtt)| rtt.as_secs_f64() * 1e3).collect();
    assert!(all.len() >= 50, "{}", all.len());
    all.iter().sum::<f64>() / all.len() as f64
}

#[test]
fn rtts_lose_what_the_radio_adds_and_have_it_again_100_ms_after_the_modem() {
    const LIVES: Duration = Duration::from_secs(6);
    // The last record came before, and its age is known to 20 ms.
    const SILENT: (u64, u64) = (6_120, 9_000);
    for direction in [Direction::Uplink, Direction::Downlink] {
        for stack in STACKS {
            let without = rtt(direction, stack, Duration::ZERO, (3_000, 6_000));
            let with = rtt(direction, stack, LIVES, (3_000, 6_000));
            let never = rtt(direction, stack, Duration::ZERO, SILENT);
            let after = rtt(direction, stack, LIVES, SILENT);
            println!(
                "{direction} {stack:?}: {without:.1} ms, {with:.1}; silent {after:.1} of {never:.1}"
            );
            assert!(with < without - 8.0, "{direction} {stack:?}: {with} of {without}");
            assert!((after - never).abs() < 2.0, "{direction} {stack:?}: {after} of {never}");
        }
    }
}
