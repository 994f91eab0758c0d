//! Compiles the C of the kernel side that is fuzzed, counted and checked as the targets are.

fn main() {
    let bpf = "../crates/bpf";
    let clang = std::env::var("BPF_CLANG").unwrap_or_else(|_| "clang".into());
    cc::Build::new()
        .compiler(clang)
        .file(format!("{bpf}/tests/trust_host.c"))
        .include(format!("{bpf}/src/bpf"))
        .define("TRUST_HOST_LIBRARY", None)
        .flag("-fsanitize=undefined")
        .flag("-fsanitize-trap=all")
        .flag("-fsanitize-coverage=inline-8bit-counters,pc-table,trace-cmp")
        .warnings_into_errors(true)
        .compile("trust_host");
    let headers =
        ["trust.h", "wire.h", "arith.h", "intf.h"].map(|name| format!("src/bpf/common/{name}"));
    for file in headers.iter().map(String::as_str).chain(["tests/trust_host.c"]) {
        println!("cargo:rerun-if-changed={bpf}/{file}");
    }
    println!("cargo:rerun-if-env-changed=BPF_CLANG");
}
