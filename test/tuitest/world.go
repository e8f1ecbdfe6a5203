package tuitest

import (
	"fmt"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/vc-batch/vc/internal/dashboard/demo"
	"github.com/vc-batch/vc/internal/snapshot"
)

// Now is the current time of all worlds.
var Now = demo.Now

// GoldenWorldNames returns the names of the worlds for goldens.
func GoldenWorldNames() []string {
	return []string{"normal", "few", "empty", "loading", "disconnected", "many"}
}

// SnapshotOfWorld returns a cluster:
//
//	normal        96 nodes in 12 racks, queues in two levels, jobs in every state
//	few           four nodes, two jobs
//	empty         connected, without objects
//	loading       the first lists are incomplete
//	disconnected  normal, without a connection for twelve seconds
//	many          1,000 nodes, 10,000 jobs
//	various       few with one job of each rare kind; only on request
//	own           various for a user who may see jobs, pods and events of nlp only
//	forbidden     various for a user who may see only queues
//	switches      few below network switches: with HyperNodes
//	nodes60       60 nodes, 400 jobs
//	nodes5000     5,000 nodes, 10,000 jobs
//
// Scripts can also use later, which is few after eval ended and train lost a pod, and use, which is normal with
// measurements.
func SnapshotOfWorld(name string) (*snapshot.Snapshot, error) {
	worlds.Lock()
	defer worlds.Unlock()
	if made, ok := worlds.made[name]; ok {
		return made, nil
	}
	made, err := newWorld(name)
	if err == nil {
		worlds.made[name] = made
	}
	return made, err
}

// worlds caches the worlds. Snapshots never change, so each is made once.
var worlds = struct {
	sync.Mutex
	made map[string]*snapshot.Snapshot
	// whole holds the complete pods of each world by job.
	whole map[*snapshot.Snapshot]map[types.UID][]*corev1.Pod
}{made: map[string]*snapshot.Snapshot{}, whole: map[*snapshot.Snapshot]map[types.UID][]*corev1.Pod{}}

// wholePods returns the complete pods of a job of a world.
func wholePods(world *snapshot.Snapshot, job types.UID) []*corev1.Pod {
	worlds.Lock()
	defer worlds.Unlock()
	return worlds.whole[world][job]
}

func newWorld(name string) (*snapshot.Snapshot, error) {
	facts := snapshot.Facts{Cluster: "prod-gpu", Policy: "capacity", Connection: snapshot.Connection{Link: snapshot.LinkLive, Since: Now.Add(-time.Hour), Server: "https://10.0.0.1:6443"}}
	board, at := snapshot.NewBoard(), Now.Add(-2*time.Second)
	var objects []runtime.Object
	switch name {
	case "normal":
		objects = demo.NewCluster()
	case "use":
		objects = demo.NewCluster()
		facts.Usage = demo.Usage(objects)
	case "few":
		objects = FewNodesWorld()
	case "later":
		objects = FewNodesLater()
	case "switches":
		objects = SwitchesWorld()
	case "various":
		objects = VariousJobsWorld()
	case "many":
		objects = ManyNodesAndJobs(1000, 10000)
	case "nodes60":
		objects = ManyNodesAndJobs(60, 400)
	case "nodes5000":
		objects = ManyNodesAndJobs(5000, 10000)
	case "empty", "own", "forbidden":
	case "loading":
		objects = FewNodesWorld()
		facts.Connection = snapshot.Connection{Link: snapshot.LinkLoading, Since: Now.Add(-time.Second), Server: facts.Connection.Server}
		facts.Loading = []snapshot.Loading{{Kind: "pods", Count: 42100}, {Kind: "jobs", Count: 310}}
	case "disconnected":
		objects = demo.NewCluster()
		facts.Connection = snapshot.Connection{Link: snapshot.LinkDisconnected, Since: Now.Add(-12 * time.Second), Server: facts.Connection.Server, Problem: "dial tcp 10.0.0.1:6443: connect: connection refused"}
	default:
		return nil, fmt.Errorf("there is no world %q; one of: %s", name, strings.Join(GoldenWorldNames(), ", "))
	}
	if name == "own" || name == "forbidden" {
		objects, facts.Hidden = hideObjects(VariousJobsWorld(), name == "own")
		board.SetUnknown(snapshot.Pods, true)
		board.SetUnknown(snapshot.PodGroups, true)
	}
	for _, object := range objects {
		if err := board.StoreObject(object); err != nil {
			return nil, err
		}
	}
	world := board.TakeSnapshot(at, facts)
	worlds.whole[world] = demo.PodsByJob(objects)
	return world, nil
}
