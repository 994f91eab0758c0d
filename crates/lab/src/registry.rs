//! All experiments, in the order in which `sounding lab list` names them.

use crate::biscay::{CrossingsItem, Item, MethodsItem, PrivateItem, Replay, ViewsItem};
use crate::experiment::{Needs, Registered};
use crate::pbe_cc::experiment::{CellItem, DeepItem, PlanItem, RobustItem, Table1Item};
use crate::{
    agreement, background_kernel, baselines, biscay_vs_kernel, bound, bpf_cost, busyness, cell,
    closed_loop, cqic, downlink, emu_ceiling, emu_cells, estimators, field, gandalf, granularity,
    head_to_head, legilimens, mahimahi, overhead, pbe_cc, references, soak, validation,
};

/// One place for all: the list, the commands and their help come from here.
pub const EXPERIMENTS: &[&dyn Registered] = &[
    &baselines::experiment::BaselinesExperiment,
    &biscay_vs_kernel::experiment::BiscayVsKernelExperiment,
    &Replay(Item::Table1),
    &MethodsItem,
    &Replay(Item::Fig6),
    &ViewsItem,
    &Replay(Item::Fig8),
    &Replay(Item::Table2),
    &Replay(Item::Fig9),
    &CrossingsItem,
    &PrivateItem,
    &CellItem(pbe_cc::Item::Fig2),
    &CellItem(pbe_cc::Item::Fig7),
    &Table1Item,
    &PlanItem(pbe_cc::Item::Fig16),
    &PlanItem(pbe_cc::Item::Fig18),
    &PlanItem(pbe_cc::Item::Fig20),
    &DeepItem(pbe_cc::Item::Fig21),
    &RobustItem,
    &DeepItem(pbe_cc::Item::Fig6),
    &DeepItem(pbe_cc::Item::Fig11),
    &cqic::experiment::CqicItem(cqic::Item::Fig2),
    &cqic::experiment::CqicItem(cqic::Item::Fig3),
    &cqic::experiment::CqicItem(cqic::Item::Fig4),
    &cqic::experiment::CqicItem(cqic::Item::Fig5a),
    &cqic::experiment::CqicItem(cqic::Item::Fig5b),
    &cqic::experiment::CqicItem(cqic::Item::Fig5c),
    &cqic::experiment::CqicItem(cqic::Item::Fig5d),
    &cqic::experiment::CqicItem(cqic::Item::Fig5e),
    &cqic::experiment::CqicItem(cqic::Item::Fig5f),
    &cqic::experiment::CqicItem(cqic::Item::Robust),
    &legilimens::experiment::PlanItem(legilimens::Item::Fig2),
    &legilimens::experiment::PlanItem(legilimens::Item::Fig7),
    &legilimens::experiment::PlanItem(legilimens::Item::Fig8),
    &legilimens::experiment::PlanItem(legilimens::Item::Fig9),
    &legilimens::experiment::PlanItem(legilimens::Item::Fig10),
    &legilimens::experiment::PlanItem(legilimens::Item::Fig11),
    &legilimens::experiment::PlanItem(legilimens::Item::Fig12),
    &legilimens::experiment::PlanItem(legilimens::Item::Alone),
    &legilimens::experiment::PlanItem(legilimens::Item::Bound),
    &legilimens::experiment::PlanItem(legilimens::Item::Fig13),
    &legilimens::experiment::PlanItem(legilimens::Item::Fig14),
    &legilimens::experiment::PlanItem(legilimens::Item::Fig15),
    &gandalf::experiment::PlanItem(gandalf::Item::Table1),
    &gandalf::experiment::PlanItem(gandalf::Item::Gcc),
    &gandalf::experiment::PlanItem(gandalf::Item::Gradient),
    &gandalf::experiment::PlanItem(gandalf::Item::Lag),
    &gandalf::experiment::PlanItem(gandalf::Item::Accuracy),
    &gandalf::experiment::PlanItem(gandalf::Item::Masking),
    &gandalf::experiment::PlanItem(gandalf::Item::Parts),
    &gandalf::experiment::PlanItem(gandalf::Item::Filter),
    &gandalf::experiment::PlanItem(gandalf::Item::Modem),
    &gandalf::experiment::PlanItem(gandalf::Item::HyStart),
    &gandalf::delays::DelaysItem,
    &gandalf::groups::GroupsItem,
    &gandalf::kernel::KernelItem,
    &gandalf::webrtc::CallItem,
    &gandalf::webrtc::DownlinkItem,
    &busyness::experiment::BusynessExperiment,
    &background_kernel::experiment::BackgroundKernelExperiment,
    &closed_loop::experiment::ClosedLoopExperiment,
    &references::experiment::ReferencesExperiment,
    &downlink::experiment::DownlinkExperiment,
    &bound::experiment::BoundExperiment,
    &field::experiment::FieldExperiment,
    &mahimahi::experiment::MahimahiExperiment,
    &emu_ceiling::experiment::EmuCeilingExperiment,
    &emu_cells::experiment::EmuCellsExperiment,
    &agreement::experiment::AgreementExperiment,
    &bpf_cost::experiment::BpfCostExperiment,
    &granularity::experiment::GranularityExperiment,
    &head_to_head::experiment::HeadToHeadExperiment,
    &estimators::experiment::EstimatorsExperiment,
    &overhead::experiment::OverheadExperiment,
    &validation::experiment::ValidationExperiment,
    &soak::experiment::SoakExperiment,
    &cell::experiment::CellExperiment,
];

/// Subject, required rights and duration of an experiment, in a line.
pub fn line(experiment: &dyn Registered) -> String {
    let needs = match experiment.needs() {
        Needs::Nothing => Some("no rights needed".to_owned()),
        Needs::Root => None,
        Needs::RootWith(flag) => Some(format!("no rights needed, root with {flag}")),
    };
    let duration = experiment.duration().map(str::to_owned);
    let parts = [Some(experiment.about().to_owned()), needs, duration];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_name_and_alias_belongs_to_one_experiment() {
        let mut names = BTreeSet::new();
        for experiment in EXPERIMENTS {
            let command = experiment.command();
            assert_eq!(command.get_name(), experiment.name());
            for name in std::iter::once(experiment.name()).chain(command.get_all_aliases()) {
                assert!(names.insert(name.to_owned()), "{name}");
            }
            command.debug_assert();
        }
    }

    #[test]
    fn a_line_has_what_is_known_of_rights_and_time() {
        let line_of = |name: &str| {
            let found = EXPERIMENTS.iter().find(|experiment| experiment.name() == name);
            line(*found.expect("an experiment"))
        };
        assert!(line_of("bound").ends_with("; no rights needed; 1 min"));
        assert!(line_of("granularity").ends_with("root with --cpu-latency; 2 min"));
        assert!(line_of("biscay/table1").ends_with("; no rights needed"));
        assert!(line_of("soak").ends_with("leave behind; 1 h"));
    }
}
