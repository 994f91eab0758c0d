//! Arguments of all commands that read captures: log codes, and whether identities are shown.

use std::path::Path;

use clap::Args;
use sounding_diag::LogCode;
use sounding_export::privacy::{self, Privacy};

use crate::screen;
use crate::skipped::Absent;

/// Whether what identifies a person is shown.
#[derive(Args, Debug)]
pub(crate) struct PrivacyArgs {
    /// Leave out what identifies a person; the default
    #[arg(long, overrides_with = "no_redact")]
    redact: bool,
    /// Keep everything: IMSI, IMEI, GUTI, NAS and RRC messages, cell identities, positions, debug
    /// messages
    #[arg(long, overrides_with = "redact")]
    no_redact: bool,
}

impl PrivacyArgs {
    pub(crate) fn choice(&self) -> Privacy {
        if self.no_redact { Privacy::Expose } else { Privacy::Redact }
    }

    /// As [`choice`](Self::choice), with a warning about the private data in the output.
    pub(crate) fn announced(&self, output: &Path) -> Privacy {
        if self.no_redact {
            let exposes = privacy::EXPOSES;
            let output = match output == Path::new("-") {
                true => "standard output".into(),
                false => screen::path(output).to_string(),
            };
            eprintln!("warning: --no-redact: {output} will hold {exposes}");
        }
        self.choice()
    }
}

/// The requested log codes, and which of them have arrived.
#[derive(Debug)]
pub(crate) struct Codes {
    /// Each code, and whether it has arrived. Empty if all codes are wanted.
    codes: Vec<(u16, bool)>,
}

impl Codes {
    /// These codes, or all if there are none.
    pub(crate) fn new(codes: &[u16]) -> Self {
        let mut own: Vec<(u16, bool)> = Vec::new();
        for &code in codes {
            if !own.iter().any(|(known, _)| *known == code) {
                own.push((code, false));
            }
        }
        Self { codes: own }
    }

    /// Whether this code is requested. Also notes that a record of it has arrived.
    pub(crate) fn wants(&mut self, code: u16) -> bool {
        match self.codes.iter_mut().find(|(own, _)| *own == code) {
            Some((_, has_come)) => {
                *has_come = true;
                true
            }
            None => self.codes.is_empty(),
        }
    }

    /// Whether everything is requested, including packets that are not log records.
    pub(crate) fn is_all(&self) -> bool {
        self.codes.is_empty()
    }

    /// The requested codes that have not arrived.
    pub(crate) fn absent(&self) -> Vec<Absent> {
        let absent = self.codes.iter().filter(|(_, has_come)| !has_come);
        absent
            .map(|(code, _)| Absent { name: LogCode::new(*code).to_string(), because: None })
            .collect()
    }
}

/// A log code as people write it.
pub(crate) fn parse_code(text: &str) -> Result<u16, String> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")).unwrap_or(text);
    u16::from_str_radix(digits, 16)
        .map_err(|_| "a log code is four hex digits, as in 0xB139".into())
}
