#![no_main]

#[path = "../../crates/report/tests/targets/mod.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    targets::titles(data);
});
