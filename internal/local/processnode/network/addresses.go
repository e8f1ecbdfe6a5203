package network

import (
	"fmt"
	"net/netip"
	"sync"
)

// addresses allocates the addresses of a subnet. It never allocates the first address, which is the gateway of a
// bridge, or the last one, which is the broadcast address.
type addresses struct {
	subnet netip.Prefix
	first  netip.Addr

	mu   sync.Mutex
	next netip.Addr // the address that was allocated last
	used map[netip.Addr]bool
}

func newAddresses(subnet netip.Prefix) addresses {
	first := subnet.Masked().Addr().Next()
	return addresses{subnet: subnet, first: first, next: first, used: map[netip.Addr]bool{first: true}}
}

// Reserve allocates an address, which Release frees again.
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
	return netip.Addr{}, fmt.Errorf("all pod addresses in %s are in use", a.subnet)
}

// Release frees an address.
func (a *addresses) Release(address netip.Addr) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.used, address)
}

// loopbackPool contains the subnets for pods without a bridge. Linux responds on all addresses in 127.0.0.0/8 without
// any setup.
var loopbackPool = netip.MustParsePrefix("127.64.0.0/10")

// Loopback allocates loopback addresses for pods that share the machine's network. Each pod gets its own address, so
// that two pods can listen on the same port if they bind to their addresses.
type Loopback struct{ addresses }

// NewLoopback returns the loopback addresses for a cluster. The subnet is selected by a hash of the cluster's name,
// so that clusters on the same machine rarely share a subnet.
func NewLoopback(cluster string) *Loopback {
	subnet, _ := chooseSubnet(loopbackPool, hashToUint32(cluster), nil)
	return &Loopback{newAddresses(subnet)}
}
