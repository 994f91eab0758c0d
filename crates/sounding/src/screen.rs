//! Foreign text that goes to a terminal or a log: a modem's messages, names of files, programs and
//! plans.
//!
//! Terminals execute control characters: they move the cursor, rename the window, or put text on
//! the clipboard. People also read logs in a terminal. Unicode adds more controls, and marks that
//! reverse the reading order. All output of this program passes here, see [`say`](crate::say). This
//! module escapes such characters in the way of JSON, so that a line of JSON is unchanged.

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::path::Path;

/// A text of one line, which a line break or a tab in it does not leave.
pub(crate) fn inline(text: &str) -> Cow<'_, str> {
    escape(text, harms)
}

/// A text whose lines and tabs are its writer's own.
pub(crate) fn lines(text: &str) -> Cow<'_, str> {
    escape(text, |c| c != '\n' && c != '\t' && harms(c))
}

/// The name of a file, safe as part of a line.
pub(crate) fn path(path: &Path) -> impl fmt::Display + '_ {
    struct Shown<'a>(&'a Path);
    impl fmt::Display for Shown<'_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.pad(&inline(&self.0.to_string_lossy()))
        }
    }
    Shown(path)
}

fn escape(text: &str, is_unwanted: impl Fn(char) -> bool) -> Cow<'_, str> {
    // Nearly every text is plain: letters, digits and signs of ASCII.
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) || !text.contains(&is_unwanted) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            c if !is_unwanted(c) => out.push(c),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    // Writing into a string cannot fail.
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
        }
    }
    Cow::Owned(out)
}

/// Whether a terminal, or a reader's eye, is led by this character instead of shown it.
fn harms(c: char) -> bool {
    match c {
        // Both sets of controls (ECMA-48), and what ends a line or a paragraph in Unicode.
        c if c.is_control() => true,
        '\u{2028}' | '\u{2029}' => true,
        // Direction marks (UAX #9): text after them is displayed in another order.
        '\u{061C}' | '\u{200E}' | '\u{200F}' => true,
        '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' => true,
        // Invisible marks and tags.
        '\u{FEFF}' | '\u{FFF9}'..='\u{FFFB}' | '\u{E0000}'..='\u{E007F}' => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_leads_a_terminal_is_written_out() {
        for (text, shown) in [
            ("plain", "plain"),
            ("\x1b]0;mine\x07", "\\u001b]0;mine\\u0007"),
            ("a\rb\x08\x7f", "a\\rb\\u0008\\u007f"),
            ("\u{9b}31m", "\\u009b31m"),
            ("\u{202e}fdp.exe\u{2066}", "\\u202efdp.exe\\u2066"),
            ("\u{e0041}", "\\udb40\\udc41"),
            ("señal 信号 📱 ‑", "señal 信号 📱 ‑"),
        ] {
            assert_eq!(inline(text), shown);
            assert_eq!(lines(text), shown);
        }
        assert_eq!(inline("two\nlines\tand"), "two\\nlines\\tand");
        assert_eq!(lines("two\nlines\tand"), "two\nlines\tand");
    }

    #[test]
    fn a_line_of_json_says_what_it_said() {
        let words = "a\u{9b}b\u{7f}c\u{202e}d\u{e0041}e\n\"\\";
        let json = serde_json::json!({ "words": words });
        let line = json.to_string();
        let shown = inline(&line);
        assert_ne!(shown, line);
        assert!(!shown.chars().any(harms), "{shown}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).expect("JSON"), json);
    }

    #[test]
    fn a_name_that_is_no_text_is_shown_and_padded() {
        use std::os::unix::ffi::OsStrExt as _;
        let name = Path::new(std::ffi::OsStr::from_bytes(b"a\xff\x1b\n"));
        assert_eq!(format!("{:>14}|", path(name)), "    a\u{fffd}\\u001b\\n|");
    }
}
