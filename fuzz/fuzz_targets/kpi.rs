#![no_main]

#[path = "../../crates/kpi/tests/decoded/mod.rs"]
mod decoded;
#[path = "../../crates/kpi/tests/targets/mod.rs"]
mod targets;
#[path = "../../crates/diag/tests/tree/mod.rs"]
#[allow(dead_code, reason = "each user of this file has its own needs")]
mod tree;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    targets::kpi(data);
});
