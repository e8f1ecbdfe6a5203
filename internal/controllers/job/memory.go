package job

import (
	"cmp"
	"slices"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/vc-batch/vc/internal/controllers/job/plan"
)

// forget is how long a write of ours is believed although the cache does not show it.
const forget = time.Minute

// waitForCache is how long a job is left alone until the cache shows our last write of it.
const waitForCache = 10 * time.Second

// memory is what is known of the jobs beyond the cache.
type memory struct {
	mu    sync.Mutex
	jobs  map[types.UID]*recollection
	names map[types.NamespacedName]types.UID
}

func newMemory() *memory {
	return &memory{jobs: map[types.UID]*recollection{}, names: map[types.NamespacedName]types.UID{}}
}

// recollection is what is known of one job. Its fields below mu are written by watch handlers too; the others only by the job's reconcile.
type recollection struct {
	ensured    string            // the key of the last EnsureObjects
	told       map[string]string // the last message of each reason
	lastStatus time.Time
	remarkAt   time.Time // the place that a status has among remarks, while the API server is under pressure
	written    uint64    // resourceVersion of our last write of the job
	writtenAt  time.Time
	fenced     bool      // the job was as the cache showed it
	groupGone  types.UID // PodGroup that we deleted
	trouble    *plan.Trouble
	since      map[string]time.Time // what the last plan saw, and nothing dates
	unnumbered time.Time            // until when the job goes on without a number
	rejected   int                  // how often in a row the API server found fault with what we sent
	conflicts  int                  // how often in a row a write met a newer object

	mu      sync.Mutex
	created map[types.UID]created
	killed  map[types.UID]time.Time
	lost    map[types.UID]plan.Lost
}

// created is a pod that we made, until a list of the cache shows it. That the cache has told of it is not enough: the list
// that a plan is being made from may be older, and of a large job takes long.
type created struct {
	pod *corev1.Pod
	at  time.Time
}

// named returns the recollection of the job that has this name now, made when there is none. That of an older job of the name is forgotten.
func (m *memory) named(name types.NamespacedName, uid types.UID) *recollection {
	m.mu.Lock()
	defer m.mu.Unlock()
	if old := m.names[name]; old != uid {
		delete(m.jobs, old)
		m.names[name] = uid
	}
	r := m.jobs[uid]
	if r == nil {
		r = &recollection{told: map[string]string{}, created: map[types.UID]created{}, killed: map[types.UID]time.Time{}, lost: map[types.UID]plan.Lost{}}
		m.jobs[uid] = r
	}
	return r
}

// known returns the recollection of a job, nil when there is none.
func (m *memory) known(uid types.UID) *recollection {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.jobs[uid]
}

// gone forgets the job of this name and returns its UID, empty when it was not known.
func (m *memory) gone(name types.NamespacedName) types.UID {
	m.mu.Lock()
	defer m.mu.Unlock()
	uid := m.names[name]
	delete(m.jobs, uid)
	delete(m.names, name)
	return uid
}

// podGone: the pod has vanished; an eviction is kept until it is answered.
func (r *recollection) podGone(pod *corev1.Pod, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.created, pod.UID)
	_, ours := r.killed[pod.UID]
	delete(r.killed, pod.UID)
	if lost, ok := plan.LostFrom(pod, now); ok && !ours {
		r.lost[pod.UID] = lost
	}
}

func (r *recollection) podCreated(pod *corev1.Pod, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.created[pod.UID] = created{pod: pod, at: now}
}

func (r *recollection) podKilled(uid types.UID, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.killed[uid] = now
}

func (r *recollection) answered(uids []types.UID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, uid := range uids {
		delete(r.lost, uid)
	}
}

// complete adds to what the cache shows what is known beyond it.
func (r *recollection) complete(in *plan.Input) {
	r.mu.Lock()
	defer r.mu.Unlock()
	shown := make(map[types.UID]bool, len(in.Pods))
	if len(r.created) > 0 {
		for _, pod := range in.Pods {
			shown[pod.UID] = true
		}
	}
	for uid, c := range r.created {
		switch {
		case shown[uid] || in.Now.Sub(c.at) > forget:
			delete(r.created, uid)
		default:
			in.Pods = append(in.Pods, c.pod)
		}
	}
	in.Killed = make(map[types.UID]bool, len(r.killed))
	for uid, at := range r.killed {
		if in.Now.Sub(at) > forget {
			delete(r.killed, uid)
			continue
		}
		in.Killed[uid] = true
	}
	in.Lost = in.Lost[:0]
	if in.Doubt {
		clear(r.lost) // perhaps answered long ago; what the status counts tells
	}
	for _, l := range r.lost {
		in.Lost = append(in.Lost, l)
	}
	slices.SortFunc(in.Lost, func(x, y plan.Lost) int { return cmp.Compare(x.UID, y.UID) })
}

// wrote keeps the resourceVersion of a write of the job.
func (r *recollection) wrote(resourceVersion string, now time.Time) {
	if v, err := strconv.ParseUint(resourceVersion, 10, 64); err == nil {
		r.written, r.writtenAt = v, now
	}
}

// late says whether a job from the cache is older than our last write of it.
func (r *recollection) late(resourceVersion string, now time.Time) bool {
	v, err := strconv.ParseUint(resourceVersion, 10, 64)
	return err == nil && v < r.written && now.Sub(r.writtenAt) < waitForCache
}
