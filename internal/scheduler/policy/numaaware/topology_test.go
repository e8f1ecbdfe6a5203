package numaaware

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/vc-batch/vc/internal/model/numa"
	"github.com/vc-batch/vc/test/propertytest"
)

// machine returns sockets with one NUMA node each, and cores of two threads: CPU n and its sibling n+half, as Linux
// numbers them.
func machine(sockets, coresEach int) *numa.Topology {
	n := &numa.Topology{CPUManager: static, HasFree: true}
	half := sockets * coresEach
	for c := range half {
		for thread := range 2 {
			n.CPUs = append(n.CPUs, numa.CPU{ID: c + thread*half, Node: c / coresEach, Socket: c / coresEach, Core: c % coresEach})
		}
	}
	all := make([]int, 2*half)
	for i := range all {
		all[i] = i
	}
	n.Free = numa.CPUs(all...)
	return n
}

func cpus(t *testing.T, text string) numa.CPUSet {
	t.Helper()
	s, err := numa.ParseCPUs(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestCPUsAreTakenAsTheKubeletTakesThem checks cases derived from the kubelet's rules.
func TestCPUsAreTakenAsTheKubeletTakesThem(t *testing.T) {
	top := newTopology(machine(2, 4)) // socket 0: 0-3 and 8-11, socket 1: 4-7 and 12-15
	cases := map[string]struct {
		free string
		n    int
		want string
	}{
		"a whole socket is one piece":                                {"0-15", 8, "0-3,8-11"},
		"two threads are one core":                                   {"0-15", 2, "0,8"},
		"a single thread is the first":                               {"0-15", 1, "0"},
		"an odd number is cores and one thread beside them":          {"0-15", 3, "0-1,8"},
		"the socket that is used already comes first":                {"0-3,5-11,13-15", 2, "5,13"},
		"a thread of a core that is used already comes first":        {"0-3,5-15", 1, "12"},
		"a whole socket and a core of the other":                     {"0-15", 10, "0-4,8-12"},
		"with no whole core threads are taken where most are in use": {"0-3,4", 2, "0,4"},
		"nothing is nothing":                                         {"0-15", 0, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, ok := top.chooseLikeKubelet(cpus(t, c.free), c.n)
			if !ok || got.String() != c.want {
				t.Errorf("took %q (%v), want %q", got, ok, c.want)
			}
		})
	}
	if _, ok := top.chooseLikeKubelet(cpus(t, "0-3"), 5); ok {
		t.Error("took 5 of 4")
	}
}

func TestPoliciesAdmitAsTheTopologyManagerDoes(t *testing.T) {
	top := newTopology(machine(2, 4)) // 8 CPUs per NUMA node
	cases := map[string]struct {
		policy, free string
		n            int
		mask         uint64
		ok           bool
	}{
		"one NUMA node has enough":                                  {policySingle, "0-15", 4, 1, true},
		"the second has it":                                         {policySingle, "0,4-7", 4, 2, true},
		"single-numa-node refuses what is scattered":                {policySingle, "0-2,4-6", 4, 0, false},
		"single-numa-node refuses what is larger than a NUMA node":  {policySingle, "0-15", 9, 0, false},
		"restricted refuses what is scattered and would fit in one": {policyRestricted, "0-2,4-6", 4, 3, false},
		"restricted takes two when it never could be one":           {policyRestricted, "0-15", 9, 3, true},
		"best-effort takes what there is":                           {policyBestEffort, "0-2,4-6", 4, 3, true},
		"none does not care":                                        {policyNone, "0-2,4-6", 4, 0, true},
		"restricted prefers the narrower and lower":                 {policyRestricted, "0-15", 2, 1, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			mask, ok := admitHints(c.policy, top.findNumaHints(cpus(t, c.free), c.n))
			if ok != c.ok || ok && mask != c.mask {
				t.Errorf("admitted to %b: %v, want %b: %v", mask, ok, c.mask, c.ok)
			}
		})
	}
}

// TestTakenIsFreeAndAsMuchAsAsked checks arbitrary sets of free CPUs and requests.
func TestTakenIsFreeAndAsMuchAsAsked(t *testing.T) {
	propertytest.Check(t, 10000, func(t *rapid.T) {
		n := machine(rapid.IntRange(1, 3).Draw(t, "sockets"), rapid.IntRange(1, 6).Draw(t, "cores"))
		top := newTopology(n)
		free := numa.CPUs(rapid.SliceOf(rapid.IntRange(0, len(n.CPUs)-1)).Draw(t, "free")...)
		count := rapid.IntRange(0, len(n.CPUs)).Draw(t, "asked")
		got, ok := top.chooseLikeKubelet(free, count)
		if ok != (count <= free.Len()) {
			t.Fatalf("%d of %s: %v", count, free, ok)
		}
		if ok && (got.Len() != count || !got.Minus(free).IsEmpty()) {
			t.Fatalf("%d of %s gave %s", count, free, got)
		}
		for _, policy := range []string{policyNone, policyBestEffort, policyRestricted, policySingle} {
			if count == 0 {
				break
			}
			mask, ok := admitHints(policy, top.findNumaHints(free, count))
			if !ok {
				continue
			}
			got, ok := top.assignCPUs(free, mask, count)
			if ok != (count <= free.Len()) || ok && (got.Len() != count || !got.Minus(free).IsEmpty()) {
				t.Fatalf("%s: %d of %s on %b gave %s (%v)", policy, count, free, mask, got, ok)
			}
			if policy == policySingle && got.Minus(top.cpusOfNumaNodes(mask)).Len() > 0 {
				t.Fatalf("%s left its NUMA node: %s", policy, got)
			}
		}
	})
}

func FuzzAssigned(f *testing.F) {
	for _, seed := range []string{"", "main=0-3;side=8", "main=", "=1", "a=1;a=2", "a=9-1", "a=0-99999999999", "a=8191"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, err := parseAssigned(text)
		if err != nil {
			return
		}
		back, err := parseAssigned(a.String())
		if err != nil || back.String() != a.String() || strings.Count(a.String(), ";") != max(len(a)-1, 0) {
			t.Errorf("%q is read as %q, that as %q (%v)", text, a, back, err)
		}
		if diff := cmp.Diff(a.allAssignedCPUs().List(), back.allAssignedCPUs().List()); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	})
}
