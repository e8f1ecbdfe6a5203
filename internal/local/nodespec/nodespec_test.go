package nodespec

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"pgregory.net/rapid"
)

func TestTheDemosFourNodesCanBeSaid(t *testing.T) {
	text := ""
	names := []string{"192.168.23.24", "192.168.51.67", "192.168.57.163", "192.168.63.50"}
	for _, name := range names {
		text += fmt.Sprintf("- {name: %s, cpu: 3920m, memory: 6265300Ki}\n", name)
	}
	specs, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	nodes, err := ExpandSpecs(specs, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []Node{}
	for _, name := range names {
		want = append(want, Node{Name: name, Kind: KindProcess, Capacity: corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("3920m"), corev1.ResourceMemory: resource.MustParse("6265300Ki"),
		}})
	}
	if diff := cmp.Diff(want, nodes); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestNodesFile(t *testing.T) {
	cases := map[string]struct {
		text, want string // want is part of the error; empty means no error
	}{
		"everything there is": {text: `
- name: gpu
  kind: simulated
  count: 2
  cpu: 8
  memory: 32Gi
  resources: {nvidia.com/gpu: "4", pods: 500}
  labels: {zone: a}
  taints: ["dedicated=train:NoSchedule", "old:NoExecute"]
- kind: process`},
		"no node":                             {text: "[]", want: "the file contains no nodes"},
		"not a list":                          {text: "name: a", want: "cannot unmarshal object"},
		"a field that is misspelt":            {text: "- {nme: a}", want: `unknown field "nme"`},
		"a kind that does not exist":          {text: "- {kind: virtual}", want: `nodes[0].kind: "virtual" is not valid; use process or simulated`},
		"a name that Kubernetes refuses":      {text: "- {}\n- {name: A_b}", want: `nodes[1].name: "A_b" is not a valid node name`},
		"a name that YAML reads as a boolean": {text: "- {name: n}", want: "nodes[0].name: YAML reads this value as the boolean false; put the value in quotes"},
		"a name in quotes":                    {text: `- {name: "n"}`},
		"no cpu":                              {text: "- {cpu: 0}", want: "nodes[0].cpu: a node without cpu cannot run pods"},
		"the same name twice":                 {text: "- {name: a}\n- {name: a}", want: `nodes[1].name: node "a" already exists`},
		"a quantity that is none":             {text: "- {cpu: many}", want: `nodes[0].cpu: "many" is not a valid quantity`},
		"a negative quantity":                 {text: "- {memory: -1Gi}", want: "nodes[0].memory: -1Gi is negative"},
		"a resource without a good name":      {text: `- {resources: {"a b": "1"}}`, want: `resource name "a b"`},
		"a label that Kubernetes refuses":     {text: `- {labels: {"": x}}`, want: "nodes[0].labels"},
		"a taint without an effect":           {text: `- {taints: ["a=b"]}`, want: `nodes[0].taints[0]: taint "a=b" is not valid; use KEY[=VALUE]:EFFECT`},
		"a negative count":                    {text: "- {count: -1}", want: "nodes[0].count: -1 is negative"},
		"a slip of the finger":                {text: "- {count: 5000000}", want: "exceed the maximum"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := Parse([]byte(c.text))
			got := fmt.Sprint(err)
			if c.want == "" {
				c.want = "<nil>"
			}
			if !strings.Contains(got, c.want) {
				t.Errorf("got error %q, want %q in it", got, c.want)
			}
		})
	}
}

func TestNumberedNodesTakeFreeNames(t *testing.T) {
	two := 2
	nodes, err := ExpandSpecs([]Spec{{Kind: KindSimulated, Count: &two}, {Count: &two}, {Name: "node-3"}, {Name: "gpu", Count: &two}}, map[string]bool{"node-1": true, "sim-2": true})
	if err != nil {
		t.Fatal(err)
	}
	names := []string{}
	for _, node := range nodes {
		names = append(names, node.Name)
	}
	if diff := cmp.Diff([]string{"sim-1", "sim-3", "node-2", "node-4", "node-3", "gpu-1", "gpu-2"}, names); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// For any specs, the names of nodes are unique, and none is already taken.
func TestNamesAreUnique(t *testing.T) {
	name := rapid.SampledFrom([]string{"", "", "", "a", "node-1", "node-2", "sim-1", "a-1"})
	rapid.Check(t, func(t *rapid.T) {
		specs := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Spec {
			count := rapid.IntRange(0, 3).Draw(t, "count")
			return Spec{Name: name.Draw(t, "name"), Kind: rapid.SampledFrom([]string{"", KindSimulated}).Draw(t, "kind"), Count: &count}
		}), 0, 6).Draw(t, "specs")
		taken := map[string]bool{rapid.SampledFrom([]string{"node-1", "sim-2", "b"}).Draw(t, "taken"): true}
		nodes, err := ExpandSpecs(specs, taken)
		if err != nil {
			return // Two entries had the same name.
		}
		seen := []string{}
		for _, node := range nodes {
			if taken[node.Name] || slices.Contains(seen, node.Name) {
				t.Fatalf("%q is not free", node.Name)
			}
			seen = append(seen, node.Name)
		}
	})
}

func FuzzParseNodes(f *testing.F) {
	f.Add([]byte("- {name: a, cpu: 3920m}"))
	f.Add([]byte("- {kind: simulated, count: 3, taints: [\"a:NoSchedule\"]}"))
	f.Add([]byte("- count: 99999999999"))
	f.Fuzz(func(t *testing.T, data []byte) {
		specs, err := Parse(data)
		if err == nil && len(specs) == 0 {
			t.Error("neither nodes nor an error")
		}
	})
}

func TestTaints(t *testing.T) {
	cases := map[string]corev1.Taint{
		"a=b:NoSchedule":      {Key: "a", Value: "b", Effect: corev1.TaintEffectNoSchedule},
		"x.io/a:NoExecute":    {Key: "x.io/a", Effect: corev1.TaintEffectNoExecute},
		"a=:PreferNoSchedule": {Key: "a", Effect: corev1.TaintEffectPreferNoSchedule},
	}
	for text, want := range cases {
		got, err := ParseTaint(text)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got)\n%s", text, err, diff)
		}
	}
	for _, text := range []string{"", "a", "a:Never", ":NoSchedule", "a=b c:NoSchedule"} {
		if _, err := ParseTaint(text); err == nil {
			t.Errorf("%q is taken for a taint", text)
		}
	}
}
