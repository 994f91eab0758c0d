//! The keys of cake-autorate's configuration, versions 1.0 to 3.5, by their meaning here.

/// A direction of the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Uplink,
    Downlink,
}

/// A limit of a direction's rate, as a place in a list of all three.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Limit {
    Min,
    Base,
    Max,
}

/// What becomes of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// The network device whose shaper is set.
    Device(Way),
    /// Whether the direction's rate is changed at all.
    Adjusts(Way),
    /// A limit in kbit/s.
    Rate(Way, Limit),
    /// Nothing, for this reason.
    Nothing(&'static str),
}

/// The meaning of a key; `None` if no version has it.
pub(super) fn meaning(key: &str) -> Option<Meaning> {
    let mapped = MAPPED.iter().find(|(name, _)| *name == key).map(|(_, meaning)| *meaning);
    let nothing = || NOTHING.iter().find(|(_, names)| names.contains(&key));
    mapped.or_else(|| nothing().map(|(reason, _)| Meaning::Nothing(reason)))
}

/// Keys with an equivalent.
pub(super) const MAPPED: &[(&str, Meaning)] = &[
    ("dl_if", Meaning::Device(Way::Downlink)),
    ("ul_if", Meaning::Device(Way::Uplink)),
    ("adjust_dl_shaper_rate", Meaning::Adjusts(Way::Downlink)),
    ("adjust_ul_shaper_rate", Meaning::Adjusts(Way::Uplink)),
    ("min_dl_shaper_rate_kbps", Meaning::Rate(Way::Downlink, Limit::Min)),
    ("base_dl_shaper_rate_kbps", Meaning::Rate(Way::Downlink, Limit::Base)),
    ("max_dl_shaper_rate_kbps", Meaning::Rate(Way::Downlink, Limit::Max)),
    ("min_ul_shaper_rate_kbps", Meaning::Rate(Way::Uplink, Limit::Min)),
    ("base_ul_shaper_rate_kbps", Meaning::Rate(Way::Uplink, Limit::Base)),
    ("max_ul_shaper_rate_kbps", Meaning::Rate(Way::Uplink, Limit::Max)),
];

/// Keys without one, by the reason.
pub(super) const NOTHING: &[(&str, &[&str])] = &[
    (
        "Sounding sends no pings",
        &[
            "irtt_session_duration_m",
            "no_pingers",
            "ping_extra_args",
            "ping_prefix_string",
            "pinger_binary",
            "pinger_method",
            "randomize_reflectors",
            "reflector_comparison_interval_mins",
            "reflector_health_check_interval_s",
            "reflector_misbehaving_detection_thr",
            "reflector_misbehaving_detection_window",
            "reflector_owd_baseline_delta_thr_ms",
            "reflector_owd_delta_ewma_delta_thr_ms",
            "reflector_owd_delta_ewma_thr",
            "reflector_ping_interval_s",
            "reflector_replacement_interval_mins",
            "reflector_response_deadline_s",
            "reflector_sum_owd_baselines_delta_thr_ms",
            "reflectors",
            "reflectors_url",
            "reflectors_url_skip_lines",
            "retain_reflector_stats",
        ],
    ),
    (
        "the rate comes from the modem's records, and not from delay",
        &[
            "alpha_baseline_decrease",
            "alpha_baseline_increase",
            "alpha_delta_ewma",
            "bufferbloat_detection_thr",
            "bufferbloat_detection_window",
            "bufferbloat_refractory_period_ms",
            "delay_thr_ms",
            "dl_avg_owd_delta_max_adjust_down_thr_ms",
            "dl_avg_owd_delta_max_adjust_up_thr_ms",
            "dl_avg_owd_delta_thr_ms",
            "dl_delay_thr_ms",
            "dl_owd_delta_delay_thr_ms",
            "dl_owd_delta_thr_ms",
            "ul_avg_owd_delta_max_adjust_down_thr_ms",
            "ul_avg_owd_delta_max_adjust_up_thr_ms",
            "ul_avg_owd_delta_thr_ms",
            "ul_delay_thr_ms",
            "ul_owd_delta_delay_thr_ms",
            "ul_owd_delta_thr_ms",
        ],
    ),
    (
        "the rate follows the modem's records, and has no factors",
        &[
            "achieved_rate_adjust_down_bufferbloat",
            "decay_refractory_period_ms",
            "high_load_thr",
            "medium_load_thr",
            "shaper_rate_adjust_down_bufferbloat",
            "shaper_rate_adjust_down_load_low",
            "shaper_rate_adjust_up_load_high",
            "shaper_rate_adjust_up_load_low",
            "shaper_rate_max_adjust_down_bufferbloat",
            "shaper_rate_max_adjust_up_load_high",
            "shaper_rate_min_adjust_down_bufferbloat",
            "shaper_rate_min_adjust_up_load_high",
        ],
    ),
    (
        "the modem's records show whether the link is in use",
        &[
            "connection_active_thr_kbps",
            "enable_sleep_function",
            "monitor_achieved_rates_interval_ms",
            "rx_bytes_path",
            "sustained_idle_sleep_thr_s",
            "tx_bytes_path",
        ],
    ),
    (
        "an idle link and a silent modem get `base`, never `min`",
        &[
            "connection_stall_thr_kbps",
            "global_ping_response_timeout_s",
            "min_shaper_rates_enforcement",
            "stall_detection_thr",
            "stall_refractory_period_ms",
        ],
    ),
    (
        "Sounding keeps no log file: `--json` prints events",
        &[
            "debug",
            "log_DEBUG_messages_to_syslog",
            "log_file_buffer_size_B",
            "log_file_buffer_timeout_ms",
            "log_file_export_alternative_path",
            "log_file_export_compress",
            "log_file_export_path_override",
            "log_file_max_size_KB",
            "log_file_max_time_mins",
            "log_file_path_override",
            "log_file_rotation_check_interval_mins",
            "log_file_rotation_mins",
            "log_to_file",
            "monitor_cpu_usage_interval_ms",
            "output_cake_changes",
            "output_cpu_raw_stats",
            "output_cpu_stats",
            "output_load_stats",
            "output_processing_stats",
            "output_reflector_stats",
            "output_summary_stats",
        ],
    ),
    ("the service's unit says when Sounding starts", &["if_up_check_interval_s", "startup_wait_s"]),
    (
        "it is about Starlink, whose terminals have no Diag",
        &[
            "sss_compensation",
            "sss_compensation_post_duration_ms",
            "sss_compensation_pre_duration_ms",
            "sss_times_s",
        ],
    ),
    ("it is about the file itself", &["cake_autorate_version", "config_file_check"]),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::vec::Vec;

    use super::*;

    #[test]
    fn every_key_has_one_meaning() {
        let names = NOTHING.iter().flat_map(|(_, names)| names.iter());
        let all: Vec<&str> = MAPPED.iter().map(|(name, _)| name).chain(names).copied().collect();
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
        assert!(all.iter().all(|name| meaning(name).is_some()));
        assert_eq!(meaning("dl_iface"), None);
    }

    #[test]
    fn each_direction_has_a_device_a_switch_and_three_limits() {
        for way in [Way::Uplink, Way::Downlink] {
            let of_way = MAPPED.iter().filter(|(name, meaning)| {
                let of = match meaning {
                    Meaning::Device(of) | Meaning::Adjusts(of) | Meaning::Rate(of, _) => *of,
                    Meaning::Nothing(_) => return false,
                };
                let sign = if of == Way::Uplink { "ul_" } else { "dl_" };
                assert!(name.contains(sign), "{name}");
                of == way
            });
            assert_eq!(of_way.count(), 5);
        }
    }
}
