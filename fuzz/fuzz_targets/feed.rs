#![no_main]

#[path = "../../crates/feed/tests/targets/mod.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    targets::feed(data);
});
