//! Answers: what is sent for a request.

use std::fmt::Write as _;

use crate::history::Span;
use crate::request::{Door, Refusal, Request};

/// The page and its parts.
const PAGE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/page.css");
const SCRIPT: &str = include_str!("page/page.js");
const DOOR: &str = include_str!("page/door.html");

/// What a request is answered with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// A part of the page: its type and text.
    Page(&'static str, &'static str),
    /// The page asks for itself again, with the token in a cookie and not in its address.
    KeepToken,
    Status,
    Metrics,
    History(Span),
    Feed,
    Refused(Refusal, bool),
}

impl Answer {
    /// What this request is answered with.
    pub(crate) fn to(request: Result<Request, Refusal>, door: &Door) -> (Self, Option<Request>) {
        let request = match request {
            Ok(request) => request,
            Err(refusal) => return (Self::Refused(refusal, false), None),
        };
        let answer = match door.admit(&request) {
            Ok(()) => Self::of(&request, door),
            Err(refusal) => Self::Refused(refusal, request.path == "/"),
        };
        (answer, Some(request))
    }

    fn of(request: &Request, door: &Door) -> Self {
        match &request.path[..] {
            "/" if door.token.is_some() && request.asked("token").is_some() => Self::KeepToken,
            "/" => Self::Page("text/html", PAGE),
            "/page.css" => Self::Page("text/css", STYLE),
            "/page.js" => Self::Page("text/javascript", SCRIPT),
            "/feed" => Self::Feed,
            "/status.json" => Self::Status,
            "/metrics" => Self::Metrics,
            "/history.json" => {
                let span = Span::named(request.asked("span").unwrap_or("minute"));
                span.map_or(Self::Refused(Refusal::Absent, false), Self::History)
            }
            _ => Self::Refused(Refusal::Absent, false),
        }
    }

    /// Whether it is an answer to what was asked for.
    pub(crate) const fn is_refusal(self) -> bool {
        matches!(self, Self::Refused(..))
    }
}

/// The head of an answer. Without a length its body ends as the connection does.
pub(crate) fn head(status: &str, kind: &str, length: Option<usize>, more: &str) -> String {
    let mut head = format!("HTTP/1.1 {status}\r\nContent-Type: {kind}; charset=utf-8\r\n");
    if let Some(length) = length {
        let _ = write!(head, "Content-Length: {length}\r\n");
    }
    // The page has no text of others, and these keep it so: nothing is loaded from elsewhere, and
    // nothing shows it in a frame.
    head + more
        + "Connection: close\r\nCache-Control: no-store\r\n\
           Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; \
           connect-src 'self'; img-src data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'\r\n\
           X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n\
           Cross-Origin-Resource-Policy: same-origin\r\n\r\n"
}

/// A whole answer of text.
pub(crate) fn whole(status: &str, kind: &str, body: &str) -> Vec<u8> {
    (head(status, kind, Some(body.len()), "") + body).into_bytes()
}

/// The answer to a request that is not served. A browser is asked for the token.
pub(crate) fn refused(refusal: Refusal, is_page: bool) -> Vec<u8> {
    let (kind, body) = match refusal {
        Refusal::Token if is_page => ("text/html", DOOR),
        refusal => ("text/plain", refusal.help()),
    };
    let more = match refusal {
        Refusal::Token => "WWW-Authenticate: Bearer realm=\"sounding\"\r\n",
        Refusal::Method => "Allow: GET\r\n",
        _ => "",
    };
    (head(refusal.status(), kind, Some(body.len()), more) + body).into_bytes()
}

/// The answer that takes the token out of the page's address.
pub(crate) fn keep_token(door: &Door) -> Vec<u8> {
    let (cookie, token) = (door.cookie(), door.token.as_deref().unwrap_or_default());
    let more = format!(
        "Location: /\r\nSet-Cookie: {cookie}={token}; HttpOnly; SameSite=Strict; Path=/\r\n"
    );
    head("303 See Other", "text/plain", Some(0), &more).into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_light_and_loads_nothing_from_elsewhere() {
        let whole = [PAGE, STYLE, SCRIPT].concat();
        assert!(whole.len() < 60_000, "{}", whole.len());
        for outside in ["http:", "https:", "//cdn", "@import", "url(", "innerHTML", "eval("] {
            assert!(!whole.contains(outside), "{outside}");
        }
    }
}
