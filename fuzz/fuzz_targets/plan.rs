#![no_main]

#[path = "../../crates/experiment/tests/targets/mod.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    targets::plan(data);
});
