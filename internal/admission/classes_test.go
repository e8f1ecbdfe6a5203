package admission

import (
	"net/http"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

const ofAJob = `,"ownerReferences":[{"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","name":"j","uid":"j","controller":true}]`

func TestAPriorityClassIsNamedByWhoMayUseItWhereThatIsRequired(t *testing.T) {
	t.Parallel()
	job := func(class string) string {
		return `{"metadata":{"name":"x","namespace":"nlp"},"spec":{"schedulerName":"volcano","queue":"default","minAvailable":1,"priorityClassName":"` + class + `","tasks":[` + goodTask + `]}}`
	}
	group := func(owners string) string {
		return `{"metadata":{"name":"x","namespace":"nlp"` + owners + `},"spec":{"queue":"default","minMember":1,"priorityClassName":"urgent"}}`
	}
	tests := map[string]struct {
		user, kind, object, old string
		off                     bool
		says                    string // "" if it is allowed
	}{
		"a job of who may not":                  {user: "alice", kind: "Job", object: job("urgent"), says: `spec.priorityClassName: Forbidden: user "alice" is not allowed to use priority class urgent in this namespace`},
		"a job of who may":                      {user: "bob", kind: "Job", object: job("urgent")},
		"a job without a class":                 {user: "alice", kind: "Job", object: job("")},
		"where no right is required":            {user: "alice", kind: "Job", object: job("urgent"), off: true},
		"a change that leaves the class":        {user: "alice", kind: "Job", object: job("urgent"), old: job("urgent")},
		"a change of the class":                 {user: "alice", kind: "Job", object: job("urgent"), old: job("low"), says: "is not allowed to use priority class urgent"},
		"a PodGroup of who may not":             {user: "alice", kind: "PodGroup", object: group(""), says: "is not allowed to use priority class urgent"},
		"a PodGroup that claims to be made":     {user: "alice", kind: "PodGroup", object: group(ofAJob), says: "is not allowed to use priority class urgent"},
		"a PodGroup that the controllers make":  {user: "controllers", kind: "PodGroup", object: group(ofAJob)},
		"a PodGroup of theirs without an owner": {user: "controllers", kind: "PodGroup", object: group(""), says: "is not allowed to use priority class urgent"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			operation := admissionv1.Create
			if test.old != "" {
				operation = admissionv1.Update
			}
			r := request(operation, test.kind, test.object, test.old)
			r.UserInfo = authenticationv1.UserInfo{Username: test.user}
			h := guarded(t)
			h.requireClassUse = !test.off
			h.reviews = rights{"bob use priorityclasses nlp": true, "controllers update jobs ": true}
			kind := jobKind
			if test.kind == "PodGroup" {
				kind = schedulingv1beta1.GroupVersion.WithKind("PodGroup")
			}
			code := int32(0)
			if test.says != "" {
				code = http.StatusUnprocessableEntity
			}
			requireResponse(t, h.validateHandler(kind)(t.Context(), r), code, test.says)
		})
	}
}

func TestEveryPlaceThatNamesAPriorityClassIsFound(t *testing.T) {
	t.Parallel()
	const tasks = `"tasks":[{"template":{"spec":{}}},{"template":{"spec":{"priorityClassName":"urgent"}}}]`
	for name, c := range map[string]struct{ object, at string }{
		"a job":                     {`{"spec":{"priorityClassName":"urgent"}}`, "spec.priorityClassName"},
		"a task":                    {`{"spec":{` + tasks + `}}`, "spec.tasks[1].template.spec.priorityClassName"},
		"a CronJob":                 {`{"spec":{"jobTemplate":{"spec":{"priorityClassName":"urgent"}}}}`, "spec.jobTemplate.spec.priorityClassName"},
		"a task of a CronJob":       {`{"spec":{"jobTemplate":{"spec":{` + tasks + `}}}}`, "spec.jobTemplate.spec.tasks[1].template.spec.priorityClassName"},
		"a step of a JobFlow":       {`{"spec":{"flows":[{},{"patch":{"jobSpec":{"priorityClassName":"urgent"}}}]}}`, "spec.flows[1].patch.jobSpec.priorityClassName"},
		"a task in a step's change": {`{"spec":{"flows":[{"patch":{"jobSpec":{` + tasks + `}}}]}}`, "spec.flows[0].patch.jobSpec.tasks[1].template.spec.priorityClassName"},
	} {
		named, _ := classesNamedBy([]byte(c.object))
		if len(named) != 1 || named["urgent"] == nil || named["urgent"].String() != c.at {
			t.Errorf("%s: found %v, want urgent at %s", name, named, c.at)
		}
	}
}
