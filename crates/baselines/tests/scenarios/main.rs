//! Each controller's reaction to the same events, as tables: a change of its behaviour is a
//! readable diff here.
//!
//! The path delivers a segment a millisecond, has 40 ms without a queue, and acknowledges every
//! second segment; time goes on in tenths of a millisecond. Nothing here depends on a simulator.

mod baselines;
mod path;

use std::time::Duration;

use path::{Change, Path, Scene, named, table};
use sounding_baselines::Oracle;
use sounding_cc::{Controller, Start};
use sounding_units::HostInstant;

const LOSSES: [Scene; 5] = [
    ("connects, room for 40", 800, Change::Room(40)),
    ("goes on", 2000, Change::Nothing),
    ("one packet lost", 400, Change::Loss),
    ("a timeout", 20, Change::Timeout),
    ("that was a mistake", 400, Change::Spurious),
];

#[test]
fn reno() {
    insta::assert_snapshot!(table(named("reno"), &LOSSES), @r"
      ms  cwnd  Mbit/s  queue  state
     200    40       -      1  avoidance             connects, room for 40
     400    43       -      4  avoidance
     600    48       -      9  avoidance
     800    52       -     13  avoidance
    1300    61       -     22  avoidance             goes on
    1800    68       -     29  avoidance
    2300    75       -     36  avoidance
    2800    42       -      3  avoidance
    2900    22       -      0  avoidance             one packet lost
    3000    24       -      2  avoidance
    3100    27       -      0  avoidance
    3200    29       -      1  avoidance
    3205     7       -      0  slow start            a timeout
    3210    11       -      0  slow start
    3215    14       -      0  avoidance
    3220    14       -      0  avoidance
    3320    31       -      2  avoidance             that was a mistake
    3420    33       -      0  avoidance
    3520    35       -      2  avoidance
    3620    38       -      3  avoidance
    ");
}

#[test]
fn cubic() {
    insta::assert_snapshot!(table(named("cubic"), &LOSSES), @r"
      ms  cwnd  Mbit/s  queue  state
     200    56       -     17  cut                   connects, room for 40
     400    58       -     19  concave
     600    61       -     22  concave
     800    64       -     25  concave
    1300    70       -     31  concave               goes on
    1800    74       -     35  concave
    2300    77       -     38  concave
    2800    78       -     39  concave
    2900    55       -     16  concave               one packet lost
    3000    56       -     17  concave
    3100    57       -     18  concave
    3200    58       -     19  concave
    3205     5       -     14  slow start            a timeout
    3210    11       -      9  slow start
    3215    15       -      4  slow start
    3220    21       -      0  slow start
    3320    59       -     19  reno-friendly         that was a mistake
    3420    60       -     20  reno-friendly
    3520    61       -     21  reno-friendly
    3620    61       -     21  reno-friendly
    ");
}

#[test]
fn bbr() {
    let scenes: [Scene; 7] = [
        ("connects", 800, Change::Nothing),
        ("the path slows to a half", 800, Change::Path(5)),
        ("and doubles twice", 2000, Change::Path(20)),
        ("and stays so", 1600, Change::Nothing),
        ("one packet lost", 80, Change::Loss),
        ("a timeout", 20, Change::Timeout),
        ("that was a mistake", 200, Change::Spurious),
    ];
    insta::assert_snapshot!(table(named("bbr"), &scenes), @r"
      ms  cwnd  Mbit/s  queue  state
     200   114   33.09     73  startup               connects
     400   122   33.09     83  startup
     600    90   14.34     11  probe up
     800    88   11.47      0  cruise
    1000    88    8.60     68  probe down            the path slows to a half
    1200    88   11.47     68  cruise
    1400    88   11.47     68  cruise
    1600    88   11.47     68  cruise
    2100   192   22.54      0  probe up              and doubles twice
    2600   170   28.67     12  probe up
    3100   168   17.20      8  probe down
    3600   168   22.94      0  cruise
    4000   168   22.94      0  cruise                and stays so
    4400   168   22.94      0  cruise
    4800   168   22.94      1  cruise
    5200   168   22.94      1  cruise
    5220    73   22.94      0  cruise                one packet lost
    5240   166   22.94      0  cruise
    5260   166   22.94      0  cruise
    5280   166   22.94      1  cruise
    5285    12   22.94      0  cruise                a timeout
    5290    20   22.94      0  cruise
    5295    30   22.94      0  cruise
    5300    38   22.94      0  cruise
    5350   168   28.67      3  probe up              that was a mistake
    5400   168   28.67     15  probe up
    5450   168   28.67     25  probe up
    5500   166   22.94      5  cruise
    ");
}

#[test]
fn biscay() {
    let scenes: [Scene; 6] = [
        ("connects, knows nothing", 400, Change::Nothing),
        ("gets 12 Mbit/s", 400, Change::Told(12)),
        ("gets 6", 400, Change::Told(6)),
        ("and the path falls", 800, Change::Path(5)),
        ("gets nothing more", 400, Change::Silence),
        ("a timeout", 80, Change::Timeout),
    ];
    insta::assert_snapshot!(table(named("biscay"), &scenes), @r"
      ms  cwnd  Mbit/s  queue  state
     100    34    9.96      0  no-estimate           connects, knows nothing
     200   114   33.09     73  no-estimate
     300   122   33.09     83  no-estimate
     400   122   33.09     83  no-estimate
     500    61   14.48     22  radio-limited         gets 12 Mbit/s
     600    61   14.48     22  radio-limited
     700    61   14.48     22  radio-limited
     800    61   14.48     22  radio-limited
     900    34    7.24      0  radio-limited         gets 6
    1000    34    7.24      0  radio-limited
    1100    34    7.24      0  radio-limited
    1200    34    7.24      1  radio-limited
    1400    34    7.24     13  radio-limited         and the path falls
    1600    34    7.24     13  radio-limited
    1800    34    7.24     13  radio-limited
    2000    34    7.24     13  radio-limited
    2100    48    5.73     13  no-estimate           gets nothing more
    2200    48    5.73     11  no-estimate
    2300    50    7.17     13  no-estimate
    2400    48    5.73      9  no-estimate
    2420    12    5.73      0  no-estimate           a timeout
    2440    22    5.73      0  no-estimate
    2460    48    5.73      0  no-estimate
    2480    48    5.73      1  no-estimate
    ");
}

#[test]
fn sounding() {
    let scenes: [Scene; 6] = [
        ("connects, gets 12 Mbit/s", 400, Change::Told(12)),
        ("the path doubles, unseen", 400, Change::Path(20)),
        ("12 is but a floor", 400, Change::Floor(12)),
        ("gets 24", 400, Change::Told(24)),
        ("24 is but a floor", 700, Change::Floor(24)),
        ("gets nothing more", 200, Change::Silence),
    ];
    insta::assert_snapshot!(table(named("sounding"), &scenes), @r"
      ms  cwnd  Mbit/s  queue  state
     100    55   19.91     16  radio-limited         connects, gets 12 Mbit/s
     200    55   19.91     16  radio-limited
     300    55   19.91     16  radio-limited
     400    53   19.33     14  radio-limited
     500    49   18.31      0  radio-limited         the path doubles, unseen
     600    47   17.44      0  radio-limited
     700    45   16.85      0  radio-limited
     800    44   16.41      2  radio-limited
     900    52   19.62      0  probing               12 is but a floor
    1000   132   49.02     46  probing
    1100   332  123.08    253  probing
    1200   264   98.01    185  hold
    1300   104   38.57     24  radio-limited         gets 24
    1400   106   39.29     27  radio-limited
    1500   106   39.33     27  radio-limited
    1600   106   39.33     27  radio-limited
    1775   206   76.36    127  hold                  24 is but a floor
    1950   191   70.94    112  hold
    2125   166   22.94     51  bottleneck-elsewhere
    2300   166   22.94     19  bottleneck-elsewhere
    2350   166   22.94      9  bottleneck-elsewhere  gets nothing more
    2400   166   22.94      1  no-estimate
    2450   166   22.94      0  no-estimate
    2500   166   22.94      1  no-estimate
    ");
}

#[test]
fn oracle() {
    // Knows that the path delivers a segment each millisecond for 400 ms, and then one in two.
    let capacity = |until: HostInstant| {
        let ms = until.as_nanos() / 1_000_000;
        Path::bytes(ms.min(400) + ms.saturating_sub(400) / 2)
    };
    let make = move |start: &Start| -> Box<dyn Controller> {
        Box::new(Oracle::new(start, Duration::from_millis(1), capacity))
    };
    let scenes: [Scene; 2] =
        [("connects", 400, Change::Nothing), ("the path slows to a half", 400, Change::Path(5))];
    insta::assert_snapshot!(table(make, &scenes), @r"
     ms  cwnd  Mbit/s  queue  state
    100    40       -      1  oracle                connects
    200    40       -      1  oracle
    300    40       -      1  oracle
    400    39       -      0  oracle
    500    21       -      0  oracle                the path slows to a half
    600    21       -      0  oracle
    700    21       -      0  oracle
    800    21       -      0  oracle
    ");
}
