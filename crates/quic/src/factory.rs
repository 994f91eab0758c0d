use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use sounding_baselines::Maker;
use sounding_cc::{Choice, ChoiceError, Needs, Start};
use sounding_units::Bytes;

use crate::clock::Clock;
use crate::driver::{Driver, Wake};
use crate::{EstimateHandle, PeerTimes};

/// IPv4 without options, and UDP.
const HEADERS_V4: Bytes = Bytes::new(28);
const HEADERS_V6: Bytes = Bytes::new(48);

/// Makes controllers for the connections of a stack: what `congestion_controller_factory` of a
/// transport configuration takes, in quinn and in noq.
///
/// They all use one handle. A server whose clients report their links needs one handle for each of
/// them, or any client would set the rate of all:
///
/// ```
/// use std::sync::Arc;
/// use sounding_quic::{EstimateHandle, Factory, Intake};
///
/// # async fn serve(
/// #     endpoint: quinn::Endpoint,
/// #     config: quinn::ServerConfig,
/// # ) -> Result<(), Box<dyn std::error::Error>> {
/// while let Some(incoming) = endpoint.accept().await {
///     let link = EstimateHandle::new();
///     let mut transport = quinn::TransportConfig::default();
///     transport.congestion_controller_factory(Arc::new(Factory::new("sounding", link.clone())?));
///     let mut own = config.clone();
///     own.transport_config(Arc::new(transport));
///     let connection = incoming.accept_with(Arc::new(own))?.await?;
///     let intake = Intake::new(link).at_most("200Mbit".parse()?);
///     // To be given each datagram of this connection, and of no other.
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Factory {
    name: String,
    make: Maker,
    needs: Option<Needs>,
    handle: EstimateHandle,
    headers: Bytes,
    /// Each connection draws its own lots.
    seed: Arc<AtomicU64>,
    wake: Option<Wake>,
    times: Option<PeerTimes>,
}

impl Factory {
    /// A controller of this project by its name, such as `sounding`, or with some of its
    /// parameters, as `biscay:allowance=20ms`.
    ///
    /// # Errors
    ///
    /// [`ChoiceError`] if no controller has the name, or the controller refuses a parameter.
    pub fn new(name: &str, handle: EstimateHandle) -> Result<Self, ChoiceError> {
        let choice: Choice = name.parse()?;
        let (make, needs) =
            (sounding_baselines::make(&choice)?, sounding_baselines::needs(choice.name()));
        Ok(Self { needs, ..Self::making(name, make, handle) })
    }

    /// Any controller. It asks nothing of a modem, unless [`needing`](Self::needing) says so.
    pub fn making(name: &str, make: Maker, handle: EstimateHandle) -> Self {
        let seed = Arc::new(AtomicU64::new(1));
        Self {
            name: name.to_owned(),
            make,
            needs: None,
            handle,
            headers: HEADERS_V4,
            seed,
            wake: None,
            times: None,
        }
    }

    /// For a controller that asks this of those who read the modem.
    #[must_use]
    pub fn needing(self, needs: Needs) -> Self {
        Self { needs: Some(needs), ..self }
    }

    /// What its controllers ask of those who read the modem; `None` if nothing.
    pub fn needs(&self) -> Option<Needs> {
        self.needs
    }

    /// For connections over IPv6, whose packets carry 20 bytes more of header.
    #[must_use]
    pub fn over_ipv6(self) -> Self {
        Self { headers: HEADERS_V6, ..self }
    }

    /// The lots of the first connection, for controllers that draw some; each further one takes the
    /// next. Default 1.
    #[must_use]
    pub fn seeded(self, seed: u64) -> Self {
        Self { seed: Arc::new(AtomicU64::new(seed)), ..self }
    }

    /// For a single connection, whose application wakes it at the end of each silence. Controllers
    /// such as `background` are silent at times, and stacks have no timer for them. Without
    /// this, two segments stay in flight meanwhile.
    ///
    /// `wake` is called within the stack when a silence begins, with its length. It has to return
    /// at once, and not to call the connection. After that time the application has to wake it,
    /// as by `connection.set_max_concurrent_uni_streams(…)` with the value that it has.
    #[must_use]
    pub fn waking(self, wake: Wake) -> Self {
        Self { wake: Some(wake), ..self }
    }

    /// For a single connection, whose receiver says when packets arrived
    /// ([`Arrivals`](crate::Arrivals)). Acknowledgements reach the controller with the
    /// receiver's time stamps then, up to 50 ms late, and with one-way delays. For controllers that
    /// read them: `background`, `legilimens`, and `copa-gandalf` and `vivace-gandalf` at the
    /// server of a download. While the datagrams are silent, the arrivals of acknowledgements
    /// stand for the stamps.
    #[must_use]
    pub fn timed(self, times: PeerTimes) -> Self {
        Self { times: Some(times), ..self }
    }

    /// The handle that its controllers read.
    pub fn handle(&self) -> &EstimateHandle {
        &self.handle
    }

    /// A connection that begins now, in a stack that obeys pacing rates or not.
    #[cfg_attr(
        not(any(feature = "quinn", feature = "noq")),
        allow(dead_code, reason = "for adapters")
    )]
    pub(crate) fn begin(&self, now: Instant, mtu: u16, paced: bool) -> (Clock, Driver) {
        let clock = Clock::anchored(now);
        let start = Start {
            now: clock.host(now),
            mss: Bytes::new(u64::from(mtu).max(1)),
            headers: self.headers,
            rtt: None,
            seed: self.seed.fetch_add(1, Ordering::Relaxed),
            paced,
        };
        let driver = Driver::new(&self.make, start, &self.handle);
        let driver = match &self.times {
            Some(times) => driver.timed(times.clone()),
            None => driver,
        };
        match &self.wake {
            Some(wake) => (clock, driver.waking(wake.clone())),
            None => (clock, driver),
        }
    }
}

impl fmt::Debug for Factory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Factory").field("name", &self.name).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_name_is_refused_with_the_known_ones() {
        let error = Factory::new("cubik", EstimateHandle::new()).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("cubik") && text.contains("sounding"), "{text}");
    }

    #[test]
    fn a_name_may_have_parameters_behind_it() {
        let of = |name: &str| Factory::new(name, EstimateHandle::new());
        assert!(of("copa:delta=0.1").is_ok());
        let text = of("copa:delta=99").unwrap_err().to_string();
        assert_eq!(text, "copa: `delta` is 0.001 to 10, not \"99\"");
    }

    #[test]
    fn every_controller_begins_with_ten_segments_and_the_next_lots() {
        for name in sounding_baselines::names() {
            let factory = Factory::new(name, EstimateHandle::new()).unwrap().seeded(7);
            let (_, driver) = factory.begin(Instant::now(), 1200, true);
            assert_eq!(driver.initial_window(), 12_000, "{name}");
            assert!(driver.window() >= 2400, "{name}");
            assert_eq!(factory.seed.load(Ordering::Relaxed), 8);
        }
    }
}
