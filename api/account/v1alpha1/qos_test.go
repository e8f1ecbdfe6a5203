package v1alpha1

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func newQOS(name string, spec QOSSpec) *QOS {
	return &QOS{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec}
}

func permitted(defaultQOS string, names ...string) PermittedQOS {
	return PermittedQOS{QOS: names, DefaultQOS: defaultQOS}
}

func TestTheNearestListOfQOSApplies(t *testing.T) {
	t.Parallel()
	tree := NewTree([]*Account{
		newAccount("top", "", AccountSpec{PermittedQOS: permitted("normal", "normal", "long")}),
		newAccount("team", "top", AccountSpec{Users: []AccountUser{{Name: "mei", PermittedQOS: permitted("", "high")}, {Name: "omar", PermittedQOS: permitted("long")}, {Name: "kim"}}}),
		newAccount("open", "", AccountSpec{}),
		newAccount("lost", "", AccountSpec{PermittedQOS: permitted("gone", "gone", "high", "long")}),
	}, newQOS("normal", QOSSpec{}), newQOS("long", QOSSpec{}), newQOS("high", QOSSpec{}))
	for name, test := range map[string]struct {
		account, user, standard string
		available               []string
	}{
		"a list of the user":                        {"team", "mei", "high", []string{"high"}},
		"a default of the user, a list of an above": {"team", "omar", "long", []string{"long", "normal"}},
		"an inherited default":                      {"team", "kim", "normal", []string{"long", "normal"}},
		"an account without lists":                  {"open", "mei", "normal", []string{"high", "long", "normal"}},
		"a user without an account":                 {"", "mei", "normal", []string{"high", "long", "normal"}},
		"a default that does not exist":             {"lost", "mei", "", []string{"high", "long"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.available, tree.AvailableQOS(test.account, test.user)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if got := tree.DefaultQOS(test.account, test.user); got != test.standard {
				t.Errorf("the default is %q, want %q", got, test.standard)
			}
		})
	}
	if NewTree(nil).HasQOS() || !tree.HasQOS() || NewTree(nil).DefaultQOS("", "mei") != "" {
		t.Error("a tree without QOS has one, or the other has none")
	}
}

func TestAQOSMustBeValid(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		qos  *QOS
		want string
	}{
		"a QOS with nothing":           {newQOS("a", QOSSpec{}), ""},
		"a long name":                  {newQOS(strings.Repeat("a", 64), QOSSpec{}), "metadata.name: Too long"},
		"an invalid priority class":    {newQOS("a", QOSSpec{PriorityClassName: "Urgent!"}), "spec.priorityClassName: Invalid value"},
		"a negative number of jobs":    {newQOS("a", QOSSpec{Limits: &QOSLimits{MaxRunningJobs: new(int32(-1))}}), "spec.limits.maxRunningJobs: Invalid value: -1"},
		"a negative number per user":   {newQOS("a", QOSSpec{UserLimits: &QOSLimits{MaxSubmittedJobs: new(int32(-1))}}), "spec.userLimits.maxSubmittedJobs: Invalid value: -1"},
		"an unknown resource":          {newQOS("a", QOSSpec{AccountLimits: &QOSLimits{MaxResources: corev1.ResourceList{"pdos": resource.MustParse("1")}}}), "spec.accountLimits.maxResources[pdos]: Invalid value"},
		"an unknown resource of a job": {newQOS("a", QOSSpec{JobLimits: &QOSJobLimits{MaxResources: corev1.ResourceList{"pdos": resource.MustParse("1")}}}), "spec.jobLimits.maxResources[pdos]: Invalid value"},
		"a short run time":             {newQOS("a", QOSSpec{JobLimits: &QOSJobLimits{MaxRunTime: &metav1.Duration{Duration: time.Millisecond}}}), "spec.jobLimits.maxRunTime: Invalid value"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requireText(t, ValidateQOS(test.qos).ToAggregate(), test.want)
		})
	}
}

func TestTheQOSOfAnAccountMustBeValid(t *testing.T) {
	t.Parallel()
	user := func(p PermittedQOS) []AccountUser { return []AccountUser{{Name: "mei", PermittedQOS: p}} }
	for name, test := range map[string]struct {
		spec AccountSpec
		want string
	}{
		"a list with its default":               {AccountSpec{PermittedQOS: permitted("a", "a", "b")}, ""},
		"a default without a list":              {AccountSpec{PermittedQOS: permitted("a")}, ""},
		"a default that the list lacks":         {AccountSpec{PermittedQOS: permitted("c", "a", "b")}, `spec.defaultQOS: Invalid value: "c": is not one of the permitted QOS (a, b)`},
		"a user's default from the account":     {AccountSpec{PermittedQOS: permitted("", "a"), Users: user(permitted("a"))}, ""},
		"a user's default that nothing permits": {AccountSpec{PermittedQOS: permitted("", "a"), Users: user(permitted("b"))}, "spec.users[0].defaultQOS: Invalid value"},
		"an empty name":                         {AccountSpec{PermittedQOS: permitted("", "")}, "spec.qos[0]: Required value"},
		"a name twice":                          {AccountSpec{PermittedQOS: permitted("", "a", "a")}, "spec.qos[1]: Duplicate value"},
		"too many":                              {AccountSpec{PermittedQOS: PermittedQOS{QOS: make([]string, 65)}}, "spec.qos: Too many"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requireText(t, Validate(newAccount("x", "", test.spec), nil).ToAggregate(), test.want)
		})
	}
}

// requireText fails unless an error contains a text, or is nil if the text is "".
func requireText(t *testing.T, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Errorf("rejected: %v", err)
	case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
		t.Errorf("want %s, got %v", want, err)
	}
}
