use sounding_cell::config::*;
use sounding_cell::radio::*;
use sounding_cell::*;
use sounding_units::*;
fn main() {
    let at = |ms: u64| HostInstant::from_nanos(ms * 1_000_000);
    let mut ran = Ran::<u64>::new(&[config::CarrierConfig::default()], at(0), 4).unwrap();
    ran.add_device(config::DeviceConfig{channel: ModelConfig::Script(ScriptConfig::constant(16.0)), ..Default::default()}).unwrap();
    ran.watch(DeviceId(0));
    for p in 0..40u64 { ran.handle_packet(HostInstant::from_nanos(p * 2_400_000), DeviceId(0), Direction::Uplink, Bytes::new(1500), p); }
    ran.handle_time(at(2000));
    let mut e = vec![]; ran.drain_events(&mut e);
    while let Some(o)= ran.poll_output() { if let Outcome::Delivered(p)=o.outcome { if o.payload>36 {println!("{} {:?}", o.payload, p);} } }
    let mut n=0;
    for x in &e { match x { Event::Transmission(_, t) if t.slot.slot>90 => { n+=1; if n<60 {println!("{} {:?} h{} n{} size {} pad {} ok {} pdus {:?} rep {:?}", t.slot.slot, t.direction, t.harq, t.number, t.size, t.padding, t.arrived, t.pdus.iter().map(|p|(p.span.from,p.span.to,p.again,p.poll)).collect::<Vec<_>>(), t.report.map(|r|(r.cause,r.index,r.waiting)));} }
       Event::SchedulingRequest{slot,..} if slot.slot>90 => println!("{} SR", slot.slot), Event::Status{at,direction,status,..} if at.as_nanos()>90_000_000 => println!("{} status {:?} {:?}", at.as_nanos()/1000000, direction, status), _=>{} } }
}
