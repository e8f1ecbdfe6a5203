package network

import (
	"fmt"
	"net/netip"
	"sync"
)

// addresses hands out the addresses of a subnet. The subnet's first address, which a bridge has as its gateway, and the last one, the
// broadcast address, are never handed out.
type addresses struct {
	subnet netip.Prefix
	first  netip.Addr

	mu   sync.Mutex
	next netip.Addr // the last address handed out
	used map[netip.Addr]bool
}

func newAddresses(subnet netip.Prefix) addresses {
	first := subnet.Masked().Addr().Next()
	return addresses{subnet: subnet, first: first, next: first, used: map[netip.Addr]bool{first: true}}
}

// Reserve returns a free address; Release makes it free again.
func (a *addresses) Reserve() (netip.Addr, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for range 1 << (32 - a.subnet.Bits()) {
		a.next = a.next.Next()
		isBroadcast := !a.subnet.Contains(a.next.Next())
		if isBroadcast {
			a.next = a.first.Next()
		}
		if !a.used[a.next] {
			a.used[a.next] = true
			return a.next, nil
		}
	}
	return netip.Addr{}, fmt.Errorf("pod addresses: all of %s are in use", a.subnet)
}

// Release makes an address free again.
func (a *addresses) Release(address netip.Addr) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.used, address)
}

// loopbackPool is where subnets for pods without a bridge are taken from. Linux answers on every address of 127.0.0.0/8 without setup.
var loopbackPool = netip.MustParsePrefix("127.64.0.0/10")

// Loopback hands out loopback addresses to pods that share the machine's network. Each pod has an address of its own, so that two pods can
// listen on the same port if they bind to their address.
type Loopback struct{ addresses }

// NewLoopback returns the addresses of a cluster. Clusters on one machine rarely share a subnet, which a hash of their names chooses.
func NewLoopback(cluster string) *Loopback {
	subnet, _ := chooseSubnet(loopbackPool, hashOf(cluster), nil)
	return &Loopback{newAddresses(subnet)}
}
