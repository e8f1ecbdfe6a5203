package job

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/vc-batch/vc/internal/controllers/job/plan"
	"github.com/vc-batch/vc/internal/jobtrace"
)

// forget is how long the controller relies on one of its own writes that the cache does not show.
const forget = time.Minute

// waitForCache is how long a reconcile waits for the cache to show the controller's last write to the job.
const waitForCache = 10 * time.Second

// memory holds the state of jobs that the cache does not contain.
type memory struct {
	mu    sync.Mutex
	jobs  map[types.UID]*recollection
	names map[types.NamespacedName]types.UID
}

func newMemory() *memory {
	return &memory{jobs: map[types.UID]*recollection{}, names: map[types.NamespacedName]types.UID{}}
}

// recollection holds the state of one job. The fields below mu are also written by watch handlers; the others are
// written only by the job's reconcile.
type recollection struct {
	ensured    string            // key of the last EnsureObjects
	told       map[string]string // last message for each event reason
	lastStatus time.Time
	remarkAt   time.Time // when a status write that was postponed because of pressure on the API server is due
	written    uint64    // resourceVersion of the controller's last write to the job
	writtenAt  time.Time
	fenced     bool      // the cached job was verified to be current
	groupGone  types.UID // UID of the PodGroup that the controller deleted
	trouble    *plan.Trouble
	since      map[string]time.Time // when undated events were first observed
	unnumbered time.Time            // time until which the job continues without a number
	rejected   int                  // number of consecutive writes that were rejected as invalid
	conflicts  int                  // number of consecutive write conflicts
	soonDelay  time.Duration        // delay before the last retry after an obstacle that should disappear soon; 0: none
	history    jobtrace.History     // attempts to run the job; empty without traces

	mu      sync.Mutex
	created map[types.UID]created
	killed  map[types.UID]time.Time
	lost    map[types.UID]plan.Lost
	reports map[types.UID]plan.Report
	// terminating is the error with which the API server refused to create an object because the job's namespace is being
	// deleted, or nil.
	terminating error
}

// created is a pod that the controller created and that is not yet contained in a list from the cache. A watch event
// about the pod is not enough to remove this entry, because the list from which a plan is made may be older than the
// event, and reading the list takes a long time for a large job.
type created struct {
	pod *corev1.Pod
	at  time.Time
}

// ensureRecollection returns the recollection of the job that currently has this name, creating it if necessary. It
// drops the recollection of an older job with the same name.
func (m *memory) ensureRecollection(name types.NamespacedName, uid types.UID) *recollection {
	m.mu.Lock()
	defer m.mu.Unlock()
	if old := m.names[name]; old != uid {
		delete(m.jobs, old)
		m.names[name] = uid
	}
	r := m.jobs[uid]
	if r == nil {
		r = &recollection{told: map[string]string{}, created: map[types.UID]created{}, killed: map[types.UID]time.Time{}, lost: map[types.UID]plan.Lost{},
			reports: map[types.UID]plan.Report{}}
		m.jobs[uid] = r
	}
	return r
}

// findRecollection returns the recollection of a job, or nil.
func (m *memory) findRecollection(uid types.UID) *recollection {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.jobs[uid]
}

// dropRecollection drops the recollection of the job with this name and returns the job's UID, or "" if it is unknown.
func (m *memory) dropRecollection(name types.NamespacedName) types.UID {
	m.mu.Lock()
	defer m.mu.Unlock()
	uid := m.names[name]
	delete(m.jobs, uid)
	delete(m.names, name)
	return uid
}

// recordGonePod records that a pod no longer exists. An eviction is kept until a plan has handled it, and a termination
// message is kept until the status contains it.
func (r *recollection) recordGonePod(pod *corev1.Pod, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.created, pod.UID)
	_, ours := r.killed[pod.UID]
	delete(r.killed, pod.UID)
	if report, ok := plan.ReportFromPod(pod); ok {
		r.reports[pod.UID] = report
	}
	if lost, ok := plan.LostFromPod(pod, now); ok && !ours {
		r.lost[pod.UID] = lost
	}
}

func (r *recollection) recordCreatedPod(pod *corev1.Pod, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.created[pod.UID] = created{pod: pod, at: now}
}

// recordTerminatingNamespace records that the job's namespace is being deleted, and the error of the API server.
func (r *recollection) recordTerminatingNamespace(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.terminating = err
}

// namespaceTerminating returns the recorded error if the job's namespace is being deleted, or nil.
func (r *recollection) namespaceTerminating() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.terminating
}

func (r *recollection) recordKilledPod(uid types.UID, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.killed[uid] = now
}

func (r *recollection) dropAnsweredLost(uids []types.UID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, uid := range uids {
		delete(r.lost, uid)
	}
}

// dropReports drops the termination messages of pods that the status contains or will never contain.
func (r *recollection) dropReports(uids []types.UID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, uid := range uids {
		delete(r.reports, uid)
	}
}

// completeInput adds the controller's own writes to an input that was read from the cache.
func (r *recollection) completeInput(in *plan.Input) {
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
		clear(r.lost) // these pods may have been handled already; the counters in the status show the actual losses
	}
	in.Lost = slices.AppendSeq(in.Lost, maps.Values(r.lost))
	in.Reports = slices.AppendSeq(in.Reports[:0], maps.Values(r.reports))
	slices.SortFunc(in.Reports, func(x, y plan.Report) int { return cmp.Compare(x.UID, y.UID) })
	slices.SortFunc(in.Lost, func(x, y plan.Lost) int { return cmp.Compare(x.UID, y.UID) })
}

// recordWrite stores the resourceVersion of a write to the job.
func (r *recollection) recordWrite(resourceVersion string, now time.Time) {
	if v, err := strconv.ParseUint(resourceVersion, 10, 64); err == nil {
		r.written, r.writtenAt = v, now
	}
}

// isOutdated reports whether a cached job is older than the controller's last write to it.
func (r *recollection) isOutdated(resourceVersion string, now time.Time) bool {
	v, err := strconv.ParseUint(resourceVersion, 10, 64)
	return err == nil && v < r.written && now.Sub(r.writtenAt) < waitForCache
}
