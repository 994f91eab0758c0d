//! The rate feed of `[feed]` and `--feed`.

use std::path::Path;

use crate::cli_types::group;
use crate::run::config::file;
use crate::run::config_error::ConfigError;
use crate::run::outputs::feed::FeedPlan;

/// Without `mode`: the daemon's user and group.
const MODE: u32 = 0o660;

/// The feed, if it has a name.
pub(super) fn chosen(
    flag: Option<String>,
    file: file::Feed,
) -> Result<Option<FeedPlan>, ConfigError> {
    let Some(name) = flag.or(file.name) else { return Ok(None) };
    let folder = Path::new("/run/sounding");
    sounding_board::Place::new(folder, &name).map_err(ConfigError::FeedName)?;
    let mode = file.mode.as_deref().map_or(Ok(MODE), |text| {
        let mode = u32::from_str_radix(text, 8).ok().filter(|mode| mode & !0o777 == 0);
        mode.ok_or_else(|| ConfigError::FeedMode(text.to_owned()))
    })?;
    let group = file.group.as_deref().map(group).transpose().map_err(ConfigError::FeedGroup)?;
    Ok(Some(FeedPlan { name, mode, group, delays: file.delays }))
}
