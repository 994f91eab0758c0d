#![no_main]

#[path = "../../crates/rrc/tests/targets/mod.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    targets::rrc(data);
});
