use super::*;
use crate::paper::plan_item::rows;

/// One seed of the rows whose names contain this.
fn short(item: Item, only: &str, sets: &[&str]) -> Vec<Row> {
    let sets = sets.iter().map(|set| (*set).to_owned()).collect();
    let seeds = Some("seeds=1".to_owned());
    let settings = Settings { sets, seeds, only: vec![only.into()], jobs: 2 };
    rows(item, &settings, |_, _| {}).unwrap()
}

fn of(row: &Row, head: &str) -> f64 {
    row.figures[head]
}

#[test]
fn on_a_wire_background_has_the_link_when_it_is_alone() {
    let rows = short(Item::Fig2, "wire", &["duration=\"90s\""]);
    let row = rows.iter().find(|row| row.name == "wire, background").unwrap();
    assert!(of(row, "of the link %") > 90.0, "{rows:?}");
}

#[test]
fn in_a_cell_background_yields_within_a_second() {
    let rows = short(Item::Fig7, "background", &["duration=\"90s\""]);
    assert!(of(&rows[0], "yields ms") < 2_000.0, "{rows:?}");
    assert!(of(&rows[0], "background beside") < 0.3 * of(&rows[0], "background alone"), "{rows:?}");
}

#[test]
fn transfers_of_a_hundred_devices_complete_and_background_uses_what_they_leave() {
    let sets = [
        "duration=\"20s\"",
        "flows.0.stop=\"15s\"",
        "flows.1.stop=\"15s\"",
        "flows.2.stop=\"15s\"",
    ];
    let rows = short(Item::Fig12, "30 %", &sets);
    let row = |name: &str| rows.iter().find(|row| row.name == format!("30 %, {name}")).unwrap();
    assert!(of(row("background"), "background Mbit/s") > 1.0, "{rows:?}");
    assert_eq!(of(row("none"), "background Mbit/s"), 0.0);
    assert!(of(row("cubic"), "PRB %") > of(row("none"), "PRB %"), "{rows:?}");
}

#[test]
fn alone_background_has_nine_tenths_of_a_cell() {
    let rows = short(Item::Alone, "without fading", &["duration=\"20s\""]);
    let row = rows.iter().find(|row| row.name.ends_with(", background")).unwrap();
    assert!(of(row, "of the link %") > 90.0, "{rows:?}");
}

#[test]
fn the_rhythm_of_grants_is_no_rival_to_an_upload_and_a_rival_is() {
    let rows = short(Item::Alone, "uploads in 20 MHz", &["duration=\"35s\""]);
    let row = |name: &str| rows.iter().find(|row| row.name.ends_with(name)).unwrap();
    // It begins late with this seed, and with the modem's word it does not.
    assert!(of(row(", background"), "of the link %") > 50.0, "{rows:?}");
    assert!(of(row(", background by its modem"), "of the link %") > 85.0, "{rows:?}");
    assert!(of(row(", legilimens-published"), "of the link %") < 5.0, "{rows:?}");
    let rows = short(Item::Fig7, "uploads, background", &["duration=\"90s\""]);
    assert_eq!(rows.len(), 2, "{rows:?}");
    for row in &rows {
        assert!(of(row, "yields ms") < 2_000.0, "{rows:?}");
        assert!(of(row, "background beside") < 0.3 * of(row, "background alone"), "{rows:?}");
    }
}

#[test]
fn in_busy_hours_background_uses_fewer_resource_blocks_than_cubic() {
    let rows = short(Item::Fig10, "base 25", &["duration=\"30s\""]);
    let row = |name: &str| rows.iter().find(|row| row.name == name).unwrap();
    assert!(of(row("mean, background"), "of cubic %") < 100.0, "{rows:?}");
    assert!(of(row("mean, background"), "background Mbit/s") > 0.5, "{rows:?}");
    assert_eq!(of(row("mean, cubic"), "of cubic %"), 100.0);
}

#[test]
fn every_plan_of_an_item_can_be_run_and_the_paper_has_something_of_each() {
    let all = [
        Item::Fig2,
        Item::Fig7,
        Item::Fig8,
        Item::Fig9,
        Item::Fig10,
        Item::Fig11,
        Item::Fig12,
        Item::Alone,
        Item::Fig13,
        Item::Fig14,
        Item::Fig15,
    ];
    for item in all {
        assert!(!item.files().expected().unwrap().section.is_empty(), "{item:?}");
        for variant in variant::of(item) {
            assert!(!variant.runs(&[]).unwrap().is_empty(), "{item:?}");
        }
    }
}

#[test]
fn a_week_of_nights_has_each_night_under_both_laws() {
    let mut text = paper_item!("legilimens", "nights").text();
    assert_eq!(text.runs().unwrap().len(), 14);
    for set in [
        "seeds=1",
        "duration=40s",
        "flows.backup.start=1s",
        "flows.backup.stagger=500ms",
        "flows.backup.traffic.size=200kB",
        "flows.backup.controller=background",
    ] {
        text.set(set).unwrap();
    }
    let shown = rig::run(&text.runs().unwrap()[0], false).unwrap();
    // A call has 5 MB in that time.
    let whole = |flow: &&rig::Seen| (200_000..300_000).contains(&flow.arrived.iter().sum::<u64>());
    assert_eq!(shown.flows.iter().filter(whole).count(), 10);
}
