package v1beta1

import "testing"

func TestAQueueAdmitsTheGroupsThatItNames(t *testing.T) {
	t.Parallel()
	required := func(names ...string) *NodeGroupAffinity {
		return &NodeGroupAffinity{RequiredDuringSchedulingIgnoredDuringExecution: names}
	}
	preferred := &NodeGroupAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []string{"b"}}
	anti := &NodeGroupAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []string{"a"}}
	for name, c := range map[string]struct {
		affinity *Affinity
		want     string // the permitted ones of the groups a, b and none
	}{
		"without affinity all":       {nil, "ab-"},
		"an empty affinity all":      {&Affinity{NodeGroupAffinity: &NodeGroupAffinity{}}, "ab-"},
		"those that are required":    {&Affinity{NodeGroupAffinity: required("a")}, "a"},
		"those that are preferred":   {&Affinity{NodeGroupAffinity: preferred}, "b"},
		"none of the anti-affinity":  {&Affinity{NodeGroupAntiAffinity: anti}, "b-"},
		"the anti-affinity is first": {&Affinity{NodeGroupAffinity: required("a", "b"), NodeGroupAntiAffinity: anti}, "b"},
	} {
		q := &Queue{Spec: QueueSpec{Affinity: c.affinity}}
		got := ""
		for _, group := range []string{"a", "b", ""} {
			if q.AdmitsGroup(group) {
				got += map[string]string{"a": "a", "b": "b", "": "-"}[group]
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
