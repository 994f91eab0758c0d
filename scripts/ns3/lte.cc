// One LTE cell in ns-3: what `cell` of crates/sim/benches/scenes is here. A flow of TCP CUBIC from
// a far host to each device, through proportional fair scheduling and RLC in acknowledged mode.
// Prints one line of JSON.

#include <ns3/applications-module.h>
#include <ns3/core-module.h>
#include <ns3/internet-module.h>
#include <ns3/lte-module.h>
#include <ns3/mobility-module.h>
#include <ns3/network-module.h>
#include <ns3/point-to-point-module.h>

#include <iostream>

using namespace ns3;

int
main(int argc, char* argv[])
{
    uint32_t devices = 1;
    double seconds = 30.0;
    CommandLine command(__FILE__);
    command.AddValue("devices", "devices in the cell", devices);
    command.AddValue("seconds", "simulated seconds", seconds);
    command.Parse(argc, argv);

    // The queue at the base station and the buffers of both hosts are those of the other side; the
    // model's own hold 10 kB and 128 kB, with which nothing would ever queue.
    Config::SetDefault("ns3::LteEnbRrc::EpsBearerToRlcMapping", EnumValue(LteEnbRrc::RLC_AM_ALWAYS));
    Config::SetDefault("ns3::LteRlcAm::MaxTxBufferSize", UintegerValue(2000000));
    // More devices than its default has room for.
    Config::SetDefault("ns3::LteEnbRrc::SrsPeriodicity", UintegerValue(40));
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpCubic::GetTypeId()));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(6000000));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(6000000));

    auto lte = CreateObject<LteHelper>();
    auto epc = CreateObject<PointToPointEpcHelper>();
    lte->SetEpcHelper(epc);
    lte->SetSchedulerType("ns3::PfFfMacScheduler");
    lte->SetEnbDeviceAttribute("DlBandwidth", UintegerValue(100));
    lte->SetEnbDeviceAttribute("UlBandwidth", UintegerValue(100));

    NodeContainer far(1);
    InternetStackHelper internet;
    internet.Install(far);
    PointToPointHelper wire;
    wire.SetDeviceAttribute("DataRate", StringValue("1Gb/s"));
    wire.SetDeviceAttribute("Mtu", UintegerValue(1500));
    wire.SetChannelAttribute("Delay", StringValue("10ms"));
    auto wired = wire.Install(epc->GetPgwNode(), far.Get(0));
    Ipv4AddressHelper addresses;
    addresses.SetBase("1.0.0.0", "255.0.0.0");
    addresses.Assign(wired);
    Ipv4StaticRoutingHelper routing;
    routing.GetStaticRouting(far.Get(0)->GetObject<Ipv4>())
        ->AddNetworkRouteTo("7.0.0.0", "255.0.0.0", 1);

    NodeContainer sites(1);
    NodeContainer phones(devices);
    MobilityHelper mobility;
    mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel");
    auto places = CreateObject<ListPositionAllocator>();
    places->Add(Vector(0.0, 0.0, 25.0));
    for (uint32_t device = 0; device < devices; ++device)
    {
        places->Add(Vector(100.0 + 10.0 * device, 50.0, 1.5));
    }
    mobility.SetPositionAllocator(places);
    mobility.Install(sites);
    mobility.Install(phones);

    auto cells = lte->InstallEnbDevice(sites);
    auto radios = lte->InstallUeDevice(phones);
    internet.Install(phones);
    auto owned = epc->AssignUeIpv4Address(radios);
    for (uint32_t device = 0; device < devices; ++device)
    {
        routing.GetStaticRouting(phones.Get(device)->GetObject<Ipv4>())
            ->SetDefaultRoute(epc->GetUeDefaultGatewayAddress(), 1);
        lte->Attach(radios.Get(device), cells.Get(0));
    }

    ApplicationContainer sinks;
    for (uint32_t device = 0; device < devices; ++device)
    {
        const uint16_t port = 5000;
        PacketSinkHelper sink("ns3::TcpSocketFactory",
                              InetSocketAddress(Ipv4Address::GetAny(), port));
        sinks.Add(sink.Install(phones.Get(device)));
        BulkSendHelper source("ns3::TcpSocketFactory",
                              InetSocketAddress(owned.GetAddress(device), port));
        source.SetAttribute("SendSize", UintegerValue(1448));
        source.Install(far.Get(0)).Start(MilliSeconds(100));
    }

    Simulator::Stop(Seconds(seconds));
    Simulator::Run();
    uint64_t bytes = 0;
    for (uint32_t at = 0; at < sinks.GetN(); ++at)
    {
        bytes += DynamicCast<PacketSink>(sinks.Get(at))->GetTotalRx();
    }
    Simulator::Destroy();
    std::cout << "{\"devices\": " << devices << ", \"seconds\": " << seconds
              << ", \"mbit_per_sec\": " << bytes * 8 / seconds / 1e6 << "}" << std::endl;
    return 0;
}
