//! What an object of `cc.bpf.c` has of each law: the same rows as there, for the laws of
//! `sounding_laws`'s table.

use libbpf_rs::{MapMut, Program};
use sounding_laws::Law;

use crate::skel::{CcMaps, CcProgs, OpenCcSkel};
use crate::struct_ops::{Operations, operations};

/// The programs that only this law has.
pub(crate) struct Programs<'a> {
    pub(crate) init: &'a Program<'a>,
    pub(crate) cong_control: &'a Program<'a>,
    pub(crate) older_cong_control: &'a Program<'a>,
    pub(crate) cwnd_event: &'a Program<'a>,
}

/// One row for each law: its map, then its programs.
macro_rules! rows {
    ($(
        $(#[$on:meta])*
        $law:ident: $map:ident $init:ident $cong_control:ident $older:ident $cwnd_event:ident;
    )+) => {
        /// Chooses a law. The programs of the others are then not loaded.
        pub(crate) fn choose<'a, 'obj>(
            open: &'a mut OpenCcSkel<'obj>,
            law: Law,
        ) -> libbpf_rs::Result<Operations<'a, 'obj>> {
            $($(#[$on])*
            if law != Law::$law {
                open.maps.$map.set_autocreate(false)?;
            })+
            Ok(match law {
                $($(#[$on])*
                Law::$law => operations!(open, $map, $older),)+
            })
        }

        /// The map that registers a law.
        pub(crate) fn map<'a, 'obj>(maps: &'a mut CcMaps<'obj>, law: Law) -> &'a mut MapMut<'obj> {
            match law {
                $($(#[$on])* Law::$law => &mut maps.$map,)+
            }
        }

        /// A law's own programs.
        pub(crate) fn programs<'a>(progs: &'a CcProgs<'_>, law: Law) -> Programs<'a> {
            match law {
                $($(#[$on])* Law::$law => Programs {
                    init: &progs.$init,
                    cong_control: &progs.$cong_control,
                    older_cong_control: &progs.$older,
                    cwnd_event: &progs.$cwnd_event,
                },)+
            }
        }
    };
}

rows! {
    Biscay: biscay
        biscay_flow_begins biscay_cong_control biscay_cong_control_before_6_10 biscay_cwnd_event;
    Sounding: sounding
        sounding_flow_begins sounding_cong_control sounding_cong_control_before_6_10
        sounding_cwnd_event;
    PbeCc: pbe_cc
        pbe_cc_flow_begins pbe_cc_cong_control pbe_cc_cong_control_before_6_10 pbe_cc_cwnd_event;
    Cqic: cqic
        cqic_flow_begins cqic_cong_control cqic_cong_control_before_6_10 cqic_cwnd_event;
    #[cfg(feature = "third-law")]
    Steady: steady
        steady_flow_begins steady_cong_control steady_cong_control_before_6_10 steady_cwnd_event;
}
