package sim

import (
	"context"
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/internal/local/simnode"
	"github.com/vc-batch/vc/test/apiserver"
)

// fleetProgram is the name of the program that serves the simulated nodes of vc-local.
const fleetProgram = "fleet"

func init() {
	registerAction("simulated-node", 3, func(s *drawing) *action {
		cpu := int64(2+s.IntN(7)) * 1000
		bad, text := drawWeather(s)
		from, length := between(s.Rand, 0, time.Minute), between(s.Rand, time.Second, 2*time.Minute)
		crashes := s.IntN(3) == 0
		restart := between(s.Rand, shortestRestart, longestRestart)
		if crashes {
			text += ", and crashes at the end of this time"
		}
		return s.action(func(w *World) {
			r := w.addSimulatedNode(cpu)
			w.add(w.now.Add(from), nil, func() {
				if !w.calm {
					r.weather = bad
				}
			})
			w.add(w.now.Add(from+length), nil, func() {
				r.weather = weather{}
				if crashes && !w.calm {
					r.crash(restart)
				}
			})
		}, "vc-local adds a simulated node with cpu %d; after %s, its program, for %s, %s", cpu/1000, from.Round(time.Second), length.Round(time.Second), text)
	})
}

// addSimulatedNode adds a node of vc-local, and returns the program that serves all of these nodes.
func (w *World) addSimulatedNode(milliCPU int64) *replica {
	served := 0
	for _, node := range w.state.nodes {
		if isSimulated(node) {
			served++
		}
	}
	node := newNode("simulated-"+strconv.Itoa(served), milliCPU)
	node.Labels[simnode.KindLabel] = simnode.KindSimulated
	w.createNode(node)
	for _, r := range w.replicas {
		if r.program == fleetProgram {
			return r
		}
	}
	r := w.newReplica(fleetProgram, 0, "", startFleet)
	r.start()
	return r
}

func isSimulated(node *corev1.Node) bool {
	return node.Labels[simnode.KindLabel] == simnode.KindSimulated
}

// fleetTimeout is how long the connection of a fleet stays without a response until it is closed.
const fleetTimeout = 45 * time.Second

// fleetWriters limits the number of parallel writes of a fleet.
const fleetWriters = 4

// fleet serves the simulated nodes. The records of the pods and their next steps are the production code.
type fleet struct {
	process *process
	link    *link
	table   *simnode.PodTable
	writing int       // number of writes that have not ended
	wakeAt  time.Time // when dispatch is going to be called; zero if it is not
}

func startFleet(p *process, user string, fence func() error) {
	w := p.world
	f := &fleet{process: p, link: w.newLink(p, user, fleetTimeout, fence), table: simnode.NewPodTable(time.Second, p.wallTime, nil)}
	w.watchKind(p, user, nodeKind, &simulatedNodes{f}, func() {
		// The nodes come first, so that the nodes of all pods are already served.
		w.watchKind(p, user, podKind, &simulatedPods{f}, func() {})
	})
}

// dispatch starts the writes for the pods that are due.
func (f *fleet) dispatch() {
	for f.writing < fleetWriters {
		pod, wait := f.table.TakeDuePod()
		if pod == nil {
			f.wakeAfter(wait)
			return
		}
		f.writing++
		f.process.spawn(func() { f.performStep(pod) }, func() {
			f.writing--
			f.dispatch()
		})
	}
}

// wakeAfter calls dispatch after a pause, unless it is going to be called earlier. A negative pause means never.
func (f *fleet) wakeAfter(pause time.Duration) {
	at := f.process.world.now.Add(pause)
	isWoken := !f.wakeAt.IsZero() && !f.wakeAt.After(at)
	if pause < 0 || isWoken {
		return
	}
	f.wakeAt = at
	f.process.after(pause, func() {
		if f.wakeAt.Equal(at) {
			f.wakeAt = time.Time{}
			f.dispatch()
		}
	})
}

// performStep carries out the step of a pod that is due.
func (f *fleet) performStep(pod *simnode.DuePod) {
	write, isDue, err := f.table.BeginStep(pod)
	if isDue && err == nil {
		_, err = f.link.send(context.Background(), writeRequest(&write))
	}
	f.table.FinishStep(pod, err)
}

func writeRequest(write *simnode.Write) *apiserver.Request {
	r := &apiserver.Request{Kind: podKind, Namespace: write.Pod.Namespace, Name: write.Pod.Name}
	if write.StatusPatch == nil {
		r.Verb, r.GracePeriod, r.Preconditions = apiserver.Delete, ptr.To(int64(0)), &metav1.Preconditions{UID: &write.UID}
		return r
	}
	r.Verb, r.Subresource, r.PatchType, r.Patch = apiserver.Patch, "status", types.StrategicMergePatchType, write.StatusPatch
	return r
}

// simulatedNodes receives nodes.
type simulatedNodes struct{ fleet *fleet }

func (s *simulatedNodes) replace(objects []client.Object) {
	for _, o := range objects {
		s.apply(apiserver.Change{Object: o})
	}
}

func (s *simulatedNodes) apply(c apiserver.Change) {
	if node, ok := c.Object.(*corev1.Node); ok && isSimulated(node) {
		s.fleet.table.ServeNode(node.Name, "198.18.0.1")
		s.fleet.dispatch()
	}
}

// simulatedPods receives pods.
type simulatedPods struct{ fleet *fleet }

func (s *simulatedPods) replace(objects []client.Object) {
	var pods []any
	for _, o := range objects {
		if pod, ok := o.(*corev1.Pod); ok {
			pods = append(pods, s.fleet.process.world.withSimulation(pod))
		}
	}
	s.do(s.fleet.table.Replace(pods, ""))
}

func (s *simulatedPods) apply(c apiserver.Change) {
	if pod, ok := c.Object.(*corev1.Pod); ok {
		s.do(s.fleet.table.Update(s.fleet.process.world.withSimulation(pod)))
	} else {
		s.do(s.fleet.table.Delete(c.Old))
	}
}

func (s *simulatedPods) do(err error) {
	if err != nil {
		panic(err) // only pods are passed to the table
	}
	s.fleet.dispatch()
}

// withSimulation returns a pod with the annotations that determine how it runs on a simulated node. They depend only on
// the seed and the pod.
func (w *World) withSimulation(pod *corev1.Pod) *corev1.Pod {
	random := w.randomFor("simulation of pod " + pod.Namespace + "/" + pod.Name + "/" + string(pod.UID))
	behavior := drawBehavior(random)
	copied := *pod
	copied.Annotations = map[string]string{
		simnode.AnnotationStartDelay:  behavior.startTime.String(),
		simnode.AnnotationRunTime:     behavior.runTime.String(),
		simnode.AnnotationStopTime:    behavior.stopTime.String(),
		simnode.AnnotationExitCode:    fmt.Sprint(1 + random.IntN(3)),
		simnode.AnnotationFailureRate: "20%", // of each run, so that a pod that starts again succeeds at some time
	}
	return &copied
}
