//! Which sniffers are read.

use sounding_link::Method;
use sounding_modem::SnifferSource;

use crate::cli_types::Unused;
use crate::run::config_error::ConfigError;

/// As many as a device has carriers at most.
const SNIFFERS: usize = 8;

/// Those of the flags, else those of the file. In the file they may stand for when they are wanted.
pub(super) fn chosen(
    flags: Vec<SnifferSource>,
    file: &[String],
    method: Method,
) -> Result<Vec<SnifferSource>, ConfigError> {
    let read: Result<Vec<SnifferSource>, _> = file.iter().map(|text| text.parse()).collect();
    let read = read.map_err(ConfigError::Sniffer)?;
    if method != Method::Cell {
        return match flags.is_empty() {
            true => Ok(Vec::new()),
            false => Err(Unused { flag: "--sniffer", owner: "--method cell" }.into()),
        };
    }
    let sniffers = if flags.is_empty() { read } else { flags };
    if sniffers.len() > SNIFFERS {
        return Err(ConfigError::Sniffers(sniffers.len()));
    }
    Ok(sniffers)
}
