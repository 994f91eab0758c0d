#![no_main]

#[path = "../../crates/serve/tests/targets/mod.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    targets::request(data);
});
