use crate::kernel::Kernel;
use crate::preflight::Check;

/// Optional features that some kernels have and [`preflight`](crate::preflight) does not require;
/// empty if the kernel's types cannot be read, which preflight reports.
pub fn offers() -> Vec<Check> {
    let Ok(kernel) = Kernel::running() else { return Vec::new() };
    let registration = if kernel.has_links() {
        "the name of a killed daemon goes by itself"
    } else {
        "no link (Linux 6.4): a second process takes the name of a killed daemon away"
    };
    vec![
        Check { name: "registration", ok: true, detail: registration.into(), cure: None },
        offer(
            "other flows",
            kernel.has_tcx(),
            (
                "tcx: those over --interface are counted",
                "no tcx: those over --interface are not counted",
            ),
            "run Linux 6.6 or newer",
        ),
        offer(
            "open connections",
            kernel.adopts(),
            ("--downlink and --peers take them on", "--downlink and --peers leave them alone"),
            "run Linux 6.12 or newer, or connect again",
        ),
    ]
}

fn offer(name: &'static str, ok: bool, (with, without): (&str, &str), cure: &'static str) -> Check {
    let detail = if ok { with } else { without };
    Check { name, ok, detail: detail.into(), cure: (!ok).then_some(cure) }
}
