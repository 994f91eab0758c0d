//! Compiles the programs of `src/bpf` and generates their skeletons. Needs clang; no BTF of any
//! kernel.

fn main() {
    #[cfg(feature = "kernel")]
    programs::compile();
}

#[cfg(feature = "kernel")]
mod programs {
    use std::env;
    use std::ffi::OsString;
    use std::path::PathBuf;

    use libbpf_cargo::SkeletonBuilder;

    /// Each a separate object, with its folder in `src/bpf`.
    const PROGRAMS: [(&str, &str); 7] = [
        ("arrivals", "arrivals"),
        ("laws", "cc"),
        ("background", "background"),
        ("copa", "copa"),
        ("downlink", "downlink"),
        ("background", "own"),
        ("peers", "peers"),
    ];
    const ARGUMENTS: [&str; 6] =
        ["-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror", "-mcpu=v3", "-Isrc/bpf"];

    pub(crate) fn compile() {
        let third_law = env::var_os("CARGO_FEATURE_THIRD_LAW").map(|_| "-DSOUNDING_THIRD_LAW");
        // The same object in whatever folder it is built: its lines name their files.
        let mut map = OsString::from("-ffile-prefix-map=");
        map.push(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR"));
        map.push("=crates/bpf");
        let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
        for (folder, program) in PROGRAMS {
            let mut builder = SkeletonBuilder::new();
            builder.source(format!("src/bpf/{folder}/{program}.bpf.c"));
            let arguments = ARGUMENTS.into_iter().chain(third_law).map(OsString::from);
            builder.clang_args(arguments.chain([map.clone()]));
            if let Some(clang) = env::var_os("BPF_CLANG") {
                builder.clang(clang);
            }
            builder.obj(out.join(format!("{program}.bpf.o")));
            if let Err(error) = builder.build_and_generate(out.join(format!("{program}.skel.rs"))) {
                eprintln!("{error:#}");
                eprintln!("the kernel side needs clang 14 or newer (set BPF_CLANG to name one)");
                std::process::exit(1);
            }
        }
        // The folder: headers too.
        println!("cargo:rerun-if-changed=src/bpf");
        println!("cargo:rerun-if-env-changed=BPF_CLANG");
    }
}
