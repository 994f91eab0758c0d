//! Controllers behind a QUIC stack's events, over a modelled cell in virtual time: what its modem
//! writes reaches them through the product's own code, in an upload through the handle and in a
//! download through datagrams.

#![allow(clippy::unwrap_used, reason = "a test whose set-up fails has to fail")]

mod transfer;

use std::ops::Range;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sounding_baselines::{Compensated, Copa, Maker};
use sounding_cc::{Ack, Controller, Loss, Start, forward};
use sounding_kpi::Direction;
use sounding_laws::CopaGandalf;
use sounding_units::{Bytes, HostInstant, Rate};
use transfer::{MTU, Measured, Stack, Transfer};

const STACKS: [Stack; 2] = [Stack::Quinn, Stack::Noq];
/// Copa takes a queue for another flow's at times, so that single runs differ several times over.
const SEEDS: Range<u64> = 2001..2021;

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
    let run = |seed| run_once(direction, stack, controller, modem, seed);
    let all: Vec<Measured> = SEEDS.map(run).collect();
    let mean = |of: fn(&Measured) -> f64| all.iter().map(of).sum::<f64>() / all.len() as f64;
    Measured { mbit_per_sec: mean(|one| one.mbit_per_sec), mean_ms: mean(|one| one.mean_ms) }
}

/// A server goes by two averages of the device's radio, as one in the kernel does. With each
/// block's delay it carried twice as much.
#[test]
fn copa_at_a_server_carries_more_where_the_device_reports_the_radios_delays() {
    let [without, with] = [false, true].map(|modem| {
        let of = |stack| run(Direction::Downlink, stack, "copa-gandalf", modem);
        let all = STACKS.map(of);
        println!("modem {modem}: {all:.2?}");
        all
    });
    let carried = |all: [Measured; 2]| all.iter().map(|one| one.mbit_per_sec).sum::<f64>();
    assert!(carried(with) > 1.2 * carried(without), "{with:?}, {without:?}");
    assert!(with[0].mean_ms < without[0].mean_ms + 10.0, "{with:?}, {without:?}");
    assert!(with[1].mean_ms < without[1].mean_ms + 10.0, "{with:?}, {without:?}");
}

#[test]
fn without_a_modem_vivace_is_the_published_one_to_the_byte() {
    for direction in [Direction::Uplink, Direction::Downlink] {
        for stack in STACKS {
            let of = |name| run_once(direction, stack, name, false, SEEDS.start);
            let [ours, stock] = ["vivace-gandalf", "vivace-published"].map(of);
            assert_eq!(ours, stock, "{direction} {stack:?}");
        }
    }
}

/// The law in integers, beside which the published Copa hears the same; their windows in segments.
#[derive(Debug)]
struct Both {
    ours: CopaGandalf,
    published: Copa,
    windows: Sender<[u64; 2]>,
}

impl Controller for Both {
    forward!(ours; but handle_ack, handle_loss, handle_timeout);

    fn handle_ack(&mut self, ack: &Ack) {
        self.ours.handle_ack(ack);
        self.published.handle_ack(ack);
        let windows = [self.ours.cwnd(), self.published.cwnd()].map(|cwnd| cwnd.count() / MTU);
        self.windows.send(windows).unwrap();
    }
    fn handle_loss(&mut self, loss: &Loss) {
        self.ours.handle_loss(loss);
        self.published.handle_loss(loss);
    }
    fn handle_timeout(&mut self, now: HostInstant) {
        self.ours.handle_timeout(now);
        self.published.handle_timeout(now);
    }
}

/// Rounding alone tells them apart: it turns a window one acknowledgement earlier or later.
#[test]
fn without_a_modem_copa_in_integers_has_the_published_ones_window() {
    let (sender, windows) = channel();
    let sender = Mutex::new(sender);
    let make: Maker = Arc::new(move |start: &Start| {
        let (ours, published) = (CopaGandalf::new(start), Copa::new(start));
        Box::new(Both { ours, published, windows: sender.lock().unwrap().clone() })
    });
    for (direction, stack) in [Direction::Uplink, Direction::Downlink].into_iter().flat_map(both) {
        for seed in SEEDS {
            let mut transfer = Transfer::new(direction, stack, &make, seed);
            transfer.modem_lives = false;
            transfer.run(Duration::from_secs(9));
        }
        let windows: Vec<[u64; 2]> = windows.try_iter().collect();
        let alike = windows.iter().filter(|[ours, published]| ours.abs_diff(*published) <= 1);
        let (alike, all) = (alike.count(), windows.len());
        println!("{direction} {stack:?}: {alike} of {all}");
        assert!(alike * 100 > all * 95 && all > 10_000, "{direction} {stack:?}: {alike} of {all}");
    }
}

fn both(direction: Direction) -> [(Direction, Stack); 2] {
    STACKS.map(|stack| (direction, stack))
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
    let mut transfer = Transfer::new(direction, stack, &make, SEEDS.start);
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
    // The last report needs some 20 ms, and 100 ms later the modem is silent.
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
