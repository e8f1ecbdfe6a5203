package keys

import (
	"maps"
	"slices"
	"strings"
)

// ours lists all keys with OurPrefix.
var ours = []string{
	Account, QOS, Recorded, Used, TaskRequests, TaskPlacements, TimeLimit, RerunOf, RetryFailed,
	RunningEstimate, Backfill, User, TakenOver, QueueState, ElasticCluster, NodeKind, NumaCPUs, JobID, JobIDWas, JobTitle, Hold, Begin, Dependency, DependencyNamespaces,
	KillOnInvalidDependency, Array, ArrayLimit, ArrayCancelled, ArrayCancelledBy, ArrayIndex, ElementID, Restarts, KeepFinished, CancelledBy, Slurm, DrainReason, DrainedBy, DrainedAt,
}

// simulation follows OurPrefix in the keys that simulated nodes read from pods.
const simulation = "sim-"

// Unknown returns the unknown keys with OurPrefix, sorted. They are probably misspelt.
func Unknown(annotations map[string]string) []string {
	var unknown []string
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		if name, is := strings.CutPrefix(key, OurPrefix); is && !slices.Contains(ours, key) && !strings.HasPrefix(name, simulation) {
			unknown = append(unknown, key)
		}
	}
	return unknown
}

// Like returns the known keys that share OurPrefix and the next two letters with key, sorted.
func Like(key string) []string {
	begin := key[:min(len(key), len(OurPrefix)+2)]
	var like []string
	for _, one := range ours {
		if strings.HasPrefix(one, begin) {
			like = append(like, one)
		}
	}
	slices.Sort(like)
	return like
}
