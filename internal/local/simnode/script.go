package simnode

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
	"time"
)

// Annotations that control the simulation of a pod.
const (
	// AnnotationRunTime is the run time of the containers: "30s", or a range such as "10s-60s" from which a time is
	// chosen based on the pod's UID. Without it, a pod runs until it is deleted or, if it has an exit code or a
	// failure rate, ends right after its start.
	AnnotationRunTime = "vc-batch.dev/sim-run-time"
	// AnnotationExitCode is the exit code of the containers, 0 … 255. If there is a failure rate, it is the code of
	// failed runs.
	AnnotationExitCode = "vc-batch.dev/sim-exit-code"
	// AnnotationFailureRate is the fraction of runs that fail: "0.05" or "5%". The pod's UID and its number of
	// restarts determine which runs fail.
	AnnotationFailureRate = "vc-batch.dev/sim-failure-rate"
	// AnnotationStartDelay is the time from the binding until the pod is Running: "2s", or "never".
	AnnotationStartDelay = "vc-batch.dev/sim-start-delay"
	// AnnotationStopTime is how long the containers take to stop when the pod is deleted. After the grace period,
	// they are killed.
	AnnotationStopTime = "vc-batch.dev/sim-stop-time"
)

// script holds the values of a pod's annotations, with defaults.
type script struct {
	startDelay time.Duration // Never: the pod stays Pending
	runMin     time.Duration // Never: the pod runs until it is deleted
	runMax     time.Duration
	exitCode   int32
	failRate   float64 // negative: every run ends with exitCode
	stopTime   time.Duration
}

// problem is an invalid annotation.
type problem struct {
	key, value string
	want       string // description of valid values
	instead    string // what happens because it is ignored
}

func (p problem) String() string {
	return fmt.Sprintf("annotation %s is ignored: %q is not %s; %s", p.key, p.value, p.want, p.instead)
}

// parseScript parses the annotations of a pod. Invalid ones are ignored and reported.
func parseScript(annotations map[string]string, startDelay time.Duration) (script, []problem) {
	s := script{startDelay: startDelay, runMin: Never, runMax: Never, failRate: -1}
	var problems []problem
	read := func(key, want, instead string, set func(string) bool) bool {
		value, ok := annotations[key]
		if !ok {
			return false
		}
		if set(strings.TrimSpace(value)) {
			return true
		}
		problems = append(problems, problem{key: key, value: value, want: want, instead: instead})
		return false
	}
	read(AnnotationStartDelay, "a duration such as 2s, or never", "the pod starts after the default delay", func(v string) (ok bool) {
		delay, err := ParseStart(v)
		if err == nil {
			s.startDelay = delay
		}
		return err == nil
	})
	hasCode := read(AnnotationExitCode, "a whole number from 0 to 255", "the pod ends with exit code 0", func(v string) bool {
		code, err := strconv.ParseUint(v, 10, 8)
		if err == nil {
			s.exitCode = int32(code)
		}
		return err == nil
	})
	hasRate := read(AnnotationFailureRate, "a probability from 0 to 1 such as 0.05, or a percentage such as 5%", "the pod does not fail at random", func(v string) bool {
		rate, ok := parseShare(v)
		if ok {
			s.failRate = rate
		}
		return ok
	})
	if hasCode || hasRate {
		s.runMin, s.runMax = 0, 0
	}
	read(AnnotationRunTime, "a duration such as 30s or a range such as 10s-60s", "the pod runs until it is deleted", func(v string) bool {
		low, high, ok := parseRange(v)
		if !ok {
			low, high = Never, Never
		}
		s.runMin, s.runMax = low, high
		return ok
	})
	read(AnnotationStopTime, "a duration such as 5s", "the pod stops immediately when it is deleted", func(v string) bool {
		stop, err := time.ParseDuration(v)
		if err != nil || stop < 0 {
			return false
		}
		s.stopTime = stop
		return true
	})
	return s, problems
}

// parseShare parses a fraction such as "0.05" or "5%".
func parseShare(text string) (float64, bool) {
	number, percent := strings.CutSuffix(text, "%")
	share, err := strconv.ParseFloat(number, 64)
	if percent {
		share /= 100
	}
	return share, err == nil && share >= 0 && share <= 1
}

// parseRange parses a range of durations, such as "10s-60s". A single duration is a range with equal ends.
func parseRange(text string) (low, high time.Duration, ok bool) {
	from, to, isRange := strings.Cut(text, "-")
	if !isRange {
		to = from
	}
	low, errLow := time.ParseDuration(from)
	high, errHigh := time.ParseDuration(to)
	areDurations := errLow == nil && errHigh == nil
	return low, high, areDurations && 0 <= low && low <= high
}

// lengthOfRun returns the length of a run of the pod. ok is false if only deletion ends the run.
func (s script) lengthOfRun(uid string, restarts int32) (length time.Duration, ok bool) {
	if s.runMin < 0 {
		return 0, false
	}
	spread := float64(s.runMax - s.runMin)
	return s.runMin + time.Duration(spread*randomFraction(uid, "run", restarts)), true
}

// exitCodeOfRun returns the exit code of a run.
func (s script) exitCodeOfRun(uid string, restarts int32) int32 {
	if s.failRate < 0 {
		return s.exitCode
	}
	if randomFraction(uid, "fail", restarts) >= s.failRate {
		return 0
	}
	return max(s.exitCode, 1)
}

// randomFraction returns a number in [0, 1) that depends only on the arguments.
func randomFraction(uid, what string, restarts int32) float64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s/%s/%d", uid, what, restarts)
	x := h.Sum64()
	// FNV hashes of similar strings have similar high bits. These steps (the finalizer of splitmix64) spread every
	// bit over all bits.
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	x ^= x >> 31
	return float64(x>>11) / (1 << 53)
}
