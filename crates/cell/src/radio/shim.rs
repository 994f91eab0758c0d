pub(super) enum Scenario {
    UrbanMacro,
    UrbanMicro,
    RuralMacro,
    IndoorOffice,
}
pub(super) struct Link {
    f: f64,
    d2: f64,
    d3: f64,
}
impl Link {
    pub(super) fn new(f: f64, d2: f64, hb: f64, hu: f64) -> Self {
        Self { f, d2, d3: libm::hypot(d2, hb - hu) }
    }
}
impl Scenario {
    pub(super) fn line_of_sight_probability(&self, l: &Link) -> f64 {
        if l.d2 <= 18.0 { 1.0 } else { 18.0 / l.d2 + libm::exp(-l.d2 / 63.0) * (1.0 - 18.0 / l.d2) }
    }
    pub(super) fn path_loss_db(&self, l: &Link, los: bool) -> f64 {
        if los {
            28.0 + 22.0 * libm::log10(l.d3) + 20.0 * libm::log10(l.f)
        } else {
            13.54 + 39.08 * libm::log10(l.d3) + 20.0 * libm::log10(l.f)
        }
    }
    pub(super) fn shadow_sigma_db(&self, _l: &Link, los: bool) -> f64 {
        if los { 4.0 } else { 6.0 }
    }
    pub(super) fn shadow_correlation_m(&self, los: bool) -> f64 {
        if los { 37.0 } else { 50.0 }
    }
}
