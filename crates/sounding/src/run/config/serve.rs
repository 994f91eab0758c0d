//! The HTTP server of `[serve]` and `--serve`.

use crate::run::config::file;
use crate::run::config_error::ConfigError;
use crate::run::outputs::serve::ServePlan;

/// The server, if it has an address.
pub(super) fn chosen(
    flag: Option<String>,
    file: file::Serve,
) -> Result<Option<ServePlan>, ConfigError> {
    let is_asked_for = file.token.is_some() || file.open || !file.hosts.is_empty();
    let address = match flag.or(file.address) {
        Some(address) => address,
        None if is_asked_for => return Err(ConfigError::ServeNowhere),
        None => return Ok(None),
    };
    let address = address.parse().map_err(|_| ConfigError::ServeAddress(address))?;
    if file.open && file.token.is_some() {
        return Err(ConfigError::ServeOpen);
    }
    let is_sign = |sign: char| sign.is_ascii_alphanumeric() || ".-".contains(sign);
    let is_name =
        |name: &&String| !name.is_empty() && name.len() <= 253 && name.chars().all(is_sign);
    if let Some(other) = file.hosts.iter().find(|name| !is_name(name)) {
        return Err(ConfigError::ServeHost(other.clone()));
    }
    Ok(Some(ServePlan { address, token: file.token, open: file.open, hosts: file.hosts }))
}
