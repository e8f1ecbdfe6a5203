package v1beta1

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"pgregory.net/rapid"

	"github.com/vc-batch/vc/api/keys"
)

// queue returns a defaulted queue.
func queue(name, parent string, change ...func(*Queue)) *Queue {
	q := &Queue{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: QueueSpec{Parent: parent}}
	for _, f := range change {
		f(q)
	}
	DefaultQueue(q)
	return q
}

func amounts(pairs ...string) corev1.ResourceList {
	list := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		list[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return list
}

func capability(pairs ...string) func(*Queue) {
	return func(q *Queue) { q.Spec.Capability = amounts(pairs...) }
}

func deserved(pairs ...string) func(*Queue) {
	return func(q *Queue) { q.Spec.Deserved = amounts(pairs...) }
}

func guarantee(pairs ...string) func(*Queue) {
	return func(q *Queue) { q.Spec.Guarantee.Resource = amounts(pairs...) }
}

func annotated(pairs ...string) func(*Queue) {
	return func(q *Queue) {
		q.Annotations = map[string]string{}
		for i := 0; i < len(pairs); i += 2 {
			q.Annotations[pairs[i]] = pairs[i+1]
		}
	}
}

func running(pods string) func(*Queue) {
	return func(q *Queue) { q.Status.Allocated = amounts("pods", pods) }
}

// tree returns an organization with two teams, one of which has a group, and a chain of four queues.
func tree() QueueLookup {
	return NewQueueLookup(
		queue("root", ""), queue("default", "root"),
		queue("org", "root", capability("cpu", "10"), deserved("cpu", "8"), guarantee("cpu", "4")),
		queue("team-a", "org", deserved("cpu", "5"), guarantee("cpu", "3")),
		queue("team-b", "org", capability("cpu", "6")),
		queue("group", "team-b", capability("memory", "4Gi")),
		queue("busy", "root", running("3")),
		queue("d1", "root"), queue("d2", "d1"), queue("d3", "d2"), queue("d4", "d3"), queue("d5", "d4"),
		queue("old", "root", annotated(keys.Hierarchy, "root/a/b", keys.HierarchyWeights, "1/1/1")),
	)
}

func TestBadQueues(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		queue       *Queue
		where, what string
	}{
		"a negative weight":                    {queue("q", "", func(q *Queue) { q.Spec.Weight = -1 }), "spec.weight", "between 1 and 65535"},
		"a negative priority":                  {queue("q", "", func(q *Queue) { q.Spec.Priority = -1 }), "spec.priority", "must not be negative"},
		"a negative capability":                {queue("q", "", capability("cpu", "-1")), "spec.capability[cpu]", "greater than or equal to 0"},
		"half a device":                        {queue("q", "", capability("nvidia.com/gpu", "500m")), "spec.capability[nvidia.com/gpu]", "must be an integer"},
		"a resource that is no name":           {queue("q", "", capability("a b", "1")), "spec.capability[a b]", "must be a valid resource name"},
		"a guarantee without deserved":         {queue("q", "", guarantee("cpu", "1")), "spec.deserved[cpu]", "deserved[cpu] must be >= guarantee[cpu]=1"},
		"deserved over capability":             {queue("q", "", deserved("cpu", "3"), capability("cpu", "2")), "spec.deserved[cpu]", "deserved[cpu] must be <= capability[cpu]=2"},
		"itself as parent":                     {queue("q", "q"), "spec.parent", "queue q cannot use itself as parent"},
		"a parent that is not there":           {queue("q", "nowhere"), "spec.parent", `parent queue "nowhere" does not exist`},
		"a parent with pods of its own":        {queue("q", "busy"), "spec.parent", "queue busy cannot be the parent queue of queue q because it has allocated Pods: 3"},
		"a tree that is too deep":              {queue("q", "d5"), "spec.parent", "6 levels deep; the maximum is 5"},
		"more capability than an ancestor":     {queue("q", "team-a", capability("cpu", "11")), "spec.capability[cpu]", "capability of its ancestor org, which is 10"},
		"more in total deserved than is left":  {queue("q", "org", deserved("cpu", "4")), "spec.deserved[cpu]", "9 in total for deserved, but the value for queue org is 8"},
		"more in total guarantee than is left": {queue("q", "org", deserved("cpu", "2"), guarantee("cpu", "2")), "spec.guarantee.resource[cpu]", "5 in total for guarantee, but the value for queue org is 4"},
		"deserved of what the parent has not":  {queue("q", "org", deserved("memory", "1Gi")), "spec.deserved[memory]", "but the value for queue org is 0"},
		"a path without its weights":           {queue("q", "", annotated(keys.Hierarchy, "root/a/b", keys.HierarchyWeights, "1/2")), "metadata.annotations[volcano.sh/hierarchy-weights]", "must have the same length"},
		"a weight that is none":                {queue("q", "", annotated(keys.Hierarchy, "root/x", keys.HierarchyWeights, "1/zero")), "metadata.annotations[volcano.sh/hierarchy-weights]", `"zero" is not a valid weight`},
		"a weight of nothing":                  {queue("q", "", annotated(keys.Hierarchy, "root/x", keys.HierarchyWeights, "1/0")), "metadata.annotations[volcano.sh/hierarchy-weights]", `"0" is not a valid weight`},
		"a path above another queue's":         {queue("q", "", annotated(keys.Hierarchy, "root/a", keys.HierarchyWeights, "1/1")), "metadata.annotations[volcano.sh/hierarchy]", "is not allowed to be in the sub path of root/a/b of queue old"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requireError(t, ValidateQueue(test.queue, tree()), test.where, test.what)
		})
	}
}

func TestGoodQueues(t *testing.T) {
	t.Parallel()
	for name, q := range map[string]*Queue{
		"the plain queue":                    queue("q", ""),
		"a child of root":                    queue("q", "root", capability("cpu", "100")),
		"a child where there is room":        queue("q", "org", deserved("cpu", "3"), guarantee("cpu", "1"), capability("cpu", "10")),
		"a fifth level":                      queue("q", "d4"),
		"a sibling of one with children":     queue("q", "team-b"),
		"what the ancestor does not limit":   queue("q", "team-a", capability("memory", "1Ti")),
		"a whole number written in thousand": queue("q", "", capability("nvidia.com/gpu", "2000m")),
		"a path beside another":              queue("q", "", annotated(keys.Hierarchy, "a/c", keys.HierarchyWeights, "2/0.5")),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if errs := ValidateQueue(q, tree()); len(errs) > 0 {
				t.Error(errs.ToAggregate())
			}
		})
	}
}

func TestChangesOfQueues(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		old, updated *Queue
		where, what  string // "" if the change is permitted
	}{
		"nothing": {queue("busy", ""), queue("busy", ""), "", ""},
		"the state of a queue that is invalid today": {queue("q", "nowhere"), queue("q", "nowhere", func(q *Queue) { q.Status.State = QueueStateClosing }), "", ""},
		"another weight":                           {queue("team-a", "org"), queue("team-a", "org", func(q *Queue) { q.Spec.Weight = 7 }), "", ""},
		"under a child of its own":                 {queue("org", "root"), queue("org", "group"), "spec.parent", "queues would form a cycle: org -> group -> team-b -> org"},
		"with its tree to a place too deep":        {queue("org", "root"), queue("org", "d3"), "spec.parent", "6 levels deep"},
		"less capability than a child":             {queue("org", "root"), queue("org", "root", capability("cpu", "5"), deserved("cpu", "5"), guarantee("cpu", "3")), "spec.capability[cpu]", "capability of its descendant team-b, which is 6"},
		"less capability than a grandchild":        {queue("org", "root"), queue("org", "root", capability("memory", "1Gi"), deserved("cpu", "5"), guarantee("cpu", "3")), "spec.capability[memory]", "capability of its descendant group, which is 4Gi"},
		"less in total deserved than the children": {queue("org", "root"), queue("org", "root", deserved("cpu", "4"), guarantee("cpu", "4")), "spec.deserved[cpu]", "the child queues of this queue have 5 in total for deserved, but the value for queue org is 4"},
		"the amounts of root":                      {queue("root", ""), queue("root", "", capability("cpu", "1")), "spec", "root queue's resource attributes (capability, deserved, guarantee) cannot be modified"},
		"the weight of root":                       {queue("root", ""), queue("root", "", func(q *Queue) { q.Spec.Weight = 2 }), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			errs := ValidateQueueUpdate(test.old, test.updated, tree())
			if test.where != "" {
				requireError(t, errs, test.where, test.what)
			} else if len(errs) > 0 {
				t.Error(errs.ToAggregate())
			}
		})
	}
}

func TestQueuesThatMustStay(t *testing.T) {
	t.Parallel()
	for name, what := range map[string]string{
		"default": "`default` queue can not be deleted",
		"root":    "`root` queue can not be deleted",
		"org":     "queue org can not be deleted because it has 2 child queues: team-a, team-b",
	} {
		requireError(t, ValidateQueueDelete(name, tree()), "metadata.name", what)
	}
	for _, name := range []string{"group", "busy", "never-was"} {
		if errs := ValidateQueueDelete(name, tree()); len(errs) > 0 {
			t.Errorf("%s: %v", name, errs.ToAggregate())
		}
	}
}

func TestPodGroups(t *testing.T) {
	t.Parallel()
	queues := NewQueueLookup(queue("default", "root"), queue("shut", "", func(q *Queue) { q.Status.State = QueueStateClosed }),
		queue("org", ""), queue("team", "org"), queue("root", ""))
	tiers := &NetworkTopologySpec{HighestTierAllowed: new(1), HighestTierName: "rack"}
	for name, test := range map[string]struct {
		spec        PodGroupSpec
		where, what string
	}{
		"a plain group":                    {PodGroupSpec{MinMember: 3, Queue: "default", MinResources: new(amounts("cpu", "1"))}, "", ""},
		"no queue yet":                     {PodGroupSpec{}, "", ""},
		"a negative minimum":               {PodGroupSpec{MinMember: -1}, "spec.minMember", "must not be negative"},
		"a task's negative minimum":        {PodGroupSpec{MinTaskMember: map[string]int32{"a": -1}}, "spec.minTaskMember[a]", "must not be negative"},
		"negative resources":               {PodGroupSpec{MinResources: new(amounts("cpu", "-1"))}, "spec.minResources[cpu]", "greater than or equal to 0"},
		"both kinds of tier":               {PodGroupSpec{NetworkTopology: tiers}, "spec.networkTopology", tierPair},
		"both kinds of tier in a subgroup": {PodGroupSpec{SubGroupPolicy: []SubGroupPolicySpec{{Name: "s", NetworkTopology: tiers}}}, "spec.subGroupPolicy[0].networkTopology", "in subGroupPolicy 's': must not specify"},
		"an unknown queue":                 {PodGroupSpec{Queue: "nowhere"}, "spec.queue", `unable to find queue: queue "nowhere" does not exist; open queues: default, team`},
		"a closed queue":                   {PodGroupSpec{Queue: "shut"}, "spec.queue", "can only submit PodGroup to queue with state `Open`, queue `shut` status is `Closed`"},
		"a queue with children":            {PodGroupSpec{Queue: "org"}, "spec.queue", "can only submit PodGroup to leaf queue, queue `org` has 1 child queues: team"},
		"the root queue":                   {PodGroupSpec{Queue: "root"}, "spec.queue", "can not submit PodGroup to root queue"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			errs := ValidatePodGroup(&PodGroup{Spec: test.spec}, queues)
			if test.where != "" {
				requireError(t, errs, test.where, test.what)
			} else if len(errs) > 0 {
				t.Error(errs.ToAggregate())
			}
		})
	}
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ queue, namespace, want string }{
		"nothing said":                 {"", "", "default"},
		"the namespace says":           {"", "research", "research"},
		"the namespace over default":   {"default", "research", "research"},
		"the group over its namespace": {"own", "research", "own"},
	} {
		group := &PodGroup{Spec: PodGroupSpec{Queue: test.queue}}
		if DefaultPodGroup(group, test.namespace); group.Spec.Queue != test.want {
			t.Errorf("%s: want queue %q, got %q", name, test.want, group.Spec.Queue)
		}
	}
	q := queue("q", "", annotated(keys.Hierarchy, "a/b", keys.HierarchyWeights, "1/2"))
	want := &Queue{
		ObjectMeta: metav1.ObjectMeta{Name: "q", Annotations: map[string]string{keys.Hierarchy: "root/a/b", keys.HierarchyWeights: "1/1/2"}},
		Spec:       QueueSpec{Weight: 1, Reclaimable: new(true)},
	}
	if diff := cmp.Diff(want, q); diff != "" {
		t.Error(diff)
	}
}

func TestDisruptionBudgets(t *testing.T) {
	t.Parallel()
	for value, good := range map[string]bool{
		"1": true, "20": true, "1%": true, "99%": true,
		"0": false, "-1": false, "0%": false, "100%": false, "": false, "%": false, "+1": false, "1.5": false, "a": false, "99999999999": false,
	} {
		errs := ValidateDisruptionBudget(map[string]string{keys.JDBMaxUnavailable: value}, field.NewPath("metadata", "annotations"))
		if (len(errs) == 0) != good {
			t.Errorf("%q: want good %v, got %v", value, good, errs.ToAggregate())
		}
	}
	both := map[string]string{keys.JDBMinAvailable: "1", keys.JDBMaxUnavailable: "1"}
	requireError(t, ValidateDisruptionBudget(both, field.NewPath("metadata", "annotations")), "metadata.annotations", "not allow configure multiple annotations")
}

// TestNoTreeMakesValidationRunForever draws parents at random, including cycles.
func TestNoTreeMakesValidationRunForever(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		names := []string{"a", "b", "c", "d", "e", "root"}
		var queues []*Queue
		for _, name := range names[:5] {
			queues = append(queues, queue(name, rapid.SampledFrom(append(names, "")).Draw(t, name), capability("cpu", "1")))
		}
		lookup := NewQueueLookup(queues...)
		for _, q := range queues {
			moved := q.DeepCopy()
			moved.Spec.Parent = rapid.SampledFrom(names).Draw(t, "moved")
			ValidateQueue(q, lookup)
			ValidateQueueUpdate(q, moved, lookup)
			ValidateQueueDelete(q.Name, lookup)
		}
	})
}

// requireError fails unless there is an error with this field and text.
func requireError(t *testing.T, errs field.ErrorList, where, what string) {
	t.Helper()
	for _, err := range errs {
		if strings.HasPrefix(err.Field, where) && strings.Contains(err.Error(), what) {
			return
		}
	}
	t.Errorf("want %s: …%s…, got %v", where, what, errs.ToAggregate())
}
