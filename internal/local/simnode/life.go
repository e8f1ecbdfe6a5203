package simnode

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// stage is the stage of a pod's life.
type stage uint8

const (
	waiting stage = iota // bound, but not started
	running
	backoff // between two runs of the containers
	ended   // Succeeded or Failed; can only be deleted
)

// step is the next event in the life of a pod.
type step uint8

const (
	stepNone     step = iota
	stepStart         // waiting or backoff ─▶ running
	stepExit          // running ─▶ backoff or ended
	stepDeadline      // any stage ─▶ ended, DeadlineExceeded
	stepStop          // deleted while running ─▶ ended; then removed
	stepRemove        // deleted, with no container left to stop
)

// The pauses between two runs of the containers, as in the kubelet.
const (
	backoffFirst = 10 * time.Second
	backoffMax   = 5 * time.Minute
)

// containerSpec holds the fields of a container that the fleet needs.
type containerSpec struct {
	name, image string
	sidecar     bool // an init container with restartPolicy Always
}

// record is the state that the fleet keeps for one pod. The fields of the first block never change. The second block
// describes the pod's life so far.
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
	seen      time.Time // when the fleet first observed the bound pod
	podStart  time.Time // status.startTime, the time of the first start
	started   time.Time // start of the current run
	finished  time.Time // end of the last run
	exitCode  int32     // exit code of the last run
	restarts  int32
	expired   bool // ended by its deadline
	podIP     string
	deletedAt time.Time // when the deletion was observed; zero if the pod is not deleted
	killAt    time.Time // end of the grace period
}

// nextStepAndTime returns the pod's next step and its time. A step that is due remains due until it is taken.
func (r *record) nextStepAndTime() (step, time.Time) {
	if !r.deletedAt.IsZero() {
		if r.stage != running {
			return stepRemove, r.deletedAt
		}
		return stepStop, earlierTime(r.deletedAt.Add(r.script.stopTime), r.killAt)
	}
	what, at := r.nextStepWhileAlive()
	if r.stage == ended || r.deadline == 0 || r.podStart.IsZero() {
		return what, at
	}
	if end := r.podStart.Add(r.deadline); what == stepNone || end.Before(at) {
		return stepDeadline, end
	}
	return what, at
}

// nextStepWhileAlive returns the next step without considering deletion and deadline.
func (r *record) nextStepWhileAlive() (step, time.Time) {
	switch r.stage {
	case waiting:
		if r.script.startDelay >= 0 {
			return stepStart, r.seen.Add(r.script.startDelay)
		}
	case running:
		if length, ok := r.script.lengthOfRun(string(r.uid), r.restarts); ok {
			return stepExit, r.started.Add(length)
		}
	case backoff:
		return stepStart, r.finished.Add(backoffAfter(r.restarts))
	}
	return stepNone, time.Time{}
}

// recordAfterStep returns the record after a step that is taken at the time now.
func (r record) recordAfterStep(what step, now time.Time) record {
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
		r.exitCode, r.finished = r.script.exitCodeOfRun(string(r.uid), r.restarts), now
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

// restartsAfter reports whether the restart policy requires the containers to run again.
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

// backoffAfter returns the pause before the run that follows a given number of restarts.
func backoffAfter(restarts int32) time.Duration {
	pause := backoffFirst
	for range restarts {
		if pause *= 2; pause >= backoffMax {
			return backoffMax
		}
	}
	return pause
}

func earlierTime(a, b time.Time) time.Time {
	if b.IsZero() || a.Before(b) {
		return a
	}
	return b
}
