//! The syntax of a table of KPIs.

/// The KPIs of one record, a line for each: name, unit, range, path (with a conversion, if the
/// field is not the value already), section, and meaning.
macro_rules! kpis {
    ($($(#[$doc:meta])* $table:ident = $code:literal { $(
        $name:literal $unit:ident $least:literal..=$most:literal
        $path:literal $([$($conversion:tt)+])? $origin:literal $what:literal;
    )* })*) => { $(
        $(#[$doc])*
        pub(super) const $table: &[$crate::registry::NamedKpi] = &[$(
            $crate::registry::NamedKpi {
                name: $name,
                unit: $crate::registry::Unit::$unit,
                least: { const LEAST: i64 = $least; LEAST as f64 },
                most: { const MOST: i64 = $most; MOST as f64 },
                what: $what,
                origin: $origin,
                code: sounding_diag::LogCode::new($code),
                source: $crate::registry::Source::Field {
                    path: $path,
                    conversion: $crate::registry::table::conversion!($($($conversion)+)?),
                },
            },
        )*];
    )* };
}

/// `times N`, `plus N`, `by CHOICES`, `through FUNCTION`; without a conversion it is the field's
/// value.
macro_rules! conversion {
    () => {
        $crate::registry::Conversion::PLAIN
    };
    (times $times:literal) => {
        $crate::registry::Conversion::Linear { times: $times as f64, plus: 0.0 }
    };
    (plus $plus:literal) => {
        $crate::registry::Conversion::Linear { times: 1.0, plus: $plus as f64 }
    };
    (by $choices:ident) => {
        $crate::registry::Conversion::Choice($crate::registry::choices::$choices)
    };
    (through $table:ident) => {
        $crate::registry::Conversion::Table($table)
    };
}

pub(super) use {conversion, kpis};
