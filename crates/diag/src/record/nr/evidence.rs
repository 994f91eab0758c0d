//! What the layouts were checked against.

/// Every described version of every NR record, with what its reading was checked against: `capture`, a real capture of
/// the shared data; `vector`, a public real record with another decoder's reading of it; `synthetic`, only records made
/// from the layout itself, which follows a public description.
pub const EVIDENCE: &[(u16, u32, &str)] = &[
    (0xB822, 1, "synthetic"),
    (0xB822, 3, "vector"),
    (0xB822, 0x2_0000, "vector"),
    (0xB823, 4, "vector"),
    (0xB823, 0x3_0000, "synthetic"),
    (0xB823, 0x3_0002, "vector"),
    (0xB823, 0x3_0003, "vector"),
    (0xB825, 8, "synthetic"),
    (0xB826, 2, "vector"),
    (0xB826, 3, "vector"),
    (0xB826, 4, "vector"),
    (0xB826, 6, "vector"),
    (0xB826, 7, "vector"),
    (0xB826, 8, "vector"),
    (0xB826, 9, "capture"),
    (0xB826, 10, "vector"),
    (0xB826, 13, "vector"),
    (0xB826, 14, "vector"),
    (0xB840, 6, "synthetic"),
    (0xB842, 5, "synthetic"),
    (0xB84B, 5, "synthetic"),
    (0xB84D, 4, "synthetic"),
    (0xB84D, 0x3_0000, "synthetic"),
    (0xB84E, 1, "synthetic"),
    (0xB857, 6, "synthetic"),
    (0xB860, 9, "synthetic"),
    (0xB861, 1, "synthetic"),
    (0xB861, 0x3_0001, "synthetic"),
    (0xB868, 4, "synthetic"),
    (0xB869, 0x3_0001, "synthetic"),
    (0xB870, 0x3_0003, "synthetic"),
    (0xB871, 5, "synthetic"),
    (0xB872, 4, "synthetic"),
    (0xB872, 0x3_0008, "synthetic"),
    (0xB873, 2, "synthetic"),
    (0xB873, 0x3_0003, "synthetic"),
    (0xB881, 0x2_0000, "synthetic"),
    (0xB881, 0x2_0001, "synthetic"),
    (0xB881, 0x3_0001, "synthetic"),
    (0xB883, 0x2_0008, "synthetic"),
    (0xB883, 0x2_000B, "synthetic"),
    (0xB883, 0x2_0011, "synthetic"),
    (0xB883, 0x3_000F, "synthetic"),
    (0xB885, 0x2_0005, "synthetic"),
    (0xB885, 0x3_0009, "synthetic"),
    (0xB886, 0x2_0003, "synthetic"),
    (0xB887, 0x2_0005, "synthetic"),
    (0xB887, 0x3_0003, "synthetic"),
    (0xB887, 0x3_000D, "synthetic"),
    (0xB888, 0x2_0002, "synthetic"),
    (0xB888, 0x3_0000, "synthetic"),
    (0xB888, 0x3_0001, "synthetic"),
    (0xB889, 0x2_0001, "synthetic"),
    (0xB889, 0x3_0007, "synthetic"),
    (0xB88A, 0x3_0008, "synthetic"),
    (0xB890, 0x2_0001, "synthetic"),
    (0xB896, 0x3_0000, "synthetic"),
    (0xB89B, 0x2_0002, "synthetic"),
    (0xB89B, 0x3_0000, "synthetic"),
    (0xB89C, 0x2_0001, "synthetic"),
    (0xB8A7, 0x2_0001, "synthetic"),
    (0xB8A7, 0x3_0005, "synthetic"),
    (0xB8C9, 0x2_0000, "synthetic"),
    (0xB8DD, 7, "synthetic"),
    (0xB96F, 0x2_0003, "synthetic"),
    (0xB975, 0x2_0001, "synthetic"),
    (0xB97F, 0x2_0006, "synthetic"),
    (0xB97F, 0x2_0007, "vector"),
    (0xB97F, 0x2_0009, "vector"),
    (0xB97F, 0x2_000A, "vector"),
    (0xB97F, 0x3_0000, "vector"),
    (0xB98F, 0x2_0002, "synthetic"),
    (0xB9BF, 0x2_0007, "synthetic"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LogCode;
    use crate::record::{CODES, layouts};
    use std::vec::Vec;

    #[test]
    fn every_described_version_says_what_it_was_checked_against() {
        let listed: Vec<(u16, u32)> =
            EVIDENCE.iter().map(|&(code, version, _)| (code, version)).collect();
        let mut codes: Vec<LogCode> = CODES.to_vec();
        codes.retain(|code| listed.iter().any(|(listed, _)| *listed == code.number()));
        codes.sort_unstable();
        let described: Vec<(u16, u32)> = codes
            .into_iter()
            .flat_map(|code| {
                let layouts = layouts(code).into_iter().flatten();
                layouts.flat_map(|layout| layout.versions).map(move |v| (code.number(), *v))
            })
            .collect();
        assert_eq!(listed, described);
    }
}
