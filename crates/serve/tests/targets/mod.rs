//! The code of the fuzz target. The test `corpus` runs it with the seeds.

use sounding_serve::{Door, Refusal, Request};

/// A token that no seed and no chance has.
const TOKEN: &str = "e8f3c1b0d2a49576";

/// Any bytes are no request, a part of one, or one that is let in only with the token and by a name
/// of the server.
pub(crate) fn request(data: &[u8]) -> Option<Result<(), Refusal>> {
    let address = "127.0.0.1:8080".parse().expect("an address");
    let door = Door { address, hosts: vec!["router.lan".into()], token: Some(TOKEN.into()) };
    let parsed = Request::parse(data)?;
    let admitted = parsed.as_ref().map_err(|refusal| *refusal).and_then(|asked| door.admit(asked));
    if admitted.is_ok() {
        let text = String::from_utf8_lossy(data);
        // Empty lines before a request are ignored (RFC 9112 §2.2).
        let line = text.trim_start_matches(['\r', '\n']);
        assert!(line.starts_with("GET ") && line.contains(TOKEN), "{text}");
    }
    // More bytes after a head change nothing. More bytes of a head may.
    if let Ok(asked) = &parsed {
        let more = [data, b"more"].concat();
        assert_eq!(Request::parse(&more).as_ref(), Some(&Ok(asked.clone())));
        assert!(asked.path.len() <= data.len() && asked.query.len() <= data.len());
    }
    for refusal in [Refusal::Malformed, Refusal::Method] {
        assert!(refusal.help().ends_with('\n') && !refusal.status().is_empty());
    }
    Some(admitted)
}
