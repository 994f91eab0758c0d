//! The contents of plans, and the errors of wrong ones.

use std::fmt::Write as _;
use std::path::PathBuf;

use super::*;

const PLAN: &str = r#"
duration = "5s"

[[links]]
up = "12Mbit"
down = "0s 12Mbit, 3s 6Mbit"

[[flows]]
direction = "up"
"#;

const CELL: &str = r#"
duration = "1s"

[cell]
carriers = [{ prb = 25 }]

[[cell.devices]]
name = "phone"
modem = { drain = "2ms" }

[[cell.devices]]
name = "others"
count = 3
scatter = { radius_m = 200.0 }

[[flows]]
name = "upload"
direction = "up"
"#;

fn text(plan: &str) -> Text {
    Text::new("plan.toml", plan, PathBuf::new())
}

fn runs(plan: &str, sets: &[&str]) -> Result<Vec<Run>, PlanError> {
    let mut text = text(plan);
    sets.iter().try_for_each(|set| text.set(set))?;
    text.runs()
}

#[test]
fn the_least_plan_is_one_run_of_one_flow() {
    let runs = runs(PLAN, &[]).expect("a plan");
    assert_eq!(runs.len(), 1);
    let plan = &runs[0].plan;
    assert_eq!((runs[0].seed, plan.flows[0].controller.name()), (1, "cubic"));
    assert_eq!(plan.duration, Duration::from_secs(5));
    assert_eq!(Actors::new(plan).expect("devices").flows.len(), 1);
}

#[test]
fn a_device_is_what_its_scenario_says_and_what_the_plan_adds() {
    let plan = &runs(CELL, &["cell.devices.phone.power.most_dbm=20"]).expect("a plan")[0].plan;
    let phone = &plan.cell.as_ref().expect("a cell").devices[0];
    assert_eq!(phone.modem.expect("a modem").drain, Duration::from_millis(2));
    assert_eq!(phone.config.power.most_dbm, 20.0);
    let groups = Actors::new(plan).expect("devices").groups;
    assert_eq!(groups[1].devices, 1..4);
    assert!(network::<()>(plan, &PathBuf::new(), 1).is_ok());
}

#[test]
fn each_device_of_several_has_each_flow() {
    let plan = &runs(CELL, &["flows.0.device=others", "flows.0.count=2"]).expect("a plan")[0].plan;
    let actors = Actors::new(plan).expect("devices");
    let devices: Vec<_> = actors.flows.iter().map(|flow| flow.port.device.0).collect();
    assert_eq!(devices, [1, 1, 2, 2, 3, 3]);
    assert_eq!(actors.name_of(sounding_sim::Device(2)), "others-1");
}

#[test]
fn what_is_swept_is_run_in_every_combination_with_every_seed() {
    let sweep = "seeds = \"4..5\"\n".to_owned()
        + CELL
        + "[sweep]\n\"flows.upload.controller\" = [\"reno\", \"bbr\"]\n\
           \"cell.carriers.*.prb\" = [25, 50]\n\
           [sweep.\"cell.devices.0.sleep\"]\nlong = { cycle = \"640ms\" }\nshort = { cycle = \"80ms\" }";
    let runs = runs(&sweep, &[]).expect("a plan");
    assert_eq!(runs.len(), 16);
    let told = |run: &Run| {
        let values: Vec<_> = run.values.iter().map(|(_, value)| value.as_str()).collect();
        format!("{} seed {}", values.join(" "), run.seed)
    };
    let first: Vec<_> = runs.iter().take(6).map(told).collect();
    let expected = [
        "reno 25 long seed 4",
        "reno 25 long seed 5",
        "reno 25 short seed 4",
        "reno 25 short seed 5",
        "reno 50 long seed 4",
        "reno 50 long seed 5",
    ];
    assert_eq!(first, expected);
    let last = &runs[15].plan;
    let cell = last.cell.as_ref().expect("a cell");
    assert_eq!((cell.carriers[0].prb, last.flows[0].controller.name()), (50, "bbr"));
    assert_eq!(cell.devices[0].config.sleep.cycle, Duration::from_millis(80));
}

#[test]
fn what_is_set_wins_whether_it_is_toml_or_a_word() {
    let sets = ["duration=2s", "seeds=[3, 9]", "flows.*.controller = bbr", "wire.delay=\"7ms\""];
    let runs = runs(PLAN, &sets).expect("a plan");
    let seeds: Vec<_> = runs.iter().map(|run| run.seed).collect();
    assert_eq!(seeds, [3, 9]);
    let plan = &runs[0].plan;
    assert_eq!((plan.duration.as_secs(), plan.flows[0].controller.name()), (2, "bbr"));
    assert_eq!(plan.wire.as_ref().expect("a wire").delay, Duration::from_millis(7));
}

#[test]
fn a_key_is_set_in_a_plan_of_any_length() {
    let plan = format!("# {}\n{CELL}", "long ".repeat(20_000));
    let runs = runs(&plan, &["duration=7s"]).expect("a plan");
    assert_eq!(runs[0].plan.duration, Duration::from_secs(7));
}

#[test]
fn what_is_set_is_not_swept_and_wins_within_what_is() {
    let plan = PLAN.to_owned()
        + "[sweep]\n\"flows.0.controller\" = [\"reno\", \"bbr\"]\n\
           links = [[{ up = \"1Mbit\", down = \"1Mbit\" }], [{ up = \"2Mbit\", down = \"2Mbit\" }]]";
    let runs = runs(&plan, &["flows.0.controller=cubic", "links.0.delay=9ms"]).expect("a plan");
    assert_eq!(runs.len(), 2);
    assert!(runs.iter().all(|run| run.plan.flows[0].controller.name() == "cubic"));
    assert!(runs.iter().all(|run| run.plan.links[0].delay == Duration::from_millis(9)));
    assert_eq!(runs[1].plan.links[0].up, "2Mbit");
}

/// A plan with one thing in it changed.
fn with(plan: &str, from: &str, to: &str) -> String {
    assert!(plan.contains(from), "{from}");
    plan.replacen(from, to, 1)
}

#[test]
fn what_is_wrong_is_said_with_its_place_and_what_there_is_instead() {
    let flow = "direction = \"up\"\n";
    let plans = [
        ("not TOML", with(PLAN, "\"5s\"", "\"5s")),
        ("an unknown key", with(PLAN, "up = ", "upp = ")),
        ("a missing key", with(PLAN, flow, "")),
        (
            "no flows",
            with(&with(PLAN, "[[flows]]\ndirection = \"up\"\n", ""), "dur", "flows = []\ndur"),
        ),
        (
            "no network",
            with(PLAN, "[[links]]\nup = \"12Mbit\"\ndown = \"0s 12Mbit, 3s 6Mbit\"", ""),
        ),
        ("two networks", PLAN.to_owned() + "[cell]\ncarriers = [{}]\ndevices = [{}]"),
        ("a time without a unit", with(PLAN, "\"5s\"", "\"5\"")),
        ("no time at all", with(PLAN, "\"5s\"", "5")),
        ("no time to pass", with(PLAN, "\"5s\"", "\"0s\"")),
        ("a warm-up that is all there is", with(PLAN, "duration", "warmup = \"5s\"\nduration")),
        ("a size without a unit", PLAN.to_owned() + "buffer = \"4x\""),
        (
            "a rate that is none",
            PLAN.to_owned() + "traffic = { kind = \"datagrams\", rate = \"2\" }",
        ),
        ("a kind of traffic", PLAN.to_owned() + "traffic = { kind = \"torrent\" }"),
        ("a direction", with(PLAN, flow, "direction = \"sideways\"\n")),
        ("a controller", PLAN.to_owned() + "controller = \"quic\""),
        ("seeds that are none", with(PLAN, "duration", "seeds = \"9..3\"\nduration")),
        ("a negative seed", with(PLAN, "duration", "seeds = -1\nduration")),
        ("a device that is not there", PLAN.to_owned() + "device = \"phone\""),
        ("two devices of one name", with(CELL, "\"others\"", "\"phone\"")),
        ("a key within a device", with(CELL, "count = 3", "sleep = { cycles = \"1s\" }")),
        ("a modem's key", with(CELL, "drain", "drains")),
        ("a sweep of one value", PLAN.to_owned() + "[sweep]\n\"flows.0.controller\" = \"bbr\""),
        (
            "a value of a sweep",
            PLAN.to_owned() + "[sweep]\n\"flows.0.controller\" = [\"bbr\", \"brr\"]",
        ),
        (
            "a sweep of what is not there",
            PLAN.to_owned() + "[sweep]\n\"flows.3.controller\" = [\"bbr\"]",
        ),
        ("a sweep within a word", PLAN.to_owned() + "[sweep]\n\"duration.x\" = [1]"),
    ];
    let mut said = String::new();
    for (what, plan) in &plans {
        let error = runs(plan, &[]).expect_err(what);
        writeln!(said, "{what}\n    {error}").expect("room");
    }
    for set in ["duration", "=5s", "flows.7.controller=bbr", "flows.0.controller=brr", "duration=5"]
    {
        let error = runs(PLAN, &[set]).expect_err(set);
        writeln!(said, "{set}\n    {error}").expect("room");
    }
    insta::assert_snapshot!("errors", said);
}

#[test]
fn an_unknown_key_of_a_device_is_answered_with_those_of_both_its_parts() {
    let error = runs(&with(CELL, "count = 3", "colour = 3"), &[]).expect_err("no such key");
    let said = error.to_string();
    assert!(
        said.starts_with("plan.toml:13:1: cell.devices.1.colour: unknown field `colour`"),
        "{said}"
    );
    assert!(said.contains("`scatter`") && said.contains("`trajectory`"), "{said}");
}

#[test]
fn a_name_that_would_lead_a_file_elsewhere_is_refused_in_its_line() {
    let long = "x".repeat(101);
    let names = ["", ".", "..", "/any/where", "../..", "a/b", "a\\u0000b", "a\\nb", &long];
    for name in names {
        let named = |was: &str, plan: &str| with(plan, was, &format!("\"{name}\""));
        let link = format!("links.0.name=\"{name}\"");
        for (error, line, key) in [
            (runs(&named("\"others\"", CELL), &[]), "plan.toml:12:", "cell.devices.1.name"),
            (runs(&named("\"upload\"", CELL), &[]), "plan.toml:17:", "flows.0.name"),
            (runs(PLAN, &[&link]), "", "links.0.name"),
        ] {
            let error = error.expect_err(name).to_string();
            let is_there = error.starts_with(line) && error.contains(key);
            assert!(is_there && error.contains("a file's name"), "{name:?}: {error}");
        }
    }
    for name in ["a phone", "...", "T\u{e9}l\u{e9}phone", &long[..100]] {
        runs(&with(CELL, "\"others\"", &format!("\"{name}\"")), &[]).expect(name);
    }
}

#[test]
fn what_only_the_network_can_refuse_is_said_with_its_place_too() {
    let sets = [
        (CELL, "cell.carriers.0.prb=500"),
        (CELL, "cell.devices.0.cells=[[1]]"),
        (CELL, "cell.devices.0.adapt_uplink.target_error_rate=2"),
        (CELL, "cell.devices.1.scatter.radius_m=-1"),
        (CELL, "cell.devices.0.channel={ kind = \"script\", levels = [] }"),
        (PLAN, "links.0.up=nowhere.up"),
        (PLAN, "wire.down=fast"),
    ];
    let mut said = String::new();
    for (plan, set) in sets {
        let mut text = text(plan);
        text.set(set).expect(set);
        let run = &text.runs().expect(set)[0];
        let wrong = network::<()>(&run.plan, &run.folder, 1).expect_err(set);
        writeln!(said, "{set}\n    {}", text.locate(run, wrong)).expect("room");
    }
    insta::assert_snapshot!("refusals", said);
}

#[test]
fn a_plan_that_is_cut_or_changed_anywhere_is_a_plan_or_an_error_with_a_place_in_it() {
    let whole = CELL.to_owned()
        + "[wire]\ndelay = \"9ms\"\n[sweep]\n\"flows.*.controller\" = [\"bbr\"]\nduration = { short = \"1s\" }\n";
    let judge = |plan: &str| {
        for set in [None, Some("flows.0.controller=reno"), Some("cell.devices=1")] {
            let sets: Vec<&str> = set.into_iter().collect();
            if let Err(error) = runs(plan, &sets)
                && let Some(span) = &error.span
            {
                assert!(span.start <= span.end && span.end <= error.text.len() + 1, "{error:?}");
            }
        }
    };
    for at in (0..whole.len()).filter(|&at| whole.is_char_boundary(at)) {
        judge(&whole[..at]);
        for other in ["\"", "[", "=", ".", "9", "-", "\u{e4}", "\n"] {
            judge(&format!("{}{other}{}", &whole[..at], &whole[at + 1..]));
        }
    }
}

#[test]
fn a_place_is_counted_in_lines_and_characters() {
    let plan = "about = \"\u{e4}\u{f6}\"\nduration = \"5s\"\n  x = 1\n";
    let error = runs(plan, &[]).expect_err("x is no key");
    assert_eq!(error.position(), Some((3, 3)));
    assert_eq!(error.key, "x");
}

#[test]
fn a_byte_order_mark_before_a_plan_or_the_file_of_a_link_changes_nothing() {
    let marked = runs(&format!("\u{feff}{PLAN}"), &[]).expect("a plan");
    let plain = runs(PLAN, &[]).expect("a plan");
    assert_eq!(format!("{marked:?}"), format!("{plain:?}"));
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in [
        ("pairs", "0 0\n30 1\n60 2\n"),
        ("trace", "0\n3\n"),
        (
            "g-nettrack",
            "Timestamp,Longitude,Latitude,DL_bitrate,UL_bitrate\nx,1,2,72,20\nx,1,2,0,5\n",
        ),
    ] {
        let [plain, marked] = ["", "\u{feff}"].map(|mark| {
            std::fs::write(folder.path().join(name), format!("{mark}{text}")).expect("room");
            let plan = PLAN.replace("12Mbit\"\ndown", &format!("{name}\"\ndown"));
            let run = Text::new("plan.toml", plan, folder.path().into())
                .runs()
                .expect("a plan")
                .remove(0);
            let port = Actors::new(&run.plan).expect("devices").flows[0].port;
            format!("{:?}", given(&run, port).expect("a file"))
        });
        assert_eq!(marked, plain, "{name}");
    }
}

#[test]
fn a_pattern_in_a_sweep_stands_for_the_files_that_it_matches() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["b.down", "a.down", "c.up"] {
        std::fs::write(folder.path().join(name), "1\n").expect("room");
    }
    let sweep = |pattern: &str| {
        let plan = format!("{PLAN}\n[sweep]\n\"links.0.down\" = [\"9Mbit\", \"{pattern}\"]\n");
        Text::new("plan.toml", plan, folder.path().into()).runs()
    };
    let runs = sweep("*.down").expect("files");
    let values: Vec<&str> = runs.iter().map(|run| run.values[0].1.as_str()).collect();
    assert_eq!(values, ["9Mbit", "a.down", "b.down"]);
    assert_eq!(runs[1].plan.links[0].down, "a.down");
    let error = sweep("*.none").expect_err("nothing is called so");
    assert!(error.to_string().contains("matches no file"), "{error}");
    // Where the pattern stands.
    assert_eq!(error.position(), Some((12, 28)));
}

#[test]
fn where_a_link_begins_follows_from_the_seed_and_is_the_same_for_all_controllers() {
    let folder = tempfile::tempdir().expect("a folder");
    // Each second has a packet more than the one before.
    let lines = (0..60).flat_map(|second| (0..=second).map(move |at| 1_000 * second + 10 * at + 1));
    let text: String = lines.map(|millis| format!("{millis}\n")).collect();
    std::fs::write(folder.path().join("rising"), text).expect("room");
    std::fs::write(folder.path().join("rates"), "0 0\n30 1\n60 2\n").expect("room");
    let capacity = |file: &str, seed: u64, controller: &str| {
        let plan = PLAN.replace("12Mbit\"\ndown", &format!("{file}\"\nfrom = \"lot\"\ndown"));
        let mut text = Text::new("plan.toml", plan, folder.path().into());
        text.set(&format!("seeds={seed}")).expect("a key");
        text.set(&format!("flows.0.controller={controller}")).expect("a key");
        let run = text.runs().expect("a plan").remove(0);
        let port = Actors::new(&run.plan).expect("devices").flows[0].port;
        let given = given(&run, port).expect("a file");
        offered(&given, (Duration::ZERO, run.plan.duration)).expect("a link")
    };
    for file in ["rising", "rates"] {
        let seeds: Vec<_> = (1..=8).map(|seed| capacity(file, seed, "bbr")).collect();
        assert!(seeds.iter().any(|other| *other != seeds[0]), "{file}: {seeds:?}");
        assert_eq!(capacity(file, 3, "cubic"), seeds[2]);
    }
}

#[test]
fn the_oracle_has_a_given_link_for_itself() {
    let oracle = |plan: &str| runs(plan, &["flows.0.controller=oracle"]);
    oracle(PLAN).expect("a link for itself");
    let error = oracle(CELL).expect_err("a cell").to_string();
    assert!(error.contains("flows.0.controller: the oracle needs links that are given"), "{error}");
    let error =
        oracle(&format!("{PLAN}\n[wire]\ndelay = \"5ms\"\n")).expect_err("a wire").to_string();
    assert!(error.contains("without a wire"), "{error}");
    let error = oracle(&format!("{PLAN}delay = \"5ms\"\n")).expect_err("a far end").to_string();
    assert!(error.contains("its flow has no `delay`"), "{error}");
    let error = oracle(&format!("{PLAN}count = 2\n")).expect_err("two flows").to_string();
    assert!(error.contains("needs a link for itself"), "{error}");
}

#[test]
fn a_controller_is_a_word_or_a_table_with_parameters() {
    let of = |written: &str| {
        let runs = runs(&format!("{PLAN}controller = {written}\n"), &[]).expect(written);
        runs[0].plan.flows[0].controller.to_string()
    };
    assert_eq!(of("\"copa\""), "copa");
    assert_eq!(of("{ name = \"copa\" }"), "copa");
    assert_eq!(
        of("{ name = \"copa\", mode = \"default\", delta = 0.10 }"),
        "copa(delta=0.1,mode=default)"
    );
    assert_eq!(of("\"copa:mode=default:delta=0.1\""), "copa(delta=0.1,mode=default)");
    assert_eq!(of("{ name = \"vegas\", alpha = 3 }"), "vegas(alpha=3)");
    assert_eq!(of("{ name = \"ledbat\", target = \"0.06s\" }"), "ledbat(target=60ms)");
    let runs = runs(PLAN, &["flows.0.controller=copa:delta=0.2"]).expect("a plan");
    assert_eq!(runs[0].plan.flows[0].controller.to_string(), "copa(delta=0.2)");
}

#[test]
fn controllers_with_parameters_are_swept_and_called_as_in_tables() {
    let sweep = PLAN.to_owned()
        + "[sweep]\n\"flows.0.controller\" = [\"cubic\", \"copa:delta=0.10\", { name = \"copa\", delta = 1 }]\n";
    let values: Vec<_> = runs(&sweep, &[])
        .expect("a plan")
        .iter()
        .map(|run| (run.values[0].1.clone(), run.plan.flows[0].controller.to_string()))
        .collect();
    let expected = ["cubic", "copa(delta=0.1)", "copa(delta=1)"];
    assert_eq!(values, expected.map(|name| (name.to_owned(), name.to_owned())));
    let sweep = PLAN.to_owned()
        + "controller = { name = \"copa\" }\n[sweep]\n\"flows.0.controller.delta\" = [0.1, 0.5]\n";
    let runs = runs(&sweep, &[]).expect("a plan");
    assert_eq!(runs[1].plan.flows[0].controller.to_string(), "copa(delta=0.5)");
    assert_eq!(runs[1].values, [("flows.0.controller.delta".to_owned(), "0.5".to_owned())]);
}

#[test]
fn a_parameter_that_cannot_be_is_refused_with_its_place_and_what_can() {
    let plans = [
        (
            "{ name = \"copa\", dleta = 0.1 }",
            "flows.0.controller.dleta: copa: unknown parameter `dleta`, there are `delta`, `mode`",
        ),
        (
            "{ name = \"copa\", delta = 20 }",
            "flows.0.controller.delta: copa: `delta` is 0.001 to 10, not \"20\"",
        ),
        ("\"copa:delta=20\"", "copa: `delta` is 0.001 to 10, not \"20\""),
        ("{ name = \"copa\", delta = true }", "expected a number, a time as \"60ms\", or a word"),
        ("{ name = \"copa\", delta = [0.1] }", "expected a number, a time as \"60ms\", or a word"),
        ("{ delta = 0.1 }", "missing field `name`"),
        ("7", "expected a controller's name"),
        ("\"copa:delta\"", "\"copa:delta\" has no value for `delta`, as copa:delta=0.1 has"),
        ("{ name = \"reno\", beta = 0.5 }", "reno takes no parameters, and `beta` is one"),
        ("{ name = \"vegas\", alpha = 5 }", "vegas: `alpha` is at most `beta`"),
        ("{ name = \"oracle\", delta = 0.1 }", "oracle takes no parameters, and `delta` is one"),
        ("{ name = \"kopa\", delta = 0.1 }", "unknown controller `kopa`, there are `reno`"),
        ("{ name = \"biscay\", allowance = 15 }", "biscay: `allowance` is 0s to 1s, not \"15\""),
    ];
    for (written, expected) in plans {
        let error = runs(&format!("{PLAN}controller = {written}\n"), &[]).expect_err(written);
        let said = error.to_string();
        assert!(said.starts_with("plan.toml:10:"), "{said}");
        assert!(said.contains(expected), "{said}");
    }
}
