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

// ownWriteLifetime is how long the controller relies on one of its own writes that the cache does not show.
const ownWriteLifetime = time.Minute

// waitForCache is how long a reconcile waits for the cache to show the controller's last write to the job.
const waitForCache = 10 * time.Second

// stateStore holds the state of each job that the cache does not contain.
type stateStore struct {
	mu    sync.Mutex
	jobs  map[types.UID]*jobState
	names map[types.NamespacedName]types.UID
}

func newStateStore() *stateStore {
	return &stateStore{jobs: map[types.UID]*jobState{}, names: map[types.NamespacedName]types.UID{}}
}

// jobState holds the state of one job. The fields below mu are also written by watch handlers; the others are
// written only by the job's reconcile.
type jobState struct {
	ensured        string            // key of the last EnsureObjects
	lastMessages   map[string]string // last message for each event reason
	lastStatus     time.Time
	postponedUntil time.Time // when a status write that was postponed because of pressure on the API server is due
	written        uint64    // resourceVersion of the controller's last write to the job
	writtenAt      time.Time
	fenced         bool      // the cached job was verified to be current
	groupGone      types.UID // UID of the PodGroup that the controller deleted
	trouble        *plan.Trouble
	since          map[string]time.Time // when undated events were first observed
	unnumbered     time.Time            // time until which the job continues without a number
	rejected       int                  // number of consecutive writes that were rejected as invalid
	conflicts      int                  // number of consecutive write conflicts
	soonDelay      time.Duration        // delay before the last retry after an obstacle that should disappear soon; 0: none
	history        jobtrace.History     // attempts to run the job; empty without traces

	mu      sync.Mutex
	created map[types.UID]created
	// creating is the number of pods that are being created. gone holds the pods that have ceased to exist since this number was 0:
	// the response to the creation of such a pod may arrive after the event of its deletion.
	creating int
	gone     map[types.UID]bool
	killed   map[types.UID]time.Time
	lost     map[types.UID]plan.Lost
	reports  map[types.UID]plan.Report
	// terminating is the error with which the API server refused to create an object because the job's namespace is
	// being deleted, or nil.
	terminating error
}

// created is a pod that the controller created and that is not yet contained in a list from the cache. A watch event
// about the pod is not enough to remove this entry, because the list from which a plan is made may be older than the
// event, and reading the list takes a long time for a large job.
type created struct {
	pod *corev1.Pod
	at  time.Time
}

// ensureState returns the state of the job that currently has this name, creating it if necessary. It drops the state
// of an older job with the same name.
func (m *stateStore) ensureState(name types.NamespacedName, uid types.UID) *jobState {
	m.mu.Lock()
	defer m.mu.Unlock()
	if old := m.names[name]; old != uid {
		delete(m.jobs, old)
		m.names[name] = uid
	}
	r := m.jobs[uid]
	if r == nil {
		r = &jobState{lastMessages: map[string]string{}, created: map[types.UID]created{}, gone: map[types.UID]bool{}, killed: map[types.UID]time.Time{}, lost: map[types.UID]plan.Lost{},
			reports: map[types.UID]plan.Report{}}
		m.jobs[uid] = r
	}
	return r
}

// findState returns the state of a job, or nil.
func (m *stateStore) findState(uid types.UID) *jobState {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.jobs[uid]
}

// dropState drops the state of the job with this name and returns the job's UID, or "" if it is unknown.
func (m *stateStore) dropState(name types.NamespacedName) types.UID {
	m.mu.Lock()
	defer m.mu.Unlock()
	uid := m.names[name]
	delete(m.jobs, uid)
	delete(m.names, name)
	return uid
}

// recordGonePod records that a pod no longer exists. An eviction is kept until a plan has handled it, and a termination
// message is kept until the status contains it.
func (r *jobState) recordGonePod(pod *corev1.Pod, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.created, pod.UID)
	if r.creating > 0 {
		r.gone[pod.UID] = true
	}
	_, ours := r.killed[pod.UID]
	delete(r.killed, pod.UID)
	if report, ok := plan.ReportFromPod(pod); ok {
		r.reports[pod.UID] = report
	}
	if lost, ok := plan.LostFromPod(pod, now); ok && !ours {
		r.lost[pod.UID] = lost
	}
}

// beginCreation records that a pod is being created.
func (r *jobState) beginCreation() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.creating++
}

// endCreation records the end of a creation, whether or not it succeeded.
func (r *jobState) endCreation() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.creating--; r.creating == 0 {
		clear(r.gone)
	}
}

// recordCreatedPod records a pod that was created between beginCreation and endCreation, unless it is already gone.
func (r *jobState) recordCreatedPod(pod *corev1.Pod, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.gone[pod.UID] {
		r.created[pod.UID] = created{pod: pod, at: now}
	}
}

// createdPodsExpireAfter returns how long the oldest record of a created pod that no list contained is still used. ok is false if
// there is none. Without another plan after that time, a pod that was created and deleted while the watch was interrupted, about
// which no event arrives, would never be re-created.
func (r *jobState) createdPodsExpireAfter(now time.Time) (wait time.Duration, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	wait = ownWriteLifetime
	for _, c := range r.created {
		wait = min(wait, ownWriteLifetime-now.Sub(c.at))
	}
	return max(wait, 0) + time.Second, len(r.created) > 0
}

// recordTerminatingNamespace records that the job's namespace is being deleted, and the error of the API server.
func (r *jobState) recordTerminatingNamespace(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.terminating = err
}

// namespaceTerminating returns the recorded error if the job's namespace is being deleted, or nil.
func (r *jobState) namespaceTerminating() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.terminating
}

func (r *jobState) recordKilledPod(uid types.UID, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.killed[uid] = now
}

func (r *jobState) dropAnsweredLost(uids []types.UID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, uid := range uids {
		delete(r.lost, uid)
	}
}

// dropReports drops the termination messages of pods that the status contains or will never contain.
func (r *jobState) dropReports(uids []types.UID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, uid := range uids {
		delete(r.reports, uid)
	}
}

// completeInput adds the controller's own writes to an input that was read from the cache.
func (r *jobState) completeInput(in *plan.Input) {
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
		case shown[uid] || in.Now.Sub(c.at) > ownWriteLifetime:
			delete(r.created, uid)
		default:
			in.Pods = append(in.Pods, c.pod)
		}
	}
	in.Killed = make(map[types.UID]bool, len(r.killed))
	for uid, at := range r.killed {
		if in.Now.Sub(at) > ownWriteLifetime {
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
func (r *jobState) recordWrite(resourceVersion string, now time.Time) {
	if v, err := strconv.ParseUint(resourceVersion, 10, 64); err == nil {
		r.written, r.writtenAt = v, now
	}
}

// isOutdated reports whether a cached job is older than the controller's last write to it.
func (r *jobState) isOutdated(resourceVersion string, now time.Time) bool {
	v, err := strconv.ParseUint(resourceVersion, 10, 64)
	return err == nil && v < r.written && now.Sub(r.writtenAt) < waitForCache
}
