package simnode

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// stage is where a pod stands.
type stage uint8

const (
	waiting stage = iota // bound, not started
	running
	backoff // between two runs of its containers
	ended   // Succeeded or Failed: nothing happens any more but deletion
)

// step is what happens to a pod next.
type step uint8

const (
	stepNone     step = iota
	stepStart         // waiting or backoff ─▶ running
	stepExit          // running ─▶ backoff or ended
	stepDeadline      // anything ─▶ ended, DeadlineExceeded
	stepStop          // deleted while running ─▶ ended; then removed
	stepRemove        // deleted and nothing left to stop
)

// Back-off between two runs, as the kubelet's.
const (
	backoffFirst = 10 * time.Second
	backoffMax   = 5 * time.Minute
)

// containerSpec is what the fleet remembers of a container.
type containerSpec struct {
	name, image string
	sidecar     bool // an init container that restarts always
}

// record is what the fleet knows of one pod. The fields of the first block
// never change; the second block is the pod's life so far.
type record struct {
	name       types.NamespacedName
	uid        types.UID
	node       string
	restart    corev1.RestartPolicy
	inits      []containerSpec
	containers []containerSpec
	script     script
	deadline   time.Duration // activeDeadlineSeconds; 0 is none

	stage     stage
	seen      time.Time // bound, as far as the fleet knows
	podStart  time.Time // status.startTime: the first start
	started   time.Time // of the present run
	finished  time.Time // of the last run
	exitCode  int32     // of the last run
	restarts  int32
	expired   bool // ended by its deadline
	podIP     string
	deletedAt time.Time // when the deletion was seen; zero: not deleted
	killAt    time.Time // end of the grace period
}

// next says which step the pod takes next, and when. Invariant: a step that is
// due at some time is due at every later time until it is taken.
func (r *record) next() (step, time.Time) {
	if !r.deletedAt.IsZero() {
		if r.stage != running {
			return stepRemove, r.deletedAt
		}
		return stepStop, earlier(r.deletedAt.Add(r.script.stopTime), r.killAt)
	}
	what, at := r.nextAlive()
	if r.stage == ended || r.deadline == 0 || r.podStart.IsZero() {
		return what, at
	}
	if end := r.podStart.Add(r.deadline); what == stepNone || end.Before(at) {
		return stepDeadline, end
	}
	return what, at
}

// nextAlive is next for a pod that nobody deletes and that has no deadline.
func (r *record) nextAlive() (step, time.Time) {
	switch r.stage {
	case waiting:
		if r.script.startDelay >= 0 {
			return stepStart, r.seen.Add(r.script.startDelay)
		}
	case running:
		if length, ok := r.script.run(string(r.uid), r.restarts); ok {
			return stepExit, r.started.Add(length)
		}
	case backoff:
		return stepStart, r.finished.Add(backoffAfter(r.restarts))
	}
	return stepNone, time.Time{}
}

// take is the record after a step taken at now.
func (r record) take(what step, now time.Time) record {
	switch what {
	case stepStart:
		if r.stage == backoff {
			r.restarts++
		}
		r.stage, r.started = running, now
		if r.podStart.IsZero() {
			r.podStart = now
		}
	case stepExit:
		r.exitCode, r.finished = r.script.exit(string(r.uid), r.restarts), now
		r.stage = ended
		if r.restartsAfter(r.exitCode) {
			r.stage = backoff
		}
	case stepDeadline:
		if r.stage == running {
			r.exitCode, r.finished = codeKilled, now
		}
		r.stage, r.expired = ended, true
	case stepStop:
		r.exitCode, r.finished, r.stage = codeTerminated, now, ended
		if !r.killAt.IsZero() && !now.Before(r.killAt) && r.deletedAt.Add(r.script.stopTime).After(r.killAt) {
			r.exitCode = codeKilled
		}
	}
	return r
}

// restartsAfter says whether the restart policy runs the containers again.
func (r record) restartsAfter(code int32) bool {
	switch r.restart {
	case corev1.RestartPolicyNever:
		return false
	case corev1.RestartPolicyOnFailure:
		return code != 0
	default: // Always is the API's default
		return true
	}
}

// backoffAfter is the pause before the run after the given number of restarts.
func backoffAfter(restarts int32) time.Duration {
	pause := backoffFirst
	for range restarts {
		if pause *= 2; pause >= backoffMax {
			return backoffMax
		}
	}
	return pause
}

func earlier(a, b time.Time) time.Time {
	if b.IsZero() || a.Before(b) {
		return a
	}
	return b
}
