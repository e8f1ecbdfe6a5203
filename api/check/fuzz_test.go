package check

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// FuzzObjects checks arbitrary JSON with the rules of every kind, as a created, an updated and a deleted object: there
// must be no panic, every error must name a field, and results must be reproducible.
func FuzzObjects(f *testing.F) {
	for _, seed := range []string{
		`{}`, `7`, `null`, `[]`, `""`, `{"metadata":7}`, `{"metadata":{"name":"x"},"spec":null}`, `{"spec":{"tasks":[null]}}`, `{"spec":{"tasks":[{}]}}`,
		`{"metadata":{"name":"x"},"spec":{"tasks":[{"name":"a","replicas":2,"template":{"spec":{"containers":[{"name":"c","image":"i"}]}}}]}}`,
		`{"metadata":{"name":"x","annotations":{"vc-batch.dev/array":"0-9","vc-batch.dev/dependency":"afterok:1"}},"spec":{"tasks":[{"replicas":1}],"plugins":{"mpi":["--master=a"],"ray":null}}}`,
		`{"metadata":{"name":"x"},"spec":{"schedule":"* * * * *","timeZone":"UTC","jobTemplate":{"spec":{"tasks":[{}]}}}}`,
		`{"metadata":{"name":"x"},"spec":{"flows":[{"name":"a","dependsOn":{"targets":["a"],"probe":{"httpGetList":[{}]}}}]}}`,
		`{"metadata":{"name":"x"},"spec":{"tier":1,"members":[{"type":"Node","selector":{"regexMatch":{"pattern":"("}}}]}}`,
		`{"metadata":{"name":"x"},"spec":{"parent":"x","capability":{"cpu":"1e99"},"guarantee":{"resource":{"a b":-1}}}}`,
		`{"metadata":{"name":"x","annotations":{"volcano.sh/jdb-min-available":"1%"}},"spec":{"schedulerName":"volcano"}}`,
	} {
		f.Add([]byte(seed), []byte(seed))
	}
	queues := schedulingv1beta1.NewQueueLookup(&schedulingv1beta1.Queue{}, &schedulingv1beta1.Queue{Spec: schedulingv1beta1.QueueSpec{Parent: "x"}})
	f.Fuzz(func(t *testing.T, old, object []byte) {
		if !json.Valid(old) || !json.Valid(object) {
			return
		}
		for _, kind := range Kinds() {
			judged := func() []Verdict {
				around := &Around{Queues: queues}
				return []Verdict{Create(kind, object, around), Update(kind, old, object, around), Delete(kind, "x", around)}
			}
			verdicts := judged()
			for _, err := range slices.Concat(verdicts[0].Errors, verdicts[1].Errors, verdicts[2].Errors) {
				if err.Field == "" || err.Error() == "" {
					t.Errorf("%s: an error without a field: %v", kind.Kind, err)
				}
			}
			if !reflect.DeepEqual(verdicts, judged()) {
				t.Errorf("%s: judged twice, it is said otherwise", kind.Kind)
			}
		}
	})
}
