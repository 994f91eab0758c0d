//! A request of HTTP/1.1, from a stranger.

use std::net::SocketAddr;

/// The bytes of a request's head at most, and its headers.
pub(super) const MOST: usize = 8 * 1024;
const HEADERS: usize = 64;

/// What is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) path: String,
    /// The token of `?token=`, of `Authorization: Bearer`, or of the cookie.
    token: Option<String>,
    host: Option<String>,
    origin: Option<String>,
}

/// Why a request is not served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// It is no request, or a part of it is too long.
    Malformed,
    /// It asks for more than to read.
    Method,
    /// Its `Host` is not this server: a page of another site may have sent it.
    Host,
    /// Its `Origin` is another site.
    Origin,
    /// It has no token, or a wrong one.
    Token,
    /// Nothing is there.
    Absent,
}

impl Refusal {
    pub(super) const fn status(self) -> &'static str {
        match self {
            Self::Malformed => "400 Bad Request",
            Self::Method => "405 Method Not Allowed",
            Self::Host => "421 Misdirected Request",
            Self::Origin => "403 Forbidden",
            Self::Token => "401 Unauthorized",
            Self::Absent => "404 Not Found",
        }
    }

    /// What to do.
    pub(super) const fn help(self) -> &'static str {
        match self {
            Self::Malformed => "this is no request of HTTP/1.1, or it is longer than 8 KiB\n",
            Self::Method => "this server only shows things: use GET\n",
            Self::Host => {
                "this server does not have that name: use its address, or add the name to `hosts` of [serve]\n"
            }
            Self::Origin => "a page of another site may not read this\n",
            Self::Token => {
                "open this page once with ?token=TOKEN, or send `Authorization: Bearer TOKEN`; the file of `token` in \
                 [serve] has it\n"
            }
            Self::Absent => "there are /, /feed, /history.json, /status.json and /metrics\n",
        }
    }
}

/// Who may read.
#[derive(Clone, Debug)]
pub(super) struct Door {
    pub(super) address: SocketAddr,
    /// Other names of this server.
    pub(super) hosts: Vec<String>,
    /// `None` where everyone may read who reaches the address.
    pub(super) token: Option<String>,
}

/// The name of the cookie.
pub(super) const COOKIE: &str = "sounding";

impl Request {
    /// The request at the beginning of these bytes; `None` if it is not complete yet.
    pub(super) fn parse(bytes: &[u8]) -> Option<Result<Self, Refusal>> {
        let mut headers = [httparse::EMPTY_HEADER; HEADERS];
        let mut request = httparse::Request::new(&mut headers);
        match request.parse(bytes) {
            Ok(httparse::Status::Complete(_)) => {}
            Ok(httparse::Status::Partial) if bytes.len() < MOST => return None,
            Ok(httparse::Status::Partial) | Err(_) => return Some(Err(Refusal::Malformed)),
        }
        if request.method != Some("GET") {
            return Some(Err(Refusal::Method));
        }
        let target = request.path.unwrap_or("/");
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let mut found = Self { path: path.into(), ..Self::default() };
        let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        found.token = pairs.filter(|(key, _)| *key == "token").map(|(_, token)| token.into()).next();
        for header in request.headers.iter() {
            let Ok(value) = std::str::from_utf8(header.value) else { continue };
            match header.name.to_ascii_lowercase().as_str() {
                // Two of them would be believed in different ways by different readers.
                "host" if found.host.is_some() => return Some(Err(Refusal::Malformed)),
                "host" => found.host = Some(value.into()),
                "origin" => found.origin = Some(value.into()),
                "authorization" if found.token.is_none() => {
                    found.token = value.strip_prefix("Bearer ").map(Into::into);
                }
                "cookie" if found.token.is_none() => {
                    let cookies = value.split("; ").filter_map(|cookie| cookie.split_once('='));
                    let mut own = cookies.filter(|(name, _)| *name == COOKIE);
                    found.token = own.next().map(|(_, token)| token.into());
                }
                _ => {}
            }
        }
        Some(Ok(found))
    }
}

impl Door {
    /// Lets a request in, or says why not.
    pub(super) fn admit(&self, request: &Request) -> Result<(), Refusal> {
        let host = request.host.as_deref().unwrap_or_default();
        if !self.is_own(host) {
            return Err(Refusal::Host);
        }
        let origin = request.origin.as_deref();
        if origin.is_some_and(|origin| origin.strip_prefix("http://") != Some(host)) {
            return Err(Refusal::Origin);
        }
        match (&self.token, &request.token) {
            (None, _) => Ok(()),
            (Some(token), Some(given)) if is_same(token.as_bytes(), given.as_bytes()) => Ok(()),
            _ => Err(Refusal::Token),
        }
    }

    /// Whether a `Host` is this server: its address, `localhost` on loopback, or a name that was
    /// given. The name of another site that leads here by DNS is none of them.
    fn is_own(&self, host: &str) -> bool {
        let port = self.address.port().to_string();
        let (name, given) = match host.rsplit_once(':') {
            Some((name, given)) if !given.ends_with(']') => (name, given),
            _ => (host, "80"),
        };
        let ip = self.address.ip();
        let is_ip = if ip.is_unspecified() {
            name.trim_matches(['[', ']']).parse::<std::net::IpAddr>().is_ok()
        } else {
            name.trim_matches(['[', ']']) == ip.to_string()
        };
        let is_loopback = name == "localhost" && (ip.is_loopback() || ip.is_unspecified());
        let is_named = self.hosts.iter().any(|own| own.eq_ignore_ascii_case(name));
        given == port && (is_ip || is_loopback || is_named)
    }
}

/// Compares without telling by its time how much is right.
fn is_same(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len() && one.iter().zip(other).fold(0, |sum, (a, b)| sum | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn door() -> Door {
        let address = "127.0.0.1:8080".parse().unwrap();
        Door { address, hosts: vec!["router.lan".into()], token: Some("secret".into()) }
    }

    fn ask(head: &str) -> Result<(), Refusal> {
        let text = format!("{head}\r\n\r\n");
        door().admit(&Request::parse(text.as_bytes()).expect("it is whole")?)
    }

    #[test]
    fn a_token_opens_in_three_ways_and_nothing_else_does() {
        for head in [
            "GET /?token=secret HTTP/1.1\r\nHost: 127.0.0.1:8080",
            "GET / HTTP/1.1\r\nHost: localhost:8080\r\nAuthorization: Bearer secret",
            "GET / HTTP/1.1\r\nHost: ROUTER.lan:8080\r\nCookie: a=b; sounding=secret",
        ] {
            assert_eq!(ask(head), Ok(()), "{head}");
        }
        for head in [
            "GET / HTTP/1.1\r\nHost: 127.0.0.1:8080",
            "GET /?token=secre HTTP/1.1\r\nHost: 127.0.0.1:8080",
            "GET /?token= HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nCookie: sounding=",
        ] {
            assert_eq!(ask(head), Err(Refusal::Token), "{head}");
        }
    }

    #[test]
    fn another_site_is_refused_by_host_and_by_origin() {
        for (head, why) in [
            ("GET /?token=secret HTTP/1.1\r\nHost: evil.example:8080", Refusal::Host),
            ("GET /?token=secret HTTP/1.1\r\nHost: 127.0.0.1", Refusal::Host),
            ("GET /?token=secret HTTP/1.1", Refusal::Host),
            (
                "GET /?token=secret HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nOrigin: http://evil.example",
                Refusal::Origin,
            ),
            ("GET / HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nHost: evil.example", Refusal::Malformed),
            ("POST / HTTP/1.1\r\nHost: 127.0.0.1:8080", Refusal::Method),
            ("garbage", Refusal::Malformed),
        ] {
            assert_eq!(ask(head), Err(why), "{head}");
        }
    }

    #[test]
    fn a_head_that_never_ends_is_refused_and_a_part_is_waited_for() {
        assert_eq!(Request::parse(b"GET / HT"), None);
        let long = format!("GET / HTTP/1.1\r\nX: {}", "x".repeat(MOST));
        assert_eq!(Request::parse(long.as_bytes()), Some(Err(Refusal::Malformed)));
    }
}
