#![no_main]

#[path = "../../crates/diag/tests/targets/mod.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    targets::formats(data);
});
