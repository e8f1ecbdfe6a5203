package scheduler

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/test/make"
)

// small is a cluster in which gangs start, wait and may evict each other.
func small() ([]model.Delta, made) {
	w := newMade()
	deltas := []model.Delta{model.QueueFrom(make.Queue("q0").Obj()), model.QueueFrom(make.Queue("q1").Parent("q0").Obj())}
	for i := range 2 {
		node := make.Node(fmt.Sprintf("n%d", i)).CPU("2").Memory("4Gi").Resource("nvidia.com/gpu", "1").
			Resource("volcano.sh/vgpu-number", "10").Resource("volcano.sh/vgpu-memory", "16000").Annotation("volcano.sh/node-vgpu-register", fmt.Sprintf("GPU-%d,10,16000,T4,true,hami-core:", i)).Obj()
		w.nodes[node.Name] = node
		deltas = append(deltas, model.NodeFrom(node), model.NodeUsageSet{Node: node.Name, NodeUsage: model.NodeUsage{CPUPercent: 90, MemoryPercent: 10, At: make.Epoch}})
	}
	for g := range 4 {
		gang := make.Gang(fmt.Sprintf("g%d", g)).Min(2).Queue(fmt.Sprintf("q%d", g%2)).MinResource("cpu", "2").Annotation("vc-batch.dev/user", fmt.Sprintf("u%d", g%3)).Obj()
		deltas = append(deltas, model.GangFrom(gang))
		for i := range 2 {
			pod := make.Pod(fmt.Sprintf("g%d-%d", g, i)).Gang(gang.Name).CPU("1").Resource("volcano.sh/vgpu-number", "1").Resource("volcano.sh/vgpu-memory", "1000").Obj()
			w.pods[pod.Name] = pod
			deltas = append(deltas, model.TaskFrom(pod, true))
		}
	}
	return deltas, w
}

// FuzzConfiguration runs a small cluster with arbitrary accepted configurations: nodes must not be overcommitted,
// and decisions must be deterministic.
func FuzzConfiguration(f *testing.F) {
	for _, text := range everything {
		f.Add(text)
	}
	files, err := filepath.Glob("../../test/scenarios/*.txt")
	if err != nil || len(files) == 0 {
		f.Fatalf("no stories: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, block := range strings.Split(string(text), "\n\n") {
			if _, rest, is := strings.Cut(block, "config\n"); is {
				body, _, _ := strings.Cut(rest, "\n----")
				f.Add(body)
			}
		}
	}
	deltas, w := small()
	f.Fuzz(func(t *testing.T, text string) {
		cfg, _, err := config.Parse([]byte(text))
		if err != nil {
			return
		}
		if _, err := New(cfg); err != nil {
			return
		}
		if err := survives(cfg, deltas, w); err != nil {
			t.Fatal(err)
		}
	})
}

// FuzzUsage puts arbitrary text into the ConfigMap that stores the use of accounts.
func FuzzUsage(f *testing.F) {
	cfg, _, err := config.Parse([]byte(`actions: "enqueue, allocate"
tiers:
- plugins: [{name: fairshare, arguments: {fairshare.queues: true}}, {name: gang}, {name: predicates}]
`))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(`[{"account":{"queue":"q0","user":"u0"},"usage":{"value":3,"rate":0.5,"at":"2026-01-01T00:00:00Z"}}]`)
	f.Add(`[{"Account":{"Queue":"q0","Namespace":"default"},"Usage":{"Value":1e308,"Rate":-1e308}},{"Account":{"Queue":"q0"},"Usage":{"Value":-5,"At":"9999-01-01T00:00:00Z"}}]`)
	f.Add(`[{"Account":{"Queue":"q0","User":"u0"},"Usage":{"Value":1e308,"Rate":1e308}},{"Account":{"Queue":"q0","User":"u1"},"Usage":{"Value":1e308}}]`)
	deltas, w := small()
	f.Fuzz(func(t *testing.T, text string) {
		var entries []model.UsageEntry
		if json.Unmarshal([]byte(text), &entries) != nil {
			return
		}
		if err := survives(cfg, append([]model.Delta{model.UsageSet{Entries: entries}}, deltas...), w); err != nil {
			t.Fatal(err)
		}
	})
}
