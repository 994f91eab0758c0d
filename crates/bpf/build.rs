//! Compiles `src/bpf/biscay.bpf.c` and generates its skeleton. Needs clang; no BTF of any kernel.

use std::env;
use std::path::PathBuf;

use libbpf_cargo::SkeletonBuilder;

const SOURCES: [&str; 5] = ["biscay.bpf.c", "intf.h", "law.h", "mini.h", "shared.h"];

fn main() {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let mut builder = SkeletonBuilder::new();
    builder.source("src/bpf/biscay.bpf.c").clang_args([
        "-Wall",
        "-Wextra",
        "-Wno-unused-parameter",
        "-Werror",
        "-mcpu=v3",
    ]);
    if let Some(clang) = env::var_os("BPF_CLANG") {
        builder.clang(clang);
    }
    if let Err(error) = builder.build_and_generate(out.join("biscay.skel.rs")) {
        eprintln!("{error:#}");
        eprintln!("the kernel side needs clang 14 or newer (set BPF_CLANG to name one)");
        std::process::exit(1);
    }
    for source in SOURCES {
        println!("cargo:rerun-if-changed=src/bpf/{source}");
    }
    println!("cargo:rerun-if-env-changed=BPF_CLANG");
}
