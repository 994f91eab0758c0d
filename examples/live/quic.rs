// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sends live media over QUIC at the rate that the feed advises: `quic SOCKET TO CERTIFICATE`. As
//! in MoQ, each group of frames has a stream. When a frame is late, the rest of its group is given
//! up.

use std::{error::Error, net::SocketAddr, path::Path, sync::Arc, time::Duration};

use quinn::{ClientConfig, Endpoint, SendStream, TransportConfig, rustls::RootCertStore};
use sounding_feed::{Direction, Newest, Rate};
use sounding_host::monotonic_now;
use tokio::time::{MissedTickBehavior, interval, timeout};

const FALLBACK: u64 = 500_000; // bit/s without advice
const ENCODER: f64 = 0.85; // its part of the rate: the rest is for headers and retransmissions
const FRAMES: u32 = 30; // per second, and of a group
const LATE: Duration = Duration::from_millis(100);

type Outcome = Result<(), Box<dyn Error>>;
pub(crate) async fn send(feed: &Path, to: SocketAddr, trusted: &Path) -> Outcome {
    let mut roots = RootCertStore::empty();
    roots.add(std::fs::read(trusted)?.into())?;
    let mut config = ClientConfig::with_root_certificates(Arc::new(roots))?;
    let mut transport = TransportConfig::default();
    transport.send_window(64 * 1024); // bytes; more that waits in the stack would be late
    config.transport_config(Arc::new(transport));
    let mut endpoint = Endpoint::client("0.0.0.0:0".parse()?)?;
    endpoint.set_default_client_config(config);
    let connection = endpoint.connect(to, "localhost")?.await?;
    let (mut newest, mut group) = (Newest::new(feed), None::<SendStream>);
    let mut clock = interval(Duration::from_secs(1) / FRAMES);
    clock.set_missed_tick_behavior(MissedTickBehavior::Skip);
    for number in 0_u32.. {
        clock.tick().await;
        newest.handle_now(monotonic_now());
        let advised = newest.advice(None, Direction::Uplink, monotonic_now());
        let rate = advised.map_or(FALLBACK, Rate::bits_per_sec);
        if number % FRAMES == 0 {
            println!("{rate} bit/s by {}", if advised.is_some() { "advice" } else { "fallback" });
            group = Some(connection.open_uni().await?); // Dropping the last one ends it.
        }
        let frame = vec![0; (rate as f64 * ENCODER / 8.0) as usize / FRAMES as usize];
        let Some(stream) = &mut group else { continue };
        if timeout(LATE, stream.write_all(&frame)).await.is_err() {
            stream.reset(0_u32.into())?;
            group = None;
        }
    }
    Ok(())
}

fn main() -> Outcome {
    let mut given = std::env::args().skip(1);
    let mut next = || given.next().ok_or("usage: quic SOCKET TO CERTIFICATE");
    let (feed, to, trusted) = (next()?, next()?.parse()?, next()?);
    let run = send(feed.as_ref(), to, trusted.as_ref());
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(run)
}
