package outbox

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/decision"
)

func group(name string, uid string, minMember int32, roles map[string]int32) *schedulingv1beta1.PodGroup {
	pg := &schedulingv1beta1.PodGroup{}
	pg.Namespace, pg.Name, pg.UID = "ns", name, object(uid).UID
	pg.Spec.MinMember, pg.Spec.MinTaskMember = minMember, roles
	return pg
}

// TestBindsOfAGangWhoseMinimumWasRaisedAreGivenBack is #6010: the watch of PodGroups is late, and the pods for a raised
// minimum already exist.
func TestBindsOfAGangWhoseMinimumWasRaisedAreGivenBack(t *testing.T) {
	for name, c := range map[string]struct {
		now    *schedulingv1beta1.PodGroup
		failed string
	}{
		"the PodGroup is as it was":                       {now: group("g", "g", 2, map[string]int32{"w": 1})},
		"a lower minimum does no harm":                    {now: group("g", "g", 1, nil)},
		"the minimum was raised":                          {group("g", "g", 4, nil), "podGroup ns/g: minMember was raised from 2 to 4"},
		"the minimum of a task was raised":                {group("g", "g", 2, map[string]int32{"w": 2}), "podGroup ns/g: minTaskMember of w was raised from 1 to 2"},
		"another PodGroup has the name":                   {group("g", "h", 2, nil), "podGroup ns/g was re-created with the same name"},
		"the PodGroup is gone, and its pods with it soon": {nil, "not found"},
	} {
		t.Run(name, func(t *testing.T) {
			api := &fakeAPI{groups: map[string]*schedulingv1beta1.PodGroup{}}
			if c.now != nil {
				api.groups["g"] = c.now
			}
			inBubble(t, api, func(t *testing.T, r *rig) {
				d := decision.Decisions{Binds: append(binds("rigid", 1), binds("g", 2)...)}
				for i := range d.Binds[1:] {
					d.Binds[1+i].Check = &decision.GangCheck{MinMember: 2, MinTaskMember: map[string]int{"w": 1}}
				}
				r.Put(&d)
				after(10 * time.Second)
				bound := slices.DeleteFunc(api.seen(), func(call string) bool { return !strings.HasPrefix(call, "bind ") })
				slices.Sort(bound)
				want, failures := []string{"bind g-0 n1", "bind g-1 n1", "bind rigid-0 n1"}, 0
				if c.failed != "" {
					want, failures = want[2:], 2
				}
				if diff := cmp.Diff(want, bound); diff != "" {
					t.Errorf("binds (-want +got):\n%s", diff)
				}
				told := false
				for _, delta := range r.reports() {
					switch delta := delta.(type) {
					case model.BindFailed:
						failures--
						if !strings.Contains(delta.Err, c.failed) {
							t.Errorf("failed with %q, want %q", delta.Err, c.failed)
						}
					case model.GangSet:
						told = delta.MinMember == int(c.now.Spec.MinMember)
					}
				}
				if failures != 0 || told != (c.failed != "" && c.now != nil) {
					t.Errorf("%d more failures are due; told of the PodGroup: %v", failures, told)
				}
				if !r.HasSettledAll() {
					t.Error("not idle")
				}
			})
		})
	}
}

// TestThePodGroupIsReadOnceForAllBindsOfAGang also has a gang of one pod.
func TestThePodGroupIsReadOnceForAllBindsOfAGang(t *testing.T) {
	for _, pods := range []int{1, 2, 50} {
		t.Run(strconv.Itoa(pods)+" pods", func(t *testing.T) {
			api := &fakeAPI{groups: map[string]*schedulingv1beta1.PodGroup{"g": group("g", "g", 2, nil)}}
			inBubble(t, api, func(t *testing.T, r *rig) {
				d := decision.Decisions{Binds: binds("g", pods)}
				for i := range d.Binds {
					d.Binds[i].Check = &decision.GangCheck{MinMember: 2}
				}
				r.Put(&d)
				after(time.Second)
				reads, bound := 0, 0
				for _, call := range api.seen() {
					switch {
					case call == "get podgroup g":
						reads++
					case strings.HasPrefix(call, "bind "):
						bound++
					}
				}
				if reads != 1 || bound != pods {
					t.Errorf("%d reads and %d binds, want 1 and %d", reads, bound, pods)
				}
			})
		})
	}
}
