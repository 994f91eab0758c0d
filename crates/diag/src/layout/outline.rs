//! The fields and lists that records of a layout can have, without a record.

use super::part::Block;
use super::{Count, Field, Kind, Layout, Part};
use crate::mac::{self, nr};
use crate::sink::{Outline, Shape};
use crate::{rlc, rlc_nr};

impl Layout {
    /// Gives every field and list that a record can have to `outline`. A field or list may come
    /// more than once. Each kind of sub-packet has the list of sub-packets to itself.
    pub fn outline(&self, outline: &mut impl Outline) {
        visit(self.parts, outline);
    }
}

impl Field {
    fn shape(&self) -> Shape {
        match self.kind {
            Kind::Flag => Shape::Flag,
            Kind::Uint | Kind::Hex if self.bits.width() == 64 => Shape::Word,
            Kind::Network { width: 64, .. } => Shape::Word,
            Kind::Uint | Kind::Hex | Kind::Network { .. } => Shape::Uint,
            Kind::Int => Shape::Int,
            Kind::Scaled { .. } | Kind::ScaledInt { .. } => Shape::Real,
            Kind::Names(_) | Kind::Plmn | Kind::PlmnDigits => Shape::Text,
            Kind::Bytes(_) => Shape::Bytes,
        }
    }
}

fn visit(parts: &'static [Part], outline: &mut impl Outline) {
    for part in parts {
        match part {
            Part::Block(Block { fields, .. }) => {
                let fields = fields.iter().copied().flatten();
                fields.for_each(|field| outline.field(field.name, field.shape()));
            }
            Part::List { name, count, parts } => {
                let is_single = match count {
                    Count::Says(bits) => bits.width() == 1,
                    Count::When(..) | Count::Fixed(1) | Count::Of(_, 1) => true,
                    Count::Of(..) | Count::Unless(..) | Count::Fixed(_) | Count::Ones(_) => false,
                };
                outline.begin_list(name, is_single);
                visit(parts, outline);
                outline.end_list();
            }
            Part::Counted { name, parts, .. } => {
                outline.begin_list(name, false);
                visit(parts, outline);
                outline.end_list();
            }
            Part::SubPackets { known, .. } => {
                for sub in *known {
                    outline.begin_list("sub_packets", false);
                    outline.field("id", Shape::Text);
                    outline.field("version", Shape::Uint);
                    outline.field("len_bytes", Shape::Uint);
                    visit(sub.parts, outline);
                    outline.field("unsupported", Shape::Flag);
                    outline.end_list();
                }
            }
            Part::Mac { uplink, .. } => mac::outline(*uplink, outline),
            Part::NrControls { .. } | Part::NrControl => nr::outline(outline),
            Part::Rlc { .. } => rlc::outline(outline),
            Part::NrStatus { .. } => rlc_nr::outline(outline),
            Part::Opaque { name, .. } | Part::Rest { name } => outline.field(name, Shape::Bytes),
            Part::Padding(_) | Part::Chain => {}
        }
    }
}
