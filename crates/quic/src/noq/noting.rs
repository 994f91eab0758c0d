//! Packets that noq decrypts, noted with the time.

use noq_proto::PathId;

crate::noting::noting!(noq_proto, cid: ConnectionId, path: [path: PathId]);

impl ServerConfig for Noting<dyn ServerConfig> {
    fn initial_keys(
        &self,
        version: u32,
        dst_cid: ConnectionId,
    ) -> Result<Keys, UnsupportedVersion> {
        self.inner.initial_keys(version, dst_cid)
    }

    fn retry_tag(&self, version: u32, orig_dst_cid: ConnectionId, packet: &[u8]) -> [u8; 16] {
        self.inner.retry_tag(version, orig_dst_cid, packet)
    }

    fn start_session(&self, version: u32, params: &TransportParameters) -> Box<dyn Session> {
        let inner = self.inner.start_session(version, params);
        NotingSession::boxed(inner, &self.arrivals, true)
    }
}

impl ClientConfig for Noting<dyn ClientConfig> {
    fn start_session(
        &self,
        version: u32,
        server_name: &str,
        params: &TransportParameters,
    ) -> Result<Box<dyn Session>, ConnectError> {
        let inner = self.inner.start_session(version, server_name, params)?;
        Ok(NotingSession::boxed(inner, &self.arrivals, false))
    }
}
