package scenarios

import (
	"slices"
	"strings"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/test/make"
)

// qos sets a QOS: qos NAME [maxrunning=N] [max:RESOURCE=AMOUNT]. The words also exist with the prefix user, for limits of
// each user, and with the prefix account, for limits of each account.
func (w *world) qos(args []string) []string {
	b := make.QOS(args[0])
	for _, word := range args[1:] {
		key, value := pair(word)
		kind, resource, _ := strings.Cut(key, ":")
		limit, of := kind, make.AllJobs
		if rest, found := strings.CutPrefix(kind, "user"); found {
			limit, of = rest, make.JobsOfUser
		} else if rest, found := strings.CutPrefix(kind, "account"); found {
			limit, of = rest, make.JobsOfAccount
		}
		switch limit {
		case "maxrunning":
			b.MaxRunningJobs(of, int32(number(w, value)))
		case "max":
			b.MaxResource(of, long(resource), value)
		default:
			w.fatal("qos: %q: no such word", word)
		}
	}
	w.services = slices.DeleteFunc(w.services, func(q model.QOSSet) bool { return q.Name == args[0] })
	w.services = append(w.services, model.QOSFrom(b.Obj()))
	w.model.Apply(model.QOSFrom(b.Obj()))
	return []string{"qos " + args[0]}
}
