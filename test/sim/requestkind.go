package sim

import (
	"fmt"

	"github.com/vc-batch/vc/test/apiserver"
)

// requestKind is a kind of requests that one of the programs sends.
type requestKind struct {
	program     string // "scheduler" or "controllers"
	verb        apiserver.Verb
	subresource string
	kind        string // "" means any write
	text        string // the request in words, for stories
}

// requestKinds are the requests at which faults strike. Important ones occur several times, so that they are drawn more
// often.
var requestKinds = []requestKind{
	{"scheduler", apiserver.Create, "binding", "Pod", "binding of a pod"},
	{"scheduler", apiserver.Create, "binding", "Pod", "binding of a pod"},
	{"scheduler", apiserver.Create, "binding", "Pod", "binding of a pod"},
	{"scheduler", apiserver.Delete, "", "Pod", "eviction of a pod"},
	{"scheduler", apiserver.Delete, "", "Pod", "eviction of a pod"},
	{"scheduler", apiserver.Delete, "", "Pod", "eviction of a pod"},
	{"scheduler", apiserver.Patch, "status", "Pod", "write of a pod's status"},
	{"scheduler", apiserver.Patch, "", "PodGroup", "write of a PodGroup's status"},
	{"scheduler", apiserver.Patch, "", "PodGroup", "write of a PodGroup's status"},
	{"scheduler", apiserver.Patch, "status", "Queue", "write of a queue's status"},
	{"scheduler", "", "", "", "write of any kind"},
	{"scheduler", apiserver.Update, "", "Lease", "renewal of the lease"},
	{"controllers", apiserver.Create, "", "Pod", "creation of a pod"},
	{"controllers", apiserver.Create, "", "Pod", "creation of a pod"},
	{"controllers", apiserver.Create, "", "Pod", "creation of a pod"},
	{"controllers", apiserver.Delete, "", "Pod", "deletion of a pod"},
	{"controllers", apiserver.Delete, "", "Pod", "deletion of a pod"},
	{"controllers", apiserver.Update, "status", "Job", "write of a job's status"},
	{"controllers", apiserver.Update, "status", "Job", "write of a job's status"},
	{"controllers", apiserver.Create, "", "PodGroup", "creation of a PodGroup"},
	{"controllers", apiserver.Patch, "", "PodGroup", "change of a PodGroup"},
	{"controllers", apiserver.Delete, "", "PodGroup", "deletion of a PodGroup"},
	{"controllers", apiserver.Delete, "", "Command", "deletion of a Command"},
	{"controllers", apiserver.Create, "", "Job", "creation of a job of a JobFlow"},
	{"controllers", apiserver.Update, "status", "JobFlow", "write of a JobFlow's status"},
	{"controllers", apiserver.Create, "", "Service", "creation of a Service"},
	{"controllers", apiserver.Patch, "status", "Queue", "write of a queue's status"},
	{"controllers", apiserver.List, "", "Pod", "list of pods that are not cached"},
	{"controllers", "", "", "", "write of any kind"},
	{"controllers", apiserver.Update, "", "Lease", "renewal of the lease"},
}

// drawRequestKind draws a kind of requests. Half of the draws are for each program.
func drawRequestKind(s *drawing) *requestKind {
	program := []string{"scheduler", "controllers"}[s.IntN(2)]
	for {
		if k := &requestKinds[s.IntN(len(requestKinds))]; k.program == program {
			return k
		}
	}
}

// matches reports whether a request is of this kind.
func (k *requestKind) matches(l *link, r *apiserver.Request) bool {
	replica := l.process.world.replicaOf(l.process)
	if replica == nil || replica.program != k.program {
		return false
	}
	if k.kind == "" {
		return r.IsWrite() && r.Kind.Kind != "Lease"
	}
	return r.Verb == k.verb && r.Subresource == k.subresource && r.Kind.Kind == k.kind
}

// ordinal returns a number as a word or with its ending, such as "third" or "12th".
func ordinal(n int) string {
	words := []string{"first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth"}
	if n <= len(words) {
		return words[n-1]
	}
	return fmt.Sprintf("%dth", n)
}
