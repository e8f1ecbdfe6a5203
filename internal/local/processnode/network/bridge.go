package network

import (
	"errors"
	"fmt"
	"hash/fnv"
	"net"
	"net/netip"
	"os"
	"slices"
	"syscall"

	"github.com/vishvananda/netlink"
)

// pool contains 1024 subnets with 4094 addresses each.
var pool = netip.MustParsePrefix("10.64.0.0/10")

const subnetBits = 20

// Bridge connects the pods of a cluster with each other and with the machine.
type Bridge struct {
	Name    string
	Gateway netip.Addr // the machine's own address on the bridge
	Subnet  netip.Prefix
	link    netlink.Link
	addresses
}

func hashToUint32(text string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(text))
	return h.Sum32()
}

// BridgeName returns the name of a cluster's bridge.
func BridgeName(cluster string) string { return fmt.Sprintf("vcb%08x", hashToUint32(cluster)) }

// Open creates the cluster's bridge, or reuses one that an earlier process created.
func Open(cluster string) (*Bridge, error) {
	name := BridgeName(cluster)
	b := &Bridge{Name: name}
	link, err := netlink.LinkByName(name)
	var absent netlink.LinkNotFoundError
	switch {
	case err == nil:
		b.link = link
		b.Subnet = bridgeSubnet(link)
	case !errors.As(err, &absent):
		return nil, fmt.Errorf("bridge %s: %w", name, err)
	default:
		attributes := netlink.NewLinkAttrs()
		attributes.Name = name
		if err := netlink.LinkAdd(&netlink.Bridge{LinkAttrs: attributes}); err != nil {
			return nil, fmt.Errorf("bridge %s: %w", name, err)
		}
		if b.link, err = netlink.LinkByName(name); err != nil {
			return nil, fmt.Errorf("bridge %s: %w", name, err)
		}
	}
	if !b.Subnet.IsValid() {
		if err := b.assignAddress(cluster); err != nil {
			_ = netlink.LinkDel(b.link)
			return nil, err
		}
	}
	if err := netlink.LinkSetUp(b.link); err != nil {
		return nil, fmt.Errorf("bridge %s: %w", name, err)
	}
	b.Gateway = b.Subnet.Masked().Addr().Next()
	b.addresses = newAddresses(b.Subnet)
	return b, nil
}

func bridgeSubnet(link netlink.Link) netip.Prefix {
	addresses, err := netlink.AddrList(link, netlink.FAMILY_V4)
	if err != nil || len(addresses) == 0 {
		return netip.Prefix{}
	}
	prefix, err := netip.ParsePrefix(addresses[0].IPNet.String())
	if err != nil {
		return netip.Prefix{}
	}
	return prefix.Masked()
}

func (b *Bridge) assignAddress(cluster string) error {
	routes, err := netlink.RouteList(nil, netlink.FAMILY_V4)
	if err != nil {
		return fmt.Errorf("read the machine's routes: %w", err)
	}
	var taken []netip.Prefix
	for _, route := range routes {
		if route.Dst == nil {
			continue
		}
		if prefix, err := netip.ParsePrefix(route.Dst.String()); err == nil && prefix.Bits() > 0 {
			taken = append(taken, prefix)
		}
	}
	subnet, ok := chooseSubnet(pool, hashToUint32(cluster), taken)
	if !ok {
		return fmt.Errorf("bridge %s: no subnet of %s is free on this machine", b.Name, pool)
	}
	b.Subnet = subnet
	gateway := netip.PrefixFrom(subnet.Addr().Next(), subnetBits)
	parsed, err := netlink.ParseAddr(gateway.String())
	if err != nil {
		return err
	}
	if err := netlink.AddrAdd(b.link, parsed); err != nil {
		return fmt.Errorf("bridge %s: address %s: %w", b.Name, gateway, err)
	}
	return nil
}

// chooseSubnet returns the first subnet of pool that does not overlap any of the taken ones. The search starts at the
// subnet that the hash selects.
func chooseSubnet(pool netip.Prefix, hash uint32, taken []netip.Prefix) (netip.Prefix, bool) {
	count := uint32(1) << (subnetBits - pool.Bits())
	first := pool.Addr().As4()
	base := uint32(first[0])<<24 | uint32(first[1])<<16
	for i := range count {
		number := base + ((hash+i)%count)<<(32-subnetBits)
		address := netip.AddrFrom4([4]byte{byte(number >> 24), byte(number >> 16), byte(number >> 8), byte(number)})
		subnet := netip.PrefixFrom(address, subnetBits)
		if !slices.ContainsFunc(taken, subnet.Overlaps) {
			return subnet, true
		}
	}
	return netip.Prefix{}, false
}

// Attach connects a network namespace to the bridge. It adds an interface eth0 with the given address and, if service
// is valid, assigns service to the loopback interface.
func (b *Bridge) Attach(namespace *os.File, address, service netip.Addr) error {
	attributes := netlink.NewLinkAttrs()
	attributes.Name = fmt.Sprintf("vcp%08x", hashToUint32(b.Name+address.String()))
	attributes.MasterIndex = b.link.Attrs().Index
	attributes.Flags = net.FlagUp
	fd := netlink.NsFd(int(namespace.Fd()))
	pair := &netlink.Veth{LinkAttrs: attributes, PeerName: "eth0", PeerNamespace: fd}
	err := netlink.LinkAdd(pair)
	if errors.Is(err, syscall.EEXIST) {
		// The kernel may not have removed the veth pair of the previous pod with this address yet.
		_ = netlink.LinkDel(pair)
		err = netlink.LinkAdd(pair)
	}
	if err != nil {
		return fmt.Errorf("set up the pod's network: %w", err)
	}
	inside, err := netlink.NewHandleAt(openNamespaceHandle(namespace), syscall.NETLINK_ROUTE)
	if err != nil {
		return fmt.Errorf("set up the pod's network: %w", err)
	}
	defer inside.Close()
	if err := b.configureInside(inside, address, service); err != nil {
		return fmt.Errorf("set up the pod's network: %w", err)
	}
	return nil
}

func (b *Bridge) configureInside(inside *netlink.Handle, address, service netip.Addr) error {
	loopback, err := inside.LinkByName("lo")
	if err != nil {
		return err
	}
	if err := inside.LinkSetUp(loopback); err != nil {
		return err
	}
	if service.IsValid() {
		if err := addAddress(inside, loopback, netip.PrefixFrom(service, service.BitLen())); err != nil {
			return err
		}
	}
	link, err := inside.LinkByName("eth0")
	if err != nil {
		return err
	}
	if err := addAddress(inside, link, netip.PrefixFrom(address, subnetBits)); err != nil {
		return err
	}
	// There is no route beyond the bridge, because responses from outside would need address translation, which would
	// mean changing the host's network configuration. Without a route, connections fail at once with "network is
	// unreachable" instead of timing out.
	return inside.LinkSetUp(link)
}

func addAddress(inside *netlink.Handle, link netlink.Link, prefix netip.Prefix) error {
	parsed, err := netlink.ParseAddr(prefix.String())
	if err != nil {
		return err
	}
	return inside.AddrAdd(link, parsed)
}

// RemoveBridge deletes the cluster's bridge if it exists.
func RemoveBridge(cluster string) error {
	link, err := netlink.LinkByName(BridgeName(cluster))
	var absent netlink.LinkNotFoundError
	if errors.As(err, &absent) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := netlink.LinkDel(link); err != nil {
		return fmt.Errorf("bridge %s: %w", BridgeName(cluster), err)
	}
	return nil
}
