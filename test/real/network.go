package real

import (
	"fmt"
	"net"
	"net/netip"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
)

const (
	bridgeName = "nodes"
	// gateway is the address of the control plane on the bridge of the nodes.
	gateway = "10.70.0.1"
)

// nodeAddress returns the address of a node. Nodes are numbered from 1.
func nodeAddress(number int) string { return fmt.Sprintf("10.70.0.%d", 10+number) }

// podSubnet returns the subnet of a node's pods.
func podSubnet(number int) netip.Prefix {
	return netip.MustParsePrefix(fmt.Sprintf("10.71.%d.0/24", number))
}

// createBridge creates the bridge that connects the nodes with the control plane.
func createBridge() (netlink.Link, error) {
	attributes := netlink.NewLinkAttrs()
	attributes.Name = bridgeName
	bridge := &netlink.Bridge{LinkAttrs: attributes}
	if err := netlink.LinkAdd(bridge); err != nil {
		return nil, fmt.Errorf("create bridge %s: %w", bridgeName, err)
	}
	address, err := netlink.ParseAddr(gateway + "/24")
	if err != nil {
		return nil, err
	}
	if err := netlink.AddrAdd(bridge, address); err != nil {
		return nil, fmt.Errorf("bridge %s: add address %s: %w", bridgeName, gateway, err)
	}
	return bridge, netlink.LinkSetUp(bridge)
}

// connectNode connects the network namespace of a process with the bridge. The interface of the node is eth0. The pods
// of all other nodes are reached through their nodes.
func connectNode(bridge netlink.Link, number, nodes, pid int) error {
	namespace, err := netns.GetFromPid(pid)
	if err != nil {
		return fmt.Errorf("network namespace of node %d: %w", number, err)
	}
	defer namespace.Close()
	attributes := netlink.NewLinkAttrs()
	attributes.Name = fmt.Sprintf("node%d", number)
	attributes.MasterIndex = bridge.Attrs().Index
	attributes.Flags = net.FlagUp
	pair := &netlink.Veth{LinkAttrs: attributes, PeerName: "eth0", PeerNamespace: netlink.NsFd(namespace)}
	if err := netlink.LinkAdd(pair); err != nil {
		return fmt.Errorf("create the interfaces of node %d: %w", number, err)
	}
	inside, err := netlink.NewHandleAt(namespace)
	if err != nil {
		return err
	}
	defer inside.Close()
	for name, cidr := range map[string]string{"lo": "", "eth0": nodeAddress(number) + "/24"} {
		if err := setUp(inside, name, cidr); err != nil {
			return fmt.Errorf("node %d: interface %s: %w", number, name, err)
		}
	}
	if err := addRoute(inside, "0.0.0.0/0", gateway); err != nil {
		return err
	}
	for other := 1; other <= nodes; other++ {
		if other == number {
			continue
		}
		if err := addRoute(inside, podSubnet(other).String(), nodeAddress(other)); err != nil {
			return err
		}
	}
	// The control plane calls webhooks at the addresses of their pods.
	return addRoute(&netlink.Handle{}, podSubnet(number).String(), nodeAddress(number))
}

// setUp gives an interface an address, unless it is empty, and starts it.
func setUp(handle *netlink.Handle, name, cidr string) error {
	link, err := handle.LinkByName(name)
	if err != nil {
		return err
	}
	if cidr != "" {
		address, err := netlink.ParseAddr(cidr)
		if err != nil {
			return err
		}
		if err := handle.AddrAdd(link, address); err != nil {
			return err
		}
	}
	return handle.LinkSetUp(link)
}

func addRoute(handle *netlink.Handle, subnet, via string) error {
	_, destination, err := net.ParseCIDR(subnet)
	if err != nil {
		return err
	}
	if err := handle.RouteAdd(&netlink.Route{Dst: destination, Gw: net.ParseIP(via)}); err != nil {
		return fmt.Errorf("route to %s via %s: %w", subnet, via, err)
	}
	return nil
}
