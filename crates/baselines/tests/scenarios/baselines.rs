//! The controllers that others are compared with.

use super::path::{Change, Scene, named, table};

/// For the controllers that others are compared with: a path that halves and comes back, a loss and
/// a timeout.
const CHANGES: [Scene; 5] = [
    ("connects, room for 200", 2000, Change::Room(200)),
    ("the path slows to a half", 2000, Change::Path(5)),
    ("and is back", 2000, Change::Path(10)),
    ("one packet lost", 200, Change::Loss),
    ("a timeout", 200, Change::Timeout),
];

#[test]
fn reno_hystart() {
    insta::assert_snapshot!(table(named("reno-hystart"), &CHANGES), @r"
      ms  cwnd  Mbit/s  queue  state
     500   235       -    196  slow start            connects, room for 200
    1000   122       -     83  avoidance
    1500   126       -     87  avoidance
    2000   129       -     90  avoidance
    2500   132       -    111  avoidance             the path slows to a half
    3000   133       -    112  avoidance
    3500   135       -    114  avoidance
    4000   137       -    116  avoidance
    4500   141       -    102  avoidance             and is back
    5000   144       -    105  avoidance
    5500   148       -    109  avoidance
    6000   151       -    112  avoidance
    6050    75       -     61  avoidance             one packet lost
    6100    75       -     36  avoidance
    6150    75       -     36  avoidance
    6200    75       -     36  avoidance
    6250    38       -      2  avoidance             a timeout
    6300    39       -      3  avoidance
    6350    40       -      2  avoidance
    6400    41       -      3  avoidance
    ");
}

#[test]
fn vegas() {
    insta::assert_snapshot!(table(named("vegas"), &CHANGES), @r"
      ms  cwnd  Mbit/s  queue  state
     500    77       -     37  avoidance             connects, room for 200
    1000    70       -     30  avoidance
    1500    63       -     23  avoidance
    2000    54       -     14  avoidance
    2500    49       -     29  avoidance             the path slows to a half
    3000    43       -     23  avoidance
    3500    37       -     17  avoidance
    4000    30       -     10  avoidance
    4500    40       -      2  avoidance             and is back
    5000    43       -      3  avoidance
    5500    43       -      3  avoidance
    6000    43       -      3  avoidance
    6050    21       -      0  avoidance             one packet lost
    6100    22       -      0  avoidance
    6150    23       -      1  avoidance
    6200    25       -      3  avoidance
    6250    13       -      0  avoidance             a timeout
    6300    14       -      0  avoidance
    6350    15       -      0  avoidance
    6400    16       -      2  avoidance
    ");
}

#[test]
fn copa() {
    insta::assert_snapshot!(table(named("copa"), &CHANGES), @r"
      ms  cwnd  Mbit/s  queue  state
     500    29   14.69      1  default               connects, room for 200
    1000    38   21.50      1  default
    1500    42   22.50      2  default
    2000    42   22.31      2  default
    2500    15    9.07      2  default               the path slows to a half
    3000    22   11.02      2  default
    3500    20   12.00      2  default
    4000    24   13.96      3  default
    4500    39   22.83      1  default               and is back
    5000    42   24.33      2  default
    5500    41   23.08      1  default
    6000    43   24.35      3  default
    6050    41   22.67      1  default               one packet lost
    6100    41   23.98      2  default
    6150    43   25.34      4  default
    6200    43   24.08      4  default
    6250    18   10.42      0  default               a timeout
    6300    20   12.24      0  default
    6350    22   12.85      1  default
    6400    26   15.15      2  default
    ");
}

#[test]
fn ledbat() {
    insta::assert_snapshot!(table(named("ledbat"), &CHANGES), @r"
      ms  cwnd  Mbit/s  queue  state
     500    11       -      0  steering              connects, room for 200
    1000    22       -      3  steering
    1500    33       -      2  steering
    2000    45       -      6  steering
    2500    48       -     27  steering              the path slows to a half
    3000    50       -     29  steering
    3500    52       -     31  steering
    4000    54       -     33  steering
    4500    60       -     21  steering              and is back
    5000    66       -     27  steering
    5500    71       -     32  steering
    6000    76       -     37  steering
    6050    38       -      2  steering              one packet lost
    6100    38       -      2  steering
    6150    39       -      1  steering
    6200    41       -      3  steering
    6250     9       -      0  steering              a timeout
    6300    10       -      0  steering
    6350    11       -      0  steering
    6400    12       -      3  steering
    ");
}

#[test]
fn ledbat_plus_plus() {
    insta::assert_snapshot!(table(named("ledbat++"), &CHANGES), @r"
      ms  cwnd  Mbit/s  queue  state
     500    42       -      6  slow start            connects, room for 200
    1000     2       -      0  slowed
    1500    22       -      5  coming back
    2000    97       -     57  steering
    2500    30       -     10  steering              the path slows to a half
    3000    33       -     13  steering
    3500    35       -     15  steering
    4000    38       -     18  steering
    4500    41       -      1  steering              and is back
    5000    45       -      5  steering
    5500    49       -      9  steering
    6000    52       -     12  steering
    6050    26       -      1  steering              one packet lost
    6100    26       -      0  steering
    6150    26       -      1  steering
    6200    27       -      2  steering
    6250    10       -      0  coming back           a timeout
    6300    13       -      0  coming back
    6350    14       -      0  steering
    6400    14       -      1  steering
    ");
}

#[test]
fn legilimens() {
    insta::assert_snapshot!(table(named("legilimens"), &CHANGES), @r"
      ms  cwnd  Mbit/s  queue  state
     500    69       -      0  gap II                connects, room for 200
    1000    44       -      5  normal
    1500    54       -     15  normal
    2000    62       -     23  normal
    2500    67       -     46  normal                the path slows to a half
    3000    70       -     49  normal
    3500    74       -     53  normal
    4000    77       -     56  normal
    4500    83       -     44  normal                and is back
    5000    89       -     50  normal
    5500    94       -     55  normal
    6000    99       -     60  normal
    6050    49       -     10  normal                one packet lost
    6100    49       -     10  normal
    6150    50       -     11  normal
    6200    51       -     12  normal
    6250    34       -      0  gap I                 a timeout
    6300    34       -      0  gap I
    6350    34       -      0  gap I
    6400    34       -      0  gap I
    ");
}

#[test]
fn legilimens_published() {
    insta::assert_snapshot!(table(named("legilimens-published"), &CHANGES), @r"
      ms  cwnd  Mbit/s  queue  state
     500    69       -      0  gap II                connects, room for 200
    1000    44       -      5  normal
    1500    54       -     15  normal
    2000    62       -     23  normal
    2500    67       -     46  normal                the path slows to a half
    3000    70       -     49  normal
    3500    74       -     53  normal
    4000    77       -     56  normal
    4500    83       -     44  normal                and is back
    5000    89       -     50  normal
    5500    94       -     55  normal
    6000    99       -     60  normal
    6050    49       -     10  normal                one packet lost
    6100    49       -     10  normal
    6150    50       -     11  normal
    6200    51       -     12  normal
    6250    34       -      0  gap I                 a timeout
    6300    34       -      0  gap I
    6350    34       -      0  gap I
    6400    34       -      0  gap I
    ");
}

#[test]
fn background() {
    insta::assert_snapshot!(table(named("background"), &CHANGES), @r"
      ms  cwnd  Mbit/s  queue  state
     500   120       -     22  waiting               connects, room for 200
    1000    80       -      0  waiting
    1500    80       -     41  probing
    2000    80       -     40  probing
    2500    50       -     30  probing               the path slows to a half
    3000    50       -      0  waiting
    3500    50       -      0  waiting
    4000    50       -     29  probing
    4500    63       -      0  waiting               and is back
    5000    63       -      0  waiting
    5500    63       -     49  probing
    6000    80       -      0  waiting
    6050    80       -      0  waiting               one packet lost
    6100    80       -     41  probing
    6150    80       -     41  probing
    6200    80       -     41  probing
    6250     1       -      0  waiting               a timeout
    6300     3       -      0  waiting
    6350     3       -      0  waiting
    6400     3       -      0  waiting
    ");
}

#[test]
fn lp() {
    insta::assert_snapshot!(table(named("lp"), &CHANGES), @r"
      ms  cwnd  Mbit/s  queue  state
     500   120       -     81  avoidance             connects, room for 200
    1000    64       -     25  avoidance
    1500    71       -     32  avoidance
    2000    42       -      2  avoidance
    2500    26       -      6  avoidance             the path slows to a half
    3000    34       -     14  avoidance
    3500    22       -      2  avoidance
    4000    31       -     11  avoidance
    4500    43       -      4  avoidance             and is back
    5000    53       -     14  avoidance
    5500    62       -     23  avoidance
    6000    69       -     30  avoidance
    6050    34       -      2  avoidance             one packet lost
    6100    34       -      1  avoidance
    6150    35       -      2  avoidance
    6200    37       -      3  avoidance
    6250    19       -      0  avoidance             a timeout
    6300    19       -      0  avoidance
    6350    21       -      3  avoidance
    6400    22       -      2  avoidance
    ");
}

#[test]
fn bbr3() {
    insta::assert_snapshot!(table(named("bbr3"), &CHANGES), @r"
      ms  cwnd  Mbit/s  queue  state
     500    82    5.73      9  drain                 connects, room for 200
    1000    82   11.47      0  cruise
    1500    82   11.47      0  cruise
    2000    82   11.47      0  cruise
    2500    82   11.47     62  refill                the path slows to a half
    3000    94   14.34     74  probe up
    3500    78    9.83     58  probe down
    4000    78    9.83     58  probe down
    4500    90   10.92      0  cruise                and is back
    5000    78   10.92      1  cruise
    5500    74   10.43      0  cruise
    6000    73   10.43      0  cruise
    6050    73   10.43      0  cruise                one packet lost
    6100    73   10.43      1  cruise
    6150    73   10.43      1  cruise
    6200    73   10.43      0  cruise
    6250    73   10.43      1  refill                a timeout
    6300    84   13.03      5  probe up
    6350    93   14.34     11  probe up
    6400    93   14.34     21  probe up
    ");
}

#[test]
fn allegro() {
    insta::assert_snapshot!(table(named("allegro"), &CHANGES), @r"
      ms  cwnd  Mbit/s  queue  state
     500    16    2.32      0  starting              connects, room for 200
    1000   638   37.07    199  starting
    1500   770   18.72    199  deciding
    2000   755   18.35    199  deciding
    2500  1410   18.72    199  deciding              the path slows to a half
    3000  1388   18.35    199  deciding
    3500  1389   18.35    199  deciding
    4000  1402   18.53    199  deciding
    4500   747   18.16    199  deciding              and is back
    5000   778   18.91    198  deciding
    5500   778   18.91    199  deciding
    6000   747   18.16    199  deciding
    6050   746   18.16    199  deciding              one packet lost
    6100   744   18.16    199  deciding
    6150   744   18.16    199  deciding
    6200   744   18.16    200  deciding
    6250    20    0.49    150  starting              a timeout
    6300    20    0.49    100  starting
    6350    20    0.49     50  starting
    6400    20    0.49      0  starting
    ");
}

#[test]
fn vivace() {
    insta::assert_snapshot!(table(named("vivace"), &CHANGES), @r"
      ms  cwnd  Mbit/s  queue  state
     500    33    4.63      0  starting              connects, room for 200
    1000    73    8.80      0  climbing
    1500    72   10.61      1  climbing
    2000   136   12.81     24  descending
    2500   533   10.89    199  descending            the path slows to a half
    3000   823   10.89    199  descending
    3500   744    9.85    198  descending
    4000   743    9.85    199  descending
    4500   183    8.16     37  descending            and is back
    5000    59    8.57      1  climbing
    5500   105   15.16      7  climbing
    6000   285   14.40     95  descending
    6050   269   13.03    100  descending            one packet lost
    6100   284   13.03    106  descending
    6150   332   14.40    114  descending
    6200   346   14.40    122  descending
    6250    20    0.83     72  starting              a timeout
    6300    21    0.83     22  starting
    6350    22    0.83      0  starting
    6400    18    0.83      0  starting
    ");
}

#[test]
fn proteus_s() {
    insta::assert_snapshot!(table(named("proteus-s"), &CHANGES), @r"
      ms  cwnd  Mbit/s  queue  state
     500    33    4.63      0  starting              connects, room for 200
    1000    73    8.80      0  climbing
    1500    76   11.16      1  climbing
    2000   123   12.73     16  descending
    2500   499   10.82    199  descending            the path slows to a half
    3000   818   10.82    199  descending
    3500   817   10.82    199  descending
    4000   740    9.79    199  descending
    4500   333   10.31    122  descending            and is back
    5000    59    8.52      1  climbing
    5500    75   10.92      1  climbing
    6000   239   14.33     72  descending
    6050   250   14.33     79  descending            one packet lost
    6100   263   14.33     89  descending
    6150   281   14.33     97  descending
    6200   271   12.97    103  descending
    6250    21    0.95     53  starting              a timeout
    6300    22    0.95      3  starting
    6350    23    0.95      0  starting
    6400    16    0.95      0  starting
    ");
}

#[test]
fn sprout() {
    insta::assert_snapshot!(table(named("sprout"), &CHANGES), @r"
      ms  cwnd  Mbit/s  queue  state
     500    92       -     52  forecasting           connects, room for 200
    1000    92       -     52  forecasting
    1500    92       -     52  forecasting
    2000    92       -     52  forecasting
    2500    42       -     22  forecasting           the path slows to a half
    3000    41       -     21  forecasting
    3500    41       -     21  forecasting
    4000    41       -     21  forecasting
    4500    91       -     51  forecasting           and is back
    5000    92       -     52  forecasting
    5500    92       -     52  forecasting
    6000    92       -     52  forecasting
    6050    90       -     50  forecasting           one packet lost
    6100    92       -     52  forecasting
    6150    90       -     50  forecasting
    6200    92       -     52  forecasting
    6250    91       -     51  forecasting           a timeout
    6300    94       -     54  forecasting
    6350    91       -     51  forecasting
    6400    93       -     53  forecasting
    ");
}

#[test]
fn verus() {
    insta::assert_snapshot!(table(named("verus"), &CHANGES), @r"
      ms  cwnd  Mbit/s  queue  state
     500   169       -    130  recovering            connects, room for 200
    1000   194       -    155  steering
    1500   227       -    188  steering
    2000   169       -    130  recovering
    2500    66       -     47  steering              the path slows to a half
    3000    51       -     31  steering
    3500    33       -     13  steering
    4000    25       -      5  steering
    4500    90       -     50  steering              and is back
    5000    98       -     58  steering
    5500    98       -     58  steering
    6000   120       -     80  steering
    6050    83       -     43  recovering            one packet lost
    6100    84       -     44  recovering
    6150    98       -     58  steering
    6200    88       -     48  steering
    6250    52       -     12  slow start            a timeout
    6300   102       -     62  slow start
    6350   152       -    112  slow start
    6400   202       -    162  slow start
    ");
}

#[test]
fn scream() {
    insta::assert_snapshot!(table(named("scream"), &CHANGES), @r"
      ms  cwnd  Mbit/s  queue  state
     500    35    2.80      0  increasing            connects, room for 200
    1000    74    5.81      2  increasing
    1500   121    9.53      0  increasing
    2000   177   11.92      7  increasing
    2500   124    4.08      0  reducing              the path slows to a half
    3000   115    6.67      3  increasing
    3500   119    6.59     15  increasing
    4000   124    5.79     15  increasing
    4500   145   11.40      1  increasing            and is back
    5000   182   12.02     11  increasing
    5500   216   12.32     17  increasing
    6000   247   11.73     27  increasing
    6050   176    8.44     12  reducing              one packet lost
    6100   178   10.02      1  increasing
    6150   180   13.86      4  increasing
    6200   183   13.84     12  increasing
    6250    14    0.81      0  increasing            a timeout
    6300    15    0.90      0  increasing
    6350    17    1.07      0  increasing
    6400    19    1.33      0  increasing
    ");
}

#[test]
fn gcc() {
    insta::assert_snapshot!(table(named("gcc"), &CHANGES), @r"
      ms  cwnd  Mbit/s  queue  state
     500   379   11.00      3  increasing            connects, room for 200
    1000   373   11.08      1  increasing
    1500   388   11.52      1  increasing
    2000   402   11.96      1  increasing
    2500   336    6.82    143  overuse               the path slows to a half
    3000   353    5.85    163  overuse
    3500   321    5.25    139  increasing
    4000   307    5.45    117  increasing
    4500   185    5.51      1  underuse              and is back
    5000   187    5.56      1  increasing
    5500   195    5.79      0  increasing
    6000   202    6.01      0  increasing
    6050   203    6.03      1  increasing            one packet lost
    6100   204    6.06      1  increasing
    6150   205    6.08      0  increasing
    6200   205    6.10      0  increasing
    6250    30    0.90      0  probing               a timeout
    6300    60    1.80      0  probing
    6350    30    0.90      0  increasing
    6400    60    1.78      0  increasing
    ");
}
