package numa

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	nodeinfov1alpha1 "github.com/vc-batch/vc/api/nodeinfo/v1alpha1"
)

func TestPodAllocationsNamePodsInAnyForm(t *testing.T) {
	for text, want := range map[string]map[string]bool{
		`{"uid-1":{"main":"0-3"},"default/a":{}}`:                      {"uid-1": true, "default/a": true},
		`[{"podUID":"uid-1"},{"namespace":"default","name":"a"},"u"]`:  {"uid-1": true, "default/a": true, "u": true},
		`{"0":{"uid":"uid-1","podNamespace":"default","podName":"b"}}`: {"0": true, "uid-1": true, "default/b": true},
		`7`: {}, `[7]`: {}, `{`: {},
	} {
		o := &nodeinfov1alpha1.Numatopology{}
		o.Spec.PodAllocations = &apiextensionsv1.JSON{Raw: []byte(text)}
		if diff := cmp.Diff(want, TopologyFrom(o).Seen); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

func FuzzNumatopology(f *testing.F) {
	f.Add("static", "0-3", "1", "0", 0, 0, 0, `{"a":1}`)
	f.Add("none", "x", "1e30", "-1", 99, -1, -1, `[{"uid":1}]`)
	f.Fuzz(func(t *testing.T, policy, free, reserved, cpu string, numa, socket, core int, pods string) {
		o := &nodeinfov1alpha1.Numatopology{}
		o.Spec.Policies = map[nodeinfov1alpha1.PolicyName]string{nodeinfov1alpha1.CPUManagerPolicy: policy}
		o.Spec.NumaResMap = map[string]nodeinfov1alpha1.ResourceInfo{"cpu": {Allocatable: free}}
		o.Spec.ResReserved = map[string]string{"cpu": reserved}
		o.Spec.CPUDetail = map[string]nodeinfov1alpha1.CPUInfo{cpu: {NUMANodeID: numa, SocketID: socket, CoreID: core}}
		o.Spec.PodAllocations = &apiextensionsv1.JSON{Raw: []byte(pods)}
		n := TopologyFrom(o)
		if n.ReservedMilliCPU < 0 || len(n.CPUs) > 1 {
			t.Errorf("%+v", n)
		}
		if _, err := ParseCPUs(free); err != nil && !strings.Contains(n.Problem, "allocatable") && !strings.Contains(n.Problem, "cpuDetail") {
			t.Errorf("%q is free, and nothing was said of it: %q", free, n.Problem)
		}
	})
}
