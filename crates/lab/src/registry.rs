//! All experiments, in the order in which `sounding lab list` names them.

use crate::controllers::{baselines, closed_loop, field, head_to_head};
use crate::estimates::{bound, busyness, estimators};
use crate::experiment::{Card, Needs, Registered};
use crate::fidelity::{agreement, cell, emu_cells, mahimahi, nested, page, validation};
use crate::kernel::{background_kernel, biscay_vs_kernel, bpf_cost, downlink, soak};
use crate::paper::plan_item::PlanItem;
use crate::papers::biscay::{
    CrossingsItem, GranularityExperiment, Item, MethodsItem, PrivateItem, Replay, ViewsItem,
};
use crate::papers::pbe_cc::experiment::{CellItem, DeepItem, FlowsItem, RobustItem, Table1Item};
use crate::papers::{cqic, gandalf, legilimens, pbe_cc};
use crate::router::{self, simulated};

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
    &FlowsItem(pbe_cc::Item::Fig16),
    &FlowsItem(pbe_cc::Item::Fig18),
    &FlowsItem(pbe_cc::Item::Fig20),
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
    &PlanItem(legilimens::Item::Fig2),
    &PlanItem(legilimens::Item::Fig7),
    &PlanItem(legilimens::Item::Fig8),
    &PlanItem(legilimens::Item::Fig9),
    &PlanItem(legilimens::Item::Fig10),
    &PlanItem(legilimens::Item::Fig11),
    &PlanItem(legilimens::Item::Fig12),
    &PlanItem(legilimens::Item::Alone),
    &PlanItem(legilimens::Item::Fig13),
    &PlanItem(legilimens::Item::Fig14),
    &PlanItem(legilimens::Item::Fig15),
    &legilimens::seeing::experiment::SeeingExperiment,
    &PlanItem(gandalf::Item::Table1),
    &PlanItem(gandalf::Item::Gcc),
    &PlanItem(gandalf::Item::Gradient),
    &PlanItem(gandalf::Item::Accuracy),
    &PlanItem(gandalf::Item::Masking),
    &PlanItem(gandalf::Item::Parts),
    &PlanItem(gandalf::Item::Filter),
    &PlanItem(gandalf::Item::Modem),
    &gandalf::delays::DelaysItem,
    &gandalf::groups::GroupsItem,
    &gandalf::kernel::KernelItem,
    &gandalf::webrtc::CallItem,
    &gandalf::webrtc::DownlinkItem,
    &busyness::experiment::BusynessExperiment,
    &background_kernel::experiment::BackgroundKernelExperiment,
    &closed_loop::experiment::ClosedLoopExperiment,
    &closed_loop::advice::experiment::AdviceExperiment,
    &downlink::experiment::DownlinkExperiment,
    &bound::experiment::BoundExperiment,
    &field::experiment::FieldExperiment,
    &mahimahi::experiment::MahimahiExperiment,
    &emu_cells::experiment::EmuCellsExperiment,
    &nested::NestedExperiment,
    &page::PageExperiment,
    &agreement::experiment::AgreementExperiment,
    &bpf_cost::experiment::BpfCostExperiment,
    &GranularityExperiment,
    &head_to_head::experiment::HeadToHeadExperiment,
    &estimators::experiment::EstimatorsExperiment,
    &gandalf::overhead::OverheadExperiment,
    &simulated::experiment::SimulatedExperiment,
    &router::experiment::RouterExperiment,
    &validation::experiment::ValidationExperiment,
    &soak::SoakExperiment,
    &cell::experiment::CellExperiment,
];

/// Subject, required rights and duration of an experiment, in a line.
pub fn line(experiment: &dyn Registered) -> String {
    let Card { about, needs, lasts, .. } = experiment.card();
    let needs = match needs {
        Needs::Nothing => Some("no rights needed".to_owned()),
        Needs::Root => None,
        Needs::RootWith(flag) => Some(format!("no rights needed, root with {flag}")),
    };
    let parts = [Some(about.to_owned()), needs, lasts.map(str::to_owned)];
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
            assert_eq!(command.get_name(), experiment.card().name);
            for name in std::iter::once(experiment.card().name).chain(command.get_all_aliases()) {
                assert!(names.insert(name.to_owned()), "{name}");
            }
            command.debug_assert();
        }
    }

    #[test]
    fn a_line_has_what_is_known_of_rights_and_time() {
        let line_of = |name: &str| {
            let found = EXPERIMENTS.iter().find(|experiment| experiment.card().name == name);
            line(*found.expect("an experiment"))
        };
        assert!(line_of("bound").ends_with("; no rights needed; 1 min"));
        assert!(line_of("biscay/fig10").ends_with("root with --kernel"));
        assert!(line_of("biscay/table1").ends_with("; no rights needed"));
        assert!(line_of("soak").ends_with("leave behind; 1 h"));
    }
}
