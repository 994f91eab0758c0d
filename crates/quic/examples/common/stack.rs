//! The same two ends for each stack: noq's interface is quinn's, type by type.

use std::time::Duration;

macro_rules! ends {
    ($module:ident, $stack:ident, $rtt:path) => {
        pub(crate) mod $module {
            use std::sync::Arc;

            use sounding_quic::{
                Arrivals, Counts, EstimateHandle, Intake, Reporter, monotonic_now,
            };

            use crate::common::{
                Application, FAREWELL, Failed, NAME, REPORT_EVERY, Receiving, Sending, TIMES_EVERY,
                Transferred,
            };

            pub(crate) async fn send(sending: Sending) -> Result<Transferred, Failed> {
                let Sending { socket, to, trusted, factory, reports_to, times_to, rate, stop } =
                    sending;
                let mut transport = ::$stack::TransportConfig::default();
                if let Some(factory) = factory {
                    transport.congestion_controller_factory(factory);
                }
                let mut config = ::$stack::ClientConfig::with_root_certificates(trusted)?;
                config.transport_config(Arc::new(transport));
                let endpoint = ::$stack::Endpoint::new(
                    ::$stack::EndpointConfig::default(),
                    None,
                    socket,
                    Arc::new(::$stack::TokioRuntime),
                )?;
                let connection = endpoint.connect_with(config, to, NAME)?.await?;
                let mut taken = None;
                if reports_to.is_some() || times_to.is_some() {
                    let mut intake = Intake::new(reports_to.unwrap_or_default());
                    if let Some(times) = times_to {
                        intake = intake.timing(times);
                    }
                    taken = Some(tokio::spawn(obey(connection.clone(), intake)));
                }
                let mut stream = connection.open_uni().await?;
                let application = Application::new(rate, stop);
                let chunk = vec![0x55; 1 << 20];
                let mut bytes = 0;
                while let Some(length) = application.next().await {
                    let length = length.min(chunk.len());
                    stream.write_all(&chunk[..length]).await?;
                    bytes += length as u64;
                }
                // Data that still waits to be sent would hold back quinn's end of the stream for
                // ever: the window limits it, and a closed connection processes no
                // acknowledgements. So the receiver closes.
                stream.reset(0_u32.into())?;
                if tokio::time::timeout(FAREWELL, connection.closed()).await.is_err() {
                    connection.close(0_u32.into(), b"no answer");
                }
                let _ = tokio::time::timeout(FAREWELL, endpoint.wait_idle()).await;
                let Counts { taken: reports, times, .. } = match taken {
                    Some(task) => task.await?,
                    None => Counts::default(),
                };
                Ok(Transferred { bytes, reports, times })
            }

            /// Takes the peer's datagrams until the connection ends.
            async fn obey(connection: ::$stack::Connection, mut intake: Intake) -> Counts {
                while let Ok(datagram) = connection.read_datagram().await {
                    let rtt = $rtt(&connection);
                    // A datagram of another kind is counted, and the application's business.
                    let _ = intake.handle_datagram(monotonic_now(), rtt / 2, &datagram);
                }
                intake.counts()
            }

            pub(crate) async fn receive(receiving: Receiving) -> Result<Transferred, Failed> {
                let Receiving { socket, identity, reports_of, arrivals } = receiving;
                let mut config = ::$stack::ServerConfig::with_single_cert(
                    vec![identity.certificate],
                    identity.key,
                )?;
                if let Some(arrivals) = &arrivals {
                    config.crypto = arrivals.noting(config.crypto.clone());
                }
                let endpoint = ::$stack::Endpoint::new(
                    ::$stack::EndpointConfig::default(),
                    Some(config),
                    socket,
                    Arc::new(::$stack::TokioRuntime),
                )?;
                let incoming = endpoint.accept().await.ok_or("the endpoint is closed")?;
                let connection = incoming.await?;
                let sent = reports_of.map(|handle| tokio::spawn(tell(connection.clone(), handle)));
                let timed = arrivals.map(|list| tokio::spawn(time(connection.clone(), list)));
                let mut stream = connection.accept_uni().await?;
                let mut buffer = vec![0; 1 << 16];
                let mut bytes = 0;
                // The sender ends by giving its stream up.
                while let Ok(Some(count)) = stream.read(&mut buffer).await {
                    bytes += count as u64;
                }
                connection.close(0_u32.into(), b"received");
                let reports = match sent {
                    Some(task) => task.await?,
                    None => 0,
                };
                let times = match timed {
                    Some(task) => task.await?,
                    None => 0,
                };
                let _ = tokio::time::timeout(FAREWELL, endpoint.wait_idle()).await;
                Ok(Transferred { bytes, reports, times })
            }

            /// Says when the peer's packets arrived, until the connection ends.
            async fn time(connection: ::$stack::Connection, arrivals: Arrivals) -> u64 {
                let mut sent = 0;
                while connection.close_reason().is_none() {
                    if let Some(datagram) = arrivals.poll_datagram(monotonic_now()) {
                        if connection.send_datagram(datagram.into()).is_err() {
                            break;
                        }
                        sent += 1;
                    }
                    tokio::time::sleep(TIMES_EVERY).await;
                }
                sent
            }

            /// Reports this end's link to the sender, until the connection ends.
            async fn tell(connection: ::$stack::Connection, handle: EstimateHandle) -> u64 {
                let mut reporter = Reporter::new(handle);
                let mut sent = 0;
                while connection.close_reason().is_none() {
                    if let Some(datagram) = reporter.poll_datagram(monotonic_now()) {
                        if connection.send_datagram(datagram.into()).is_err() {
                            break;
                        }
                        sent += 1;
                    }
                    tokio::time::sleep(REPORT_EVERY).await;
                }
                sent
            }
        }
    };
}

ends!(over_quinn, quinn, super::rtt_of_quinn);
ends!(over_noq, noq, super::rtt_of_noq);

fn rtt_of_quinn(connection: &::quinn::Connection) -> Duration {
    connection.rtt()
}

/// RTT of its first path: the examples have no other.
fn rtt_of_noq(connection: &::noq::Connection) -> Duration {
    connection.rtt(::noq::PathId::ZERO).unwrap_or_default()
}
