use std::fs;
use std::path::Path;

use libbpf_rs::btf::BtfType;
use sounding_laws::Fallback;

use crate::config::is_name;
use crate::error::LoadError;
use crate::holder::holder_of;
use crate::kernel::{CongControl, Kernel, release};

/// Bits of `CapEff` (linux/capability.h). CAP_PERFMON because the verifier counts struct_ops as
/// tracing.
const CAPABILITIES: [(u32, &str); 3] =
    [(12, "CAP_NET_ADMIN"), (38, "CAP_PERFMON"), (39, "CAP_BPF")];
/// The requirement that only some need.
const BBR: &str = "bbr";
/// CAP_SYS_ADMIN includes all three.
const CAP_SYS_ADMIN: u32 = 21;

/// A requirement of loading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// Its name, in two or three words.
    pub name: &'static str,
    /// Whether this machine meets it.
    pub ok: bool,
    /// What was found.
    pub detail: String,
    /// The remedy; `None` if it is met.
    pub cure: Option<&'static str>,
}

/// All requirements of loading an instance called `name`, in the order in which loading would fail.
pub fn preflight(name: &str) -> Vec<Check> {
    checks(findings(name).0)
}

/// The requirements of a congestion control of ours that needs no stock algorithm.
pub(crate) fn preflight_without_stock(name: &str) -> Vec<Check> {
    let (found, _) = findings(name);
    checks(found.into_iter().filter(|(what, _)| *what != BBR).collect())
}

fn checks(found: Vec<(&'static str, Finding)>) -> Vec<Check> {
    found
        .into_iter()
        .map(|(what, found)| match found {
            Ok(detail) => Check { name: what, ok: true, detail, cure: None },
            Err(error) => {
                Check { name: what, ok: false, detail: error.to_string(), cure: Some(error.cure()) }
            }
        })
        .collect()
}

/// The running kernel, or the first unmet requirement.
pub(crate) fn kernel_for(name: &str, fallback: Fallback) -> Result<Kernel, LoadError> {
    let kernel = kernel_with(name, |_| true)?;
    if fallback == Fallback::Cubic {
        whereabouts(&kernel, "cubictcp_cong_avoid", "tcp_cubic").ok_or(LoadError::NoCubic)?;
    }
    Ok(kernel)
}

/// The same for a congestion control that needs no stock algorithm.
pub(crate) fn kernel_without_stock(name: &str) -> Result<Kernel, LoadError> {
    kernel_with(name, |what| what != BBR)
}

fn kernel_with(name: &str, needs: impl Fn(&str) -> bool) -> Result<Kernel, LoadError> {
    let (found, kernel) = findings(name);
    let mut needed = found.into_iter().filter(|(what, _)| needs(what));
    needed.try_for_each(|(_, found)| found.map(drop))?;
    Ok(kernel.expect("all requirements are met, its types included"))
}

/// Where the kernel has a function: built in, or in a module; `None` if it has none.
fn whereabouts(kernel: &Kernel, function: &str, module: &str) -> Option<String> {
    if kernel.types().type_by_name::<BtfType<'_>>(function).is_some() {
        return Some("built in".into());
    }
    let is_loaded = Path::new("/sys/kernel/btf").join(module).exists();
    is_loaded.then(|| format!("module {module}"))
}

pub(crate) type Finding = Result<String, LoadError>;

fn findings(name: &str) -> (Vec<(&'static str, Finding)>, Option<Kernel>) {
    let mut found = vec![("name", check_name(name)), ("privileges", privileges())];
    let kernel = match Kernel::running() {
        Ok(kernel) => {
            found.extend([
                ("kernel types", Ok(format!("{} types", kernel.types().len()))),
                ("kernel version", version(&kernel)),
                (BBR, bbr(&kernel)),
            ]);
            Some(kernel)
        }
        Err(error) => {
            found.push(("kernel types", Err(error)));
            None
        }
    };
    found.extend([("jit", jit()), ("name is free", name_is_free(name))]);
    (found, kernel)
}

fn check_name(name: &str) -> Finding {
    if is_name(name) { Ok(name.into()) } else { Err(LoadError::Name { name: name.into() }) }
}

fn version(kernel: &Kernel) -> Finding {
    let shape = match kernel.cong_control()? {
        CongControl::Ack => "",
        CongControl::Sample => ", whose cong_control is the one from before 6.10",
    };
    Ok(format!("Linux {}{shape}", release()))
}

fn bbr(kernel: &Kernel) -> Finding {
    whereabouts(kernel, "bbr_main", "tcp_bbr").ok_or(LoadError::NoBbr)
}

pub(crate) fn privileges() -> Finding {
    let status = fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
    let effective = status
        .lines()
        .find_map(|line| line.strip_prefix("CapEff:"))
        .and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok())
        .unwrap_or(0);
    let has = |bit: u32| effective >> bit & 1 == 1;
    let missing: Vec<_> = CAPABILITIES
        .iter()
        .filter(|(bit, _)| !has(*bit) && !has(CAP_SYS_ADMIN))
        .map(|(_, name)| *name)
        .collect();
    if missing.is_empty() {
        Ok("may load and register".into())
    } else {
        Err(LoadError::Privilege { missing: missing.join(" ") })
    }
}

fn jit() -> Finding {
    match fs::read_to_string("/proc/sys/net/core/bpf_jit_enable").as_deref().map(str::trim) {
        Ok("0") => Err(LoadError::NoJit),
        Ok(_) => Ok("enabled".into()),
        // Only root of the first user namespace may read it. If JIT is off, the load fails.
        Err(_) => Ok("not readable".into()),
    }
}

fn name_is_free(name: &str) -> Finding {
    let list = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control")
        .unwrap_or_default();
    if list.split_whitespace().any(|taken| taken == name) {
        return Err(LoadError::NameTaken { name: name.into(), holder: holder_of(name) });
    }
    Ok(format!("{name} is not registered"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_what_linux_takes_and_each_laws_own_is_one() {
        for (name, is_one) in [
            ("biscay", true),
            ("pbe_cc", true),
            ("pbe-cc", false),
            ("pbe.cc", false),
            ("Biscay", false),
            ("", false),
            ("fifteen_letters", true),
            ("sixteen_letters_", false),
        ] {
            assert_eq!(is_name(name), is_one, "{name}");
            assert_eq!(check_name(name).is_ok(), is_one, "{name}");
        }
        for law in sounding_laws::Law::ALL {
            assert!(is_name(&law.kernel_name()), "{law:?}");
        }
    }
}
