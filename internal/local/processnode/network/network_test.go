package network

import (
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/vc-batch/vc/internal/local/processnode/sandbox"
)

func TestHosts(t *testing.T) {
	own := Name{Namespace: "n", Hostname: "job-master-0", Subdomain: "job", Address: "10.64.0.2"}
	all := []Name{
		{Namespace: "n", Hostname: "job-worker-0", Subdomain: "job", Address: "10.64.0.3"},
		own,
		{Namespace: "n", Hostname: "peer", Subdomain: "other", Address: "10.64.0.4"},
		{Namespace: "elsewhere", Hostname: "x", Subdomain: "job", Address: "10.64.0.5"},
		{Namespace: "n", Hostname: "nameless", Address: "10.64.0.6"},
	}
	want := `# Written by the process node; rewritten whenever a pod is added or removed.
127.0.0.1	localhost
::1	localhost ip6-localhost ip6-loopback
10.64.0.2	job-master-0.job.n.svc.cluster.local job-master-0.job job-master-0.job.n job-master-0.job.n.svc job-master-0
10.64.0.3	job-worker-0.job.n.svc.cluster.local job-worker-0.job job-worker-0.job.n job-worker-0.job.n.svc job-worker-0
10.64.0.4	peer.other.n.svc.cluster.local peer.other peer.other.n peer.other.n.svc
1.2.3.4	extra
`
	if diff := cmp.Diff(want, FormatHosts(own, all, []Alias{{Address: "1.2.3.4", Names: []string{"extra"}}})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestHostsOfPodsThatShareTheMachinesNetwork covers a node without permissions: all pods have one address, and only
// names distinguish them.
func TestHostsOfPodsThatShareTheMachinesNetwork(t *testing.T) {
	pod := func(hostname string) Name {
		return Name{Namespace: "n", Hostname: hostname, Subdomain: "job", Address: "127.0.0.1"}
	}
	own := pod("job-w-0")
	// job-w-1 is there twice: the old pod ends while its successor starts.
	all := []Name{pod("job-w-1"), own, pod("job-m-0"), pod("job-w-1"), {Namespace: "n", Hostname: "nameless", Address: "127.0.0.1"}}
	want := `# Written by the process node; rewritten whenever a pod is added or removed.
127.0.0.1	localhost
::1	localhost ip6-localhost ip6-loopback
127.0.0.1	job-w-0.job.n.svc.cluster.local job-w-0.job job-w-0.job.n job-w-0.job.n.svc job-w-0
127.0.0.1	job-m-0.job.n.svc.cluster.local job-m-0.job job-m-0.job.n job-m-0.job.n.svc job-m-0
127.0.0.1	job-w-1.job.n.svc.cluster.local job-w-1.job job-w-1.job.n job-w-1.job.n.svc job-w-1
`
	if diff := cmp.Diff(want, FormatHosts(own, all, nil)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestChooseSubnetAvoidsWhatIsTaken(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var taken []netip.Prefix
		for _, hash := range rapid.SliceOfN(rapid.Uint32(), 0, 50).Draw(t, "taken") {
			prefix, _ := chooseSubnet(pool, hash, taken)
			taken = append(taken, prefix)
		}
		got, ok := chooseSubnet(pool, rapid.Uint32().Draw(t, "hash"), taken)
		if !ok || !pool.Contains(got.Addr()) || got.Masked() != got {
			t.Fatalf("got %s, %v", got, ok)
		}
		for _, other := range taken {
			if other.Overlaps(got) {
				t.Fatalf("%s overlaps %s", got, other)
			}
		}
	})
}

func TestPodsWithoutABridgeGetLoopbackAddresses(t *testing.T) {
	pods := NewLoopback("/var/lib/one")
	first, err := pods.Reserve()
	if err != nil {
		t.Fatal(err)
	}
	second, err := pods.Reserve()
	if err != nil {
		t.Fatal(err)
	}
	for _, address := range []netip.Addr{first, second} {
		l, err := net.Listen("tcp", netip.AddrPortFrom(address, 0).String())
		if err != nil {
			t.Fatalf("listen on %s: %v", address, err)
		}
		_ = l.Close()
	}
	if first == second || first == netip.MustParseAddr("127.0.0.1") {
		t.Errorf("got %s and %s, want two addresses other than 127.0.0.1", first, second)
	}
}

func TestAddressesAreNotGivenAgainAtOnce(t *testing.T) {
	subnet := netip.MustParsePrefix("10.64.0.0/20")
	b := newAddresses(subnet)
	first, _ := b.Reserve()
	b.Release(first)
	seen := map[netip.Addr]bool{first: true}
	for range 4092 {
		address, err := b.Reserve()
		if err != nil || seen[address] || !subnet.Contains(address) {
			t.Fatalf("address %s, error %v", address, err)
		}
		seen[address] = true
	}
	if again, _ := b.Reserve(); again != first {
		t.Errorf("got %s, want %s once all others are out", again, first)
	}
	if _, err := b.Reserve(); err == nil {
		t.Error("more addresses than the subnet has")
	}
}

func TestTwoPodsReachEachOther(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root: makes a bridge and network namespaces")
	}
	cluster := "test-" + t.TempDir()
	bridge, err := Open(cluster)
	if err != nil {
		t.Skipf("bridges are not permitted here: %v", err)
	}
	defer func() {
		if err := RemoveBridge(cluster); err != nil {
			t.Error(err)
		}
	}()
	var addresses []netip.Addr
	var pods []sandbox.Namespaces
	for range 2 {
		namespaces, err := sandbox.NewNamespaces(true)
		if err != nil {
			t.Fatal(err)
		}
		defer namespaces.Close()
		address, err := bridge.Reserve()
		if err != nil {
			t.Fatal(err)
		}
		if err := bridge.Attach(namespaces.Net, address, netip.MustParseAddr("10.96.0.1")); err != nil {
			t.Fatal(err)
		}
		addresses, pods = append(addresses, address), append(pods, namespaces)
	}
	if err := pods[0].Enter(func() error { return talk(pods[1], addresses[1]) }); err != nil {
		t.Error(err)
	}
	if _, err := exec.LookPath("ip"); err == nil {
		out, _ := exec.Command("ip", "-br", "addr", "show", "dev", bridge.Name).Output()
		if !strings.Contains(string(out), bridge.Gateway.String()) {
			t.Errorf("bridge: %s", out)
		}
	}
}
