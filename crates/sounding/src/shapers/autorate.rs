//! Whether cake-autorate sets the rates of a device already.

use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// A file of settings is not longer.
const LONGEST: u64 = 256 << 10;

/// The process of a cake-autorate that shapes one of these devices in this network namespace, or
/// whose devices are unknown.
pub(super) fn running_on(devices: &[&str]) -> Option<u32> {
    let namespace = fs::metadata("/proc/thread-self/ns/net").ok()?.ino();
    let entries = fs::read_dir("/proc").ok()?.flatten();
    let number = |entry: fs::DirEntry| entry.file_name().to_str()?.parse::<u32>().ok();
    let mut found: Vec<u32> = entries
        .filter_map(number)
        .filter(|process| {
            let folder = Path::new("/proc").join(process.to_string());
            let line = fs::read(folder.join("cmdline")).unwrap_or_default();
            let theirs = fs::metadata(folder.join("ns/net")).map(|about| about.ino());
            // Another namespace has other devices. One that cannot be seen may be this one.
            is_autorate(&line) && theirs.is_none_or_ok(namespace) && shapes(&line, devices)
        })
        .collect();
    found.sort_unstable();
    found.first().copied()
}

/// Whether a result is unknown, or this.
trait NoneOrOk<T> {
    fn is_none_or_ok(&self, value: T) -> bool;
}

impl<T: PartialEq, E> NoneOrOk<T> for Result<T, E> {
    fn is_none_or_ok(&self, value: T) -> bool {
        self.as_ref().map_or(true, |own| *own == value)
    }
}

fn words(line: &[u8]) -> impl Iterator<Item = String> {
    line.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned())
}

/// By the program, or by the script that a shell runs. A file of settings, which other programs
/// read too, comes later on the line.
fn is_autorate(line: &[u8]) -> bool {
    words(line).take(2).any(|word| {
        let name = word.rsplit('/').next().unwrap_or_default();
        name.starts_with("cake-autorate")
    })
}

/// Unless its settings name other devices.
fn shapes(line: &[u8], devices: &[&str]) -> bool {
    let mut named = words(line).skip(1).filter(|word| word.starts_with('/')).flat_map(settings);
    let mut any = false;
    let is_ours = named.any(|device| {
        any = true;
        devices.contains(&&*device)
    });
    is_ours || !any
}

/// The devices that a file names.
fn settings(path: String) -> Vec<String> {
    let mut text = Vec::new();
    let is_file = fs::metadata(&path).is_ok_and(|about| about.is_file());
    let opened = if is_file { File::open(&path).ok() } else { None };
    if opened.is_none_or(|file| file.take(LONGEST).read_to_end(&mut text).is_err()) {
        return Vec::new();
    }
    devices_in(&String::from_utf8_lossy(&text))
}

fn devices_in(text: &str) -> Vec<String> {
    let keys = ["dl_if=", "ul_if="];
    let lines = text.lines().map(str::trim_start);
    let values = lines.filter_map(|line| keys.iter().find_map(|key| line.strip_prefix(key)));
    let word = |value: &str| value.split(['#', ' ', '\t']).next().unwrap_or_default().to_owned();
    let values = values.map(|value| word(value).trim_matches(['"', '\'']).to_owned());
    // A name that a shell would still compute is unknown.
    values.filter(|value| !value.is_empty() && !value.contains('$')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_of_that_name_is_found_and_a_reader_of_its_settings_is_not() {
        for (line, is) in [
            ("/bin/bash\0/opt/cake-autorate/cake-autorate.sh\0/opt/config.sh\0", true),
            ("cake-autorate-rs\0", true),
            ("sounding\0shape\0--import\0/opt/cake-autorate/config.primary.sh\0", false),
            ("vi\0/opt/cake-autorate/config.primary.sh\0", false),
            ("", false),
        ] {
            assert_eq!(is_autorate(line.as_bytes()), is, "{line:?}");
        }
    }

    #[test]
    fn devices_are_read_from_settings() {
        let text = "# x\ndl_if=ifb-wan # download\n  ul_if=\"wwan0\"\nul_if=$other\n";
        assert_eq!(devices_in(text), ["ifb-wan", "wwan0"]);
        assert!(shapes(b"bash\0no-file\0", &["wwan0"]), "unknown devices may be these");
    }
}
