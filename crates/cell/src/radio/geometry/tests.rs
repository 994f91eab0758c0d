use super::*;
use core::time::Duration;
use rand::SeedableRng as _;
use std::vec;

fn way(config: &TrajectoryConfig) -> Trajectory {
    Trajectory::new(config, ChaCha8Rng::seed_from_u64(7)).expect("a possible way")
}

fn after(secs: f64) -> HostInstant {
    HostInstant::default() + Duration::from_secs_f64(secs)
}

fn is_at(motion: Motion, x_m: f64, y_m: f64) -> bool {
    motion.position.distance_m(Position::new(x_m, y_m)) < 1e-6
}

#[test]
fn a_straight_way_north_only_gains_in_y() {
    let mut way = way(&TrajectoryConfig::Straight {
        from: Position::new(10.0, -5.0),
        heading_deg: 90.0,
        speed_mps: 2.0,
    });
    assert!(is_at(way.at(after(30.0)), 10.0, 55.0));
}

#[test]
fn waypoints_are_met_in_turn_and_the_last_is_kept() {
    let mut way = way(&TrajectoryConfig::Waypoints {
        points: vec![Position::default(), Position::new(10.0, 0.0), Position::new(10.0, 20.0)],
        speed_mps: 2.0,
        then: AtTheEnd::Stay,
    });
    assert!(is_at(way.at(after(5.0)), 10.0, 0.0));
    assert!(is_at(way.at(after(10.0)), 10.0, 10.0));
    assert_eq!(way.at(after(10.0)).speed_mps, 2.0);
    assert!(is_at(way.at(after(99.0)), 10.0, 20.0));
    assert_eq!(way.at(after(99.0)).speed_mps, 0.0);
}

#[test]
fn a_loop_comes_round_and_a_return_goes_back() {
    let points = vec![Position::default(), Position::new(30.0, 0.0), Position::new(30.0, 40.0)];
    let config =
        |then| TrajectoryConfig::Waypoints { points: points.clone(), speed_mps: 1.0, then };
    // 30 m, 40 m and, in a loop, 50 m back to the beginning.
    assert!(is_at(way(&config(AtTheEnd::Loop)).at(after(120.0 + 15.0)), 15.0, 0.0));
    assert!(is_at(way(&config(AtTheEnd::Return)).at(after(70.0 + 55.0)), 15.0, 0.0));
}

#[test]
fn a_random_walk_stays_in_its_box_at_its_speeds() {
    let mut way = way(&TrajectoryConfig::RandomWaypoint {
        corner: Position::new(-50.0, 100.0),
        opposite: Position::new(50.0, 0.0),
        slowest_mps: 0.5,
        fastest_mps: 1.5,
        pause_s: 3.0,
    });
    let mut rests = 0;
    let mut last = way.at(HostInstant::default());
    for tenth in 1..20_000 {
        let motion = way.at(after(f64::from(tenth) / 10.0));
        let Position { x_m, y_m } = motion.position;
        assert!((-50.0..=50.0).contains(&x_m) && (0.0..=100.0).contains(&y_m), "{motion:?}");
        assert!(last.position.distance_m(motion.position) <= 0.15 + 1e-9);
        rests += usize::from(motion.speed_mps == 0.0);
        assert!(motion.speed_mps == 0.0 || (0.5..=1.5).contains(&motion.speed_mps));
        last = motion;
    }
    assert!(rests > 0, "it never paused");
}

#[test]
fn ways_that_lead_nowhere_are_refused() {
    for (text, complaint) in [
        ("kind = 'waypoints'\npoints = []\nspeed_mps = 1.0", "two places"),
        ("kind = 'waypoints'\npoints = [{x_m = 1.0, y_m = 1.0}]\nspeed_mps = 1.0", "two places"),
        (
            "kind = 'straight'\nfrom = {x_m = nan, y_m = 0.0}\nheading_deg = 0\nspeed_mps = 1",
            "finite",
        ),
        (
            "kind = 'straight'\nfrom = {x_m = 0.0, y_m = 0.0}\nheading_deg = 0\nspeed_mps = -1",
            "negative",
        ),
    ] {
        let config: TrajectoryConfig = toml::from_str(text).expect(text);
        let error = Trajectory::new(&config, ChaCha8Rng::seed_from_u64(0)).expect_err(text);
        assert!(std::format!("{error}").contains(complaint), "{text}: {error}");
    }
}
