package simnode

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// stage is the stage of a pod's life.
type stage uint8

const (
	waiting stage = iota // bound, not started
	running
	backoff // between two runs of its containers
	ended   // Succeeded or Failed: only deletion can follow
)

// step is the next event in a pod's life.
type step uint8

const (
	stepNone     step = iota
	stepStart         // waiting or backoff ─▶ running
	stepExit          // running ─▶ backoff or ended
	stepDeadline      // any stage ─▶ ended, DeadlineExceeded
	stepStop          // deleted while running ─▶ ended; then removed
	stepRemove        // deleted, and no container left to stop
)

// Back-off between two runs, as in the kubelet.
const (
	backoffFirst = 10 * time.Second
	backoffMax   = 5 * time.Minute
)

// containerSpec holds the stored fields of a container.
type containerSpec struct {
	name, image string
	sidecar     bool // an init container with restartPolicy Always
}

// record is the fleet's state of one pod. The fields of the first block never change. The second block describes the
// pod's life so far.
type record struct {
	name       types.NamespacedName
	uid        types.UID
	node       string
	restart    corev1.RestartPolicy
	inits      []containerSpec
	containers []containerSpec
	script     script
	deadline   time.Duration // activeDeadlineSeconds; 0 means none

	stage     stage
	seen      time.Time // when the fleet first saw the pod bound
	podStart  time.Time // status.startTime: the first start
	started   time.Time // of the current run
	finished  time.Time // of the last run
	exitCode  int32     // of the last run
	restarts  int32
	expired   bool // ended by its deadline
	podIP     string
	deletedAt time.Time // when the deletion was seen; zero: not deleted
	killAt    time.Time // end of the grace period
}

// next returns the pod's next step and its time. Invariant: a step that is due at some time stays due until it is
// taken.
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

// nextAlive returns the next step, ignoring deletion and deadline.
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

// take returns the record after a step taken at now.
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

// restartsAfter reports whether the restart policy runs the containers again.
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

// backoffAfter returns the pause before the run that follows the given number of restarts.
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
