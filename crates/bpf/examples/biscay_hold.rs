//! Loads BISCAY, publishes one constant rate and prints every change of state, until its standard
//! input closes: `cargo run -p sounding-bpf --example biscay_hold -- biscay 20Mbit`. Without a rate
//! the feed stays silent.

use std::error::Error;
use std::io::Read;
use std::sync::mpsc;
use std::time::Duration;

use sounding_bpf::{Bound, Config, FeedEstimate, Instance, preflight};
use sounding_host::monotonic_now;
use sounding_units::Rate;

/// Six of these make the silence at which flows turn to BBR.
const HEARTBEAT: Duration = Duration::from_millis(10);

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let name = args.next().unwrap_or_else(|| "biscay".into());
    let rate: Option<Rate> =
        args.next().map(|text| text.parse()).transpose().map_err(|error| format!("{error:?}"))?;
    for check in preflight(&name) {
        let mark = if check.ok { "yes" } else { "NO " };
        println!("{mark} {}: {}", check.name, check.detail);
        if let Some(cure) = check.cure {
            println!("    {cure}");
        }
    }
    let biscay = Instance::load(&Config { name, ..Config::default() })
        .map_err(|error| format!("{error}; {}", error.cure()))?;
    println!("loaded {}", biscay.name());

    let (closed, on_close) = mpsc::channel::<()>();
    std::thread::spawn(move || {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        drop(closed);
    });
    while on_close.recv_timeout(HEARTBEAT) == Err(mpsc::RecvTimeoutError::Timeout) {
        if let Some(rate) = rate {
            let now = monotonic_now();
            let bound = Bound::Capacity;
            biscay.feed().publish(&FeedEstimate { rate, sampled_at: now, bound, other_flows: 0 });
            biscay.feed().heartbeat(now);
        }
        while let Some(seen) = biscay.poll_transition() {
            println!(
                "{} {:?} -> {:?} ({:?}) share {} e2e {} flows {} port {}",
                seen.at,
                seen.from,
                seen.to,
                seen.reason,
                seen.share,
                seen.e2e,
                seen.flows,
                seen.local_port
            );
        }
    }
    Ok(())
}
