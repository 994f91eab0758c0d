//! What this build's programs need of the kernel.

use super::{Check, check};

/// The requirements of `sounding run`.
pub(super) fn needed() -> impl Iterator<Item = Check> {
    sounding_bpf::preflight("biscay").into_iter().map(|check| of_kernel("kernel", check))
}

/// Optional features that only newer kernels have.
pub(super) fn offers() -> impl Iterator<Item = Check> {
    sounding_bpf::offers().into_iter().map(|check| of_kernel("kernel", check))
}

/// The additional requirements of `sounding run --downlink` and `--peers`.
pub(super) fn downlink() -> impl Iterator<Item = Check> {
    sounding_bpf::downlink_preflight().into_iter().map(|check| of_kernel("downlink", check))
}

/// The requirements of `sounding background`, and who may use it.
pub(super) fn background() -> Vec<Check> {
    const NAME: &str = "background";
    // The name may be there already, which is what users without rights need.
    let checks = sounding_bpf::background_preflight(NAME).into_iter();
    let checks = checks.filter(|check| !["name", "name is free"].contains(&check.name));
    let mut checks: Vec<Check> = checks.map(|check| of_kernel("background", check)).collect();
    let allowed = "/proc/sys/net/ipv4/tcp_allowed_congestion_control";
    let allowed = std::fs::read_to_string(allowed).unwrap_or_default();
    let found = match allowed.split_whitespace().any(|known| known == NAME) {
        true => Ok("background is loaded: every user may choose it".into()),
        false => Err("background is not loaded: only root may use it".into()),
    };
    let cure = "keep `sudo sounding run --background` running";
    checks.push(check("background", "without rights", found, cure));
    checks
}

fn of_kernel(area: &'static str, check: sounding_bpf::Check) -> Check {
    Check {
        area,
        name: check.name.into(),
        ok: check.ok,
        detail: check.detail,
        cure: check.cure.unwrap_or_default().into(),
        more: None,
    }
}
