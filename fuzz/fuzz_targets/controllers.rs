#![no_main]

#[path = "../../crates/baselines/tests/targets/mod.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    targets::controllers(data);
});
