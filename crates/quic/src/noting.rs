//! Packets that a stack decrypts, noted with the time: noq's traits are quinn's, but for the path
//! of a packet.

/// Sessions and keys of a stack that note what they decrypt. `cid` is how the stack hands
/// connection ids, `path` how it names the path of a packet.
macro_rules! noting {
    ($stack:ident, cid: $cid:ty, path: [$($path:ident: $Path:ty)?]) => {
        use std::any::Any;
        use std::sync::Arc;

        use bytes::BytesMut;
        use $stack::crypto::{
            ClientConfig, CryptoError, ExportKeyingMaterialError, HeaderKey, KeyPair, Keys,
            PacketKey, ServerConfig, Session, UnsupportedVersion,
        };
        use $stack::transport_parameters::TransportParameters;
        use $stack::{ConnectError, ConnectionId, Side, TransportError};

        use crate::arrivals::{Arrivals, Noted};

        impl Noted for Arc<dyn ServerConfig> {
            fn noted(self, arrivals: &Arrivals) -> Self {
                Arc::new(Noting { inner: self, arrivals: arrivals.clone() })
            }
        }

        impl Noted for Arc<dyn ClientConfig> {
            fn noted(self, arrivals: &Arrivals) -> Self {
                Arc::new(Noting { inner: self, arrivals: arrivals.clone() })
            }
        }

        /// A configuration.
        struct Noting<C: ?Sized> {
            inner: Arc<C>,
            arrivals: Arrivals,
        }

        struct NotingSession {
            inner: Box<dyn Session>,
            arrivals: Arrivals,
            is_server: bool,
            /// The keys of the handshake have been made: those of application data are next.
            shook: bool,
        }

        impl NotingSession {
            fn boxed(inner: Box<dyn Session>, arrivals: &Arrivals, is_server: bool) -> Box<dyn Session> {
                Box::new(Self { inner, arrivals: arrivals.clone(), is_server, shook: false })
            }

            fn noting(&self, inner: Box<dyn PacketKey>) -> Box<dyn PacketKey> {
                Box::new(NotingKey { inner, arrivals: self.arrivals.clone() })
            }
        }

        impl Session for NotingSession {
            fn initial_keys(&self, dst_cid: $cid, side: Side) -> Keys {
                self.inner.initial_keys(dst_cid, side)
            }

            fn handshake_data(&self) -> Option<Box<dyn Any>> {
                self.inner.handshake_data()
            }

            fn peer_identity(&self) -> Option<Box<dyn Any>> {
                self.inner.peer_identity()
            }

            /// Early data is numbered as later data is. The server decrypts it.
            fn early_crypto(&self) -> Option<(Box<dyn HeaderKey>, Box<dyn PacketKey>)> {
                let (header, packet) = self.inner.early_crypto()?;
                let packet = if self.is_server { self.noting(packet) } else { packet };
                Some((header, packet))
            }

            fn early_data_accepted(&self) -> Option<bool> {
                self.inner.early_data_accepted()
            }

            fn is_handshaking(&self) -> bool {
                self.inner.is_handshaking()
            }

            fn read_handshake(&mut self, buf: &[u8]) -> Result<bool, TransportError> {
                self.inner.read_handshake(buf)
            }

            fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
                self.inner.transport_parameters()
            }

            fn write_handshake(&mut self, buf: &mut Vec<u8>) -> Option<Keys> {
                let keys = self.inner.write_handshake(buf)?;
                if !std::mem::replace(&mut self.shook, true) {
                    return Some(keys);
                }
                let KeyPair { local, remote } = keys.packet;
                let packet = KeyPair { local, remote: self.noting(remote) };
                Some(Keys { packet, ..keys })
            }

            fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
                let KeyPair { local, remote } = self.inner.next_1rtt_keys()?;
                Some(KeyPair { local, remote: self.noting(remote) })
            }

            fn is_valid_retry(&self, orig_dst_cid: $cid, header: &[u8], payload: &[u8]) -> bool {
                self.inner.is_valid_retry(orig_dst_cid, header, payload)
            }

            fn export_keying_material(
                &self,
                output: &mut [u8],
                label: &[u8],
                context: &[u8],
            ) -> Result<(), ExportKeyingMaterialError> {
                self.inner.export_keying_material(output, label, context)
            }
        }

        struct NotingKey {
            inner: Box<dyn PacketKey>,
            arrivals: Arrivals,
        }

        impl PacketKey for NotingKey {
            fn encrypt(&self, $($path: $Path,)? packet: u64, buf: &mut [u8], header_len: usize) {
                self.inner.encrypt($($path,)? packet, buf, header_len);
            }

            fn decrypt(
                &self,
                $($path: $Path,)?
                packet: u64,
                header: &[u8],
                payload: &mut BytesMut,
            ) -> Result<(), CryptoError> {
                self.inner.decrypt($($path,)? packet, header, payload)?;
                // Each path has numbers of its own.
                if true $(&& $path == <$Path>::ZERO)? {
                    self.arrivals.handle_decrypted(packet);
                }
                Ok(())
            }

            fn tag_len(&self) -> usize {
                self.inner.tag_len()
            }

            fn confidentiality_limit(&self) -> u64 {
                self.inner.confidentiality_limit()
            }

            fn integrity_limit(&self) -> u64 {
                self.inner.integrity_limit()
            }
        }
    };
}

pub(crate) use noting;
