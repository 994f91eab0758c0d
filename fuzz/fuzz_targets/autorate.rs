#![no_main]

#[path = "../../crates/shape/tests/targets/mod.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    targets::autorate(data);
});
