//! A request of HTTP/1.1, from a stranger, and who is let in.

use std::net::SocketAddr;

/// The bytes of a request's head at most, and its headers.
pub(crate) const MOST: usize = 8 * 1024;
const HEADERS: usize = 64;

/// What is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// Its path, without the query.
    pub path: String,
    /// The query, without `?`.
    pub query: String,
    /// The token of `Authorization: Bearer`.
    bearer: Option<String>,
    cookies: Vec<String>,
    host: Option<String>,
    origin: Option<String>,
}

/// Why a request is not served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
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
    /// There are as many clients as there may be.
    Full,
}

impl Refusal {
    /// The status line's part.
    pub const fn status(self) -> &'static str {
        match self {
            Self::Malformed => "400 Bad Request",
            Self::Method => "405 Method Not Allowed",
            Self::Host => "421 Misdirected Request",
            Self::Origin => "403 Forbidden",
            Self::Token => "401 Unauthorized",
            Self::Absent => "404 Not Found",
            Self::Full => "503 Service Unavailable",
        }
    }

    /// What to do.
    pub const fn help(self) -> &'static str {
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
            Self::Full => "64 others are connected: close one\n",
        }
    }
}

/// Who may read.
#[derive(Clone, Debug)]
pub struct Door {
    /// The server's address.
    pub address: SocketAddr,
    /// Other names of this server.
    pub hosts: Vec<String>,
    /// `None` where everyone may read who reaches the address.
    pub token: Option<String>,
}

impl Request {
    /// The request at the beginning of these bytes; `None` if it is not complete yet.
    pub fn parse(bytes: &[u8]) -> Option<Result<Self, Refusal>> {
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
        let (path, query) = (path.into(), query.into());
        let mut found = Self { path, query, ..Self::default() };
        for header in request.headers.iter() {
            let Ok(value) = std::str::from_utf8(header.value) else { continue };
            match header.name.to_ascii_lowercase().as_str() {
                // Two of them would be believed in different ways by different readers.
                "host" if found.host.is_some() => return Some(Err(Refusal::Malformed)),
                "host" => found.host = Some(value.into()),
                "origin" => found.origin = Some(value.into()),
                "authorization" => {
                    let scheme = value.split_once(' ').filter(|(scheme, _)| {
                        // Its case does not count (RFC 9110 §11.1).
                        scheme.eq_ignore_ascii_case("bearer")
                    });
                    found.bearer = scheme.map(|(_, token)| token.trim().into());
                }
                "cookie" => found.cookies.extend(value.split("; ").map(Into::into)),
                _ => {}
            }
        }
        Some(Ok(found))
    }

    /// The value of a key in the query.
    pub fn asked(&self, key: &str) -> Option<&str> {
        let mut pairs = self.query.split('&').filter_map(|pair| pair.split_once('='));
        pairs.find(|(found, _)| *found == key).map(|(_, value)| value)
    }

    /// Each token that it shows.
    fn tokens<'r>(&'r self, cookie: &'r str) -> impl Iterator<Item = &'r str> {
        let cookies = self.cookies.iter().filter_map(|pair| pair.split_once('='));
        let own = cookies.filter(move |(name, _)| *name == cookie).map(|(_, token)| token);
        self.asked("token").into_iter().chain(self.bearer.as_deref()).chain(own)
    }
}

impl Door {
    /// Lets a request in, or says why not.
    ///
    /// # Errors
    ///
    /// The [`Refusal`].
    pub fn admit(&self, request: &Request) -> Result<(), Refusal> {
        let host = request.host.as_deref().unwrap_or_default();
        if !self.is_own(host) {
            return Err(Refusal::Host);
        }
        let origin = request.origin.as_deref();
        let is_own = |origin: &str| {
            origin.strip_prefix("http://").is_some_and(|site| site.eq_ignore_ascii_case(host))
        };
        if origin.is_some_and(|origin| !is_own(origin)) {
            return Err(Refusal::Origin);
        }
        let Some(token) = &self.token else { return Ok(()) };
        let cookie = self.cookie();
        if request.tokens(&cookie).any(|shown| is_same(token.as_bytes(), shown.as_bytes())) {
            return Ok(());
        }
        Err(Refusal::Token)
    }

    /// The name of its cookie. A browser gives a cookie to all ports of a host.
    pub fn cookie(&self) -> String {
        format!("sounding-{}", self.address.port())
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
        let is_loopback =
            name.eq_ignore_ascii_case("localhost") && (ip.is_loopback() || ip.is_unspecified());
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
            "GET / HTTP/1.1\r\nHost: ROUTER.lan:8080\r\nCookie: a=b; sounding-8080=secret",
        ] {
            assert_eq!(ask(head), Ok(()), "{head}");
        }
        for head in [
            "GET / HTTP/1.1\r\nHost: 127.0.0.1:8080",
            "GET /?token=secre HTTP/1.1\r\nHost: 127.0.0.1:8080",
            "GET /?token= HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nCookie: sounding-8080=",
            "GET / HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nCookie: sounding-8081=secret",
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
