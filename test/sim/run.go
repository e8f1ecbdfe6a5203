package sim

import (
	"io"
	"time"
)

// worldOptions are the options of a run.
type worldOptions struct {
	log io.Writer // receives the trace; nil means none
}

// Durations after the last action of a script.
const (
	// settleTime is the time without faults within which every job that can run must have ended. The longest run of a
	// pod is five minutes, the longest grace period 15 minutes, and jobs may restart several times.
	settleTime = 2 * time.Hour
	// quietTime is the time without a change of a job or pod after which nothing will change any more. It is longer than
	// any grace period and any run of a pod.
	quietTime = 16 * time.Minute
	// longestSubmission is how long after the last action a job or flow may be created, because a webhook responds late.
	longestSubmission = time.Minute
	// idleTime is the same while no pod runs or is being stopped. It is longer than any timeout of a policy, any retry
	// of a controller, and the time for which a gang can hold up others.
	idleTime = 5 * time.Minute
	// checkInterval is the interval between checks of the invariants that depend on time.
	checkInterval = 10 * time.Second
)

// runScript runs a script to its end and returns the world.
func runScript(s *script, options worldOptions) *World {
	w := newScriptedWorld(s, options)
	calm := epoch.Add(storyLength)
	w.runAndCheckGangs(calm)
	w.stopFaults()
	for end := calm.Add(settleTime); w.violation == nil && w.now.Before(end) && !w.isSettled(); {
		w.runAndCheckGangs(w.now.Add(checkInterval))
		w.checkConfigurations()
		w.checkWaiting()
		w.checkDueRuns()
		w.checkSurplus()
		w.checkPolicies()
	}
	if w.violation == nil {
		w.runUntil(w.restTime(calm))
		w.checkRest()
	}
	w.trace("END %s", w.summary())
	w.close()
	return w
}

// restTime returns the time at which the world is at rest after it has settled: garbage is collected, and the last statuses are
// written. The time between two writes of a status is measured with the clock that jumps, so a program whose clock was ahead
// writes again when the corrected clock shows the time of its last write.
func (w *World) restTime(calm time.Time) time.Time {
	rest, caughtUp := w.now.Add(2*time.Minute), calm.Add(w.checks.gates.fastestClock+time.Minute)
	if caughtUp.After(rest) {
		return caughtUp
	}
	return rest
}

// stopFaults ends all faults.
func (w *World) stopFaults() {
	w.trace("FAULTS STOP")
	w.calm = true
	w.serverDown, w.storageFull = false, false
	w.webhookService.isDown, w.webhookService.slow = false, 0
	w.failpoints, w.refusals = nil, nil
	for _, r := range w.replicas {
		r.weather, r.stale, r.expireWatches, r.lists = weather{}, 0, 0, listFaults{}
		clear(r.lags)
		if r.process == nil {
			continue
		}
		r.process.offset = 0
		if r.process.paused {
			r.process.resume()
		}
	}
	for _, k := range w.kubelets {
		if k.process == nil {
			w.returnNode(k.node)
		}
		w.reconnectNode(k.node)
		w.restoreNode(k.node)
		w.setCordoned(k.node, false)
	}
}

// isSettled reports whether every job and flow has ended and every deleted pod is gone, or nothing has changed for a long
// time. CronJobs are suspended before that.
func (w *World) isSettled() bool {
	if w.now.Before(epoch.Add(storyLength+longestSubmission)) || w.hasActiveCronJob() {
		return false
	}
	quiet := w.now.Sub(w.lastChange)
	isIdle := quiet > idleTime && !w.hasLivePods()
	if isIdle || quiet > quietTime {
		return true
	}
	for _, pod := range w.state.pods {
		isUnfinished := isPlain(pod) && !isFinished(pod)
		isRunning := pod.Spec.NodeName != "" && !isFinished(pod) // also in a PodGroup of a user
		if pod.DeletionTimestamp != nil || isUnfinished || isRunning {
			return false
		}
	}
	for _, job := range w.state.jobs {
		if !isSettledPhase(job.Status.State.Phase) || job.DeletionTimestamp != nil {
			return false
		}
	}
	return !w.hasUnfinishedFlow() && !w.hasDueGroup()
}

// hasLivePods reports whether a pod is on a node and has not ended, or is being deleted.
func (w *World) hasLivePods() bool {
	for _, pod := range w.state.pods {
		isLive := pod.Spec.NodeName != "" && !isFinished(pod)
		if isLive || pod.DeletionTimestamp != nil {
			return true
		}
	}
	return false
}

// close ends all processes and coroutines, so that no goroutine remains.
func (w *World) close() {
	w.outside.end()
	for _, r := range w.replicas {
		if r.process != nil {
			r.process.end()
		}
	}
	for _, c := range w.idle {
		c.stop()
	}
	w.idle = nil
}
