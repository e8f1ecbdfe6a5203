package snapshot

import (
	"cmp"
	"hash/maphash"
	"slices"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/vc-batch/vc/internal/render"
)

// Usage holds the measured use of nodes and pods at one moment. It never changes. A nil Usage has no measurements.
type Usage struct {
	Nodes map[string]Measured
	Pods  map[PodKey]Measured
	// HasCore and HasGPU report whether there are any measurements of CPU and memory, and of GPUs.
	HasCore, HasGPU bool
	// Problem is the reason why a source that the user has configured gives no values; or "".
	Problem string
}

// PodKey is a hash of a pod's namespace and name. The names themselves would take more memory than the measurements. Two
// of 100,000 pods have the same key with a probability of less than one in a billion.
type PodKey uint64

var podKeySeed = maphash.MakeSeed()

// KeyOfPod returns the key of a pod. It is different in each process.
func KeyOfPod(namespace, name string) PodKey {
	var h maphash.Hash
	h.SetSeed(podKeySeed)
	_, _ = h.WriteString(namespace)
	_ = h.WriteByte('/')
	_, _ = h.WriteString(name)
	return PodKey(h.Sum64())
}

// KeyOfPodText is KeyOfPod for names that are not strings.
func KeyOfPodText(namespace, name []byte) PodKey {
	var h maphash.Hash
	h.SetSeed(podKeySeed)
	_, _ = h.Write(namespace)
	_ = h.WriteByte('/')
	_, _ = h.Write(name)
	return PodKey(h.Sum64())
}

// Measured is the measured use of a node, a pod or a job.
type Measured struct {
	// Core is nil without a measurement of CPU and memory, and GPU without one of GPUs.
	Core *MeasuredCore
	GPU  *MeasuredGPU
}

// MeasuredCore is the measured use of CPU and memory. MemoryBytes is the working set.
type MeasuredCore struct{ MilliCPU, MemoryBytes int64 }

// MeasuredGPU is the measured use of GPUs.
type MeasuredGPU struct {
	Count int
	// Percent is the mean utilization of the GPUs, from 0 to 100.
	Percent     float64
	MemoryBytes int64
	// LastBusy is the last time at which any of the GPUs was busy; zero if this was not measured, or not recently.
	LastBusy time.Time
}

// Add returns the sum of two measurements.
func (m Measured) Add(other Measured) Measured {
	return Measured{addCore(m.Core, other.Core), addGPU(m.GPU, other.GPU)}
}

func addCore(a, b *MeasuredCore) *MeasuredCore {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	return &MeasuredCore{a.MilliCPU + b.MilliCPU, a.MemoryBytes + b.MemoryBytes}
}

func addGPU(a, b *MeasuredGPU) *MeasuredGPU {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	sum := *a
	sum.Merge(b)
	return &sum
}

// Merge adds the use of other GPUs. The utilization becomes the mean of all GPUs.
func (m *MeasuredGPU) Merge(other *MeasuredGPU) {
	if count := m.Count + other.Count; count > 0 {
		m.Percent = (m.Percent*float64(m.Count) + other.Percent*float64(other.Count)) / float64(count)
		m.Count = count
	}
	m.MemoryBytes += other.MemoryBytes
	if other.LastBusy.After(m.LastBusy) {
		m.LastBusy = other.LastBusy
	}
}

// OfNode returns the measured use of a node.
func (u *Usage) OfNode(n *Node) Measured {
	if u == nil {
		return Measured{}
	}
	return u.Nodes[n.Name]
}

// OfPod returns the measured use of a pod. A pod that has ended uses nothing.
func (u *Usage) OfPod(p *Pod) Measured {
	if u == nil || p.Exited {
		return Measured{}
	}
	return u.Pods[KeyOfPod(p.Namespace, p.Name)]
}

// OfPods returns the sum of the resources that pods use.
func (u *Usage) OfPods(pods []*Pod) Measured {
	var sum Measured
	if u == nil {
		return sum
	}
	for _, p := range pods {
		sum = sum.Add(u.OfPod(p))
	}
	return sum
}

// idleAfter is how long the GPUs of a pod must be idle before they are reported. Shorter pauses are normal, for example
// while a program loads data.
const idleAfter = 10 * time.Minute

// IdleGPUs are GPUs that a job or a pod without a job has allocated but does not use.
type IdleGPUs struct {
	// Job is nil for a pod without a job, whose name is then in Name.
	Job                   *Job
	Namespace, Name, User string
	Count                 int64
	// Since is the time of the last use, or the start of the pods if they never used the GPUs.
	Since time.Time
}

// FindIdleGPUs returns the GPUs that are allocated to running pods and were idle for ten minutes or longer, the largest
// number first. allocated is the number of GPUs of all running pods that were measured.
func (s *Snapshot) FindIdleGPUs(now time.Time) (idle []IdleGPUs, allocated int64) {
	byOwner := map[types.UID]*IdleGPUs{}
	for _, n := range s.Nodes {
		for _, p := range n.Pods {
			gpus, measured := countGPUs(p), s.Usage.OfPod(p).GPU
			if gpus == 0 || measured == nil {
				continue
			}
			allocated += gpus
			since, isIdle := idleSince(p, measured, now)
			if !isIdle {
				continue
			}
			owner := cmp.Or(p.JobUID, p.UID)
			one := byOwner[owner]
			if one == nil {
				one = &IdleGPUs{Job: s.Job(p.JobUID), Namespace: p.Namespace, Name: cmp.Or(p.Job, p.Name), Since: since}
				if one.Job != nil {
					one.Name, one.User = one.Job.Title, one.Job.User
				}
				byOwner[owner] = one
			}
			one.Count += gpus
			if since.After(one.Since) {
				one.Since = since
			}
		}
	}
	for _, one := range byOwner {
		idle = append(idle, *one)
	}
	slices.SortFunc(idle, func(a, b IdleGPUs) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), a.Since.Compare(b.Since), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return idle, allocated
}

// idleSince returns the time from which the GPUs of a pod have been idle. isIdle is false if they were busy recently or
// the pod has only just started.
func idleSince(p *Pod, measured *MeasuredGPU, now time.Time) (since time.Time, isIdle bool) {
	since = measured.LastBusy
	if started := p.Started.Time(); started.After(since) {
		since = started
	}
	isRunning := p.Phase == "Running" && !p.Started.IsZero()
	isUnused := measured.Percent < BusyPercent
	return since, isRunning && isUnused && now.Sub(since) >= idleAfter
}

// BusyPercent is the utilization in percent from which a GPU counts as busy.
const BusyPercent = 5

func countGPUs(p *Pod) int64 {
	if p.Asks == nil {
		return 0
	}
	var sum int64
	for name, amount := range p.Asks.Devices {
		if render.IsGPU(name) {
			sum += amount
		}
	}
	return sum
}

// Text describes idle GPUs in a few words, for example "8 llama-sft (mei) for 2h".
func (g *IdleGPUs) Text(now time.Time) string {
	text := strconv.FormatInt(g.Count, 10) + " " + g.Name
	if g.User != "" {
		text += " (" + g.User + ")"
	}
	return text + " for " + render.FormatDuration(now.Sub(g.Since))
}
