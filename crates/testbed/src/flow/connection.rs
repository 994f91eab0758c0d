//! Opening TCP connections between the two namespaces.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::time::Duration;

use socket2::{Domain, Protocol, Socket, Type};

use super::{FlowError, any_port, is_timeout};

/// Time limit for a connection: outages of real traces last more than a minute.
pub(super) const CONNECT: Duration = Duration::from_secs(120);

fn tcp_socket(congestion: Option<&str>) -> Result<Socket, FlowError> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))
        .map_err(FlowError::socket("make a TCP socket"))?;
    if let Some(name) = congestion {
        choose(&socket, name)?;
    }
    Ok(socket)
}

pub(super) fn choose(socket: &Socket, name: &str) -> Result<(), FlowError> {
    socket
        .set_tcp_congestion(name.as_bytes())
        .map_err(|source| FlowError::Congestion { name: name.to_owned(), source })
}

pub(super) fn listen(address: Ipv4Addr, congestion: Option<&str>) -> Result<Socket, FlowError> {
    // Connections take the congestion control of the listener.
    let socket = tcp_socket(congestion)?;
    socket.bind(&any_port(address).into()).map_err(FlowError::socket("bind the listener"))?;
    socket.listen(1).map_err(FlowError::socket("listen"))?;
    socket.set_read_timeout(Some(CONNECT)).map_err(FlowError::socket("set a timeout"))?;
    Ok(socket)
}

pub(super) fn connect(
    from: Ipv4Addr,
    address: SocketAddrV4,
    congestion: Option<&str>,
) -> Result<Socket, FlowError> {
    let socket = tcp_socket(congestion)?;
    socket.bind(&any_port(from).into()).map_err(FlowError::socket("bind the connecting end"))?;
    socket.connect_timeout(&address.into(), CONNECT).map_err(FlowError::socket("connect"))?;
    Ok(socket)
}

pub(super) fn accept(listener: &Socket) -> Result<Socket, FlowError> {
    match listener.accept() {
        Ok((socket, _)) => Ok(socket),
        Err(error) if is_timeout(&error) => {
            Err(FlowError::NoConnection { seconds: CONNECT.as_secs() })
        }
        Err(error) => Err(FlowError::socket("accept")(error)),
    }
}

/// Sends the first bytes of a connection.
pub(super) fn greet(mut socket: &Socket, greeting: usize) -> Result<(), FlowError> {
    socket.write_all(&vec![0x55; greeting]).map_err(FlowError::socket("send a greeting"))
}

/// Reads the first bytes of a connection, so that they do not count as data.
pub(super) fn await_greeting(mut socket: &Socket, greeting: usize) -> Result<(), FlowError> {
    socket.set_read_timeout(Some(CONNECT)).map_err(FlowError::socket("set a timeout"))?;
    socket.read_exact(&mut vec![0; greeting]).map_err(FlowError::socket("receive a greeting"))
}

pub(super) fn local(socket: &Socket) -> Result<SocketAddrV4, FlowError> {
    let address = socket.local_addr().map_err(FlowError::socket("ask for a local address"))?;
    address.as_socket_ipv4().ok_or_else(|| {
        FlowError::socket("ask for a local address")(io::ErrorKind::AddrNotAvailable.into())
    })
}
