package v1alpha1

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func newAccount(name, parent string, spec AccountSpec) *Account {
	spec.Parent = parent
	return &Account{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec}
}

func pathOf(tree *Tree, name string) []string {
	var names []string
	for _, account := range tree.Path(name) {
		names = append(names, account.Name)
	}
	return names
}

// TestAPathEndsAlthoughAccountsFormACycle covers two updates at the same time, which can form a cycle that neither of them
// shows.
func TestAPathEndsAlthoughAccountsFormACycle(t *testing.T) {
	t.Parallel()
	tree := NewTree([]*Account{newAccount("a", "b", AccountSpec{}), newAccount("b", "a", AccountSpec{}), newAccount("c", "a", AccountSpec{}), newAccount("d", "gone", AccountSpec{})})
	for name, want := range map[string][]string{"c": {"c", "a", "b"}, "a": {"a", "b"}, "d": {"d"}, "gone": nil} {
		if diff := cmp.Diff(want, pathOf(tree, name)); diff != "" {
			t.Errorf("%s: -want +got:\n%s", name, diff)
		}
	}
}

func TestEachLimitOfAUserIsTheNearestThatIsSet(t *testing.T) {
	t.Parallel()
	resources := func(pairs ...string) corev1.ResourceList {
		list := corev1.ResourceList{}
		for i := 0; i < len(pairs); i += 2 {
			list[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
		}
		return list
	}
	tree := NewTree([]*Account{
		newAccount("top", "", AccountSpec{UserLimits: &UserLimits{
			MaxRunningJobs: new(int32(9)), MaxSubmittedJobs: new(int32(90)), MaxResources: resources("cpu", "9", "memory", "9Gi"),
			MaxRunTime: &metav1.Duration{Duration: time.Hour},
		}}),
		newAccount("team", "top", AccountSpec{
			UserLimits: &UserLimits{MaxSubmittedJobs: new(int32(50)), MaxResources: resources("cpu", "5")},
			Users:      []AccountUser{{Name: "mei", Limits: &UserLimits{MaxRunningJobs: new(int32(0))}}, {Name: "omar"}},
		}),
	})
	want := UserLimits{
		MaxRunningJobs: new(int32(0)), MaxSubmittedJobs: new(int32(50)), MaxResources: resources("cpu", "5", "memory", "9Gi"),
		MaxRunTime: &metav1.Duration{Duration: time.Hour},
	}
	if diff := cmp.Diff(want, tree.EffectiveUserLimits("team", "mei")); diff != "" {
		t.Errorf("mei: -want +got:\n%s", diff)
	}
	want.MaxRunningJobs = new(int32(9))
	if diff := cmp.Diff(want, tree.EffectiveUserLimits("team", "omar")); diff != "" {
		t.Errorf("omar: -want +got:\n%s", diff)
	}
	if cpu := tree.Account("team").Spec.UserLimits.MaxResources; len(cpu) != 1 {
		t.Errorf("the account was changed: %v", cpu)
	}
}

func TestACoordinatorCoordinatesTheAccountsBelow(t *testing.T) {
	t.Parallel()
	tree := NewTree([]*Account{
		newAccount("science", "", AccountSpec{}), newAccount("physics", "science", AccountSpec{Coordinators: []string{"ada"}}),
		newAccount("optics", "physics", AccountSpec{}), newAccount("arts", "", AccountSpec{}),
	})
	if diff := cmp.Diff([]string{"optics", "physics"}, tree.CoordinatedBy("ada")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if names := tree.CoordinatedBy("mei"); names != nil {
		t.Errorf("mei coordinates %v", names)
	}
}
