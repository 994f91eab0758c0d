#![no_main]

#[path = "../../crates/link/tests/targets/mod.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    targets::rows(data);
});
