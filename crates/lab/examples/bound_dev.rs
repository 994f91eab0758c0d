fn main() {
    let a: Vec<u64> = std::env::args().skip(1).map(|x| x.parse().unwrap()).collect();
    let out = sounding_lab::bound::run(
        &sounding_lab::bound::Plan { first: a[0], seeds: a[1], jobs: 2 },
        |_| {},
    )
    .unwrap();
    print!("{out}");
}
