package doctor

import (
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/vc-batch/vc/api/keys"
)

func TestTheProbeJobHasTheNamedAccount(t *testing.T) {
	t.Parallel()
	if got := (&options{probeAccount: "ops"}).newProbeJob().Labels[keys.Account]; got != "ops" {
		t.Errorf("account %q, want ops", got)
	}
	if labels := (&options{}).newProbeJob().Labels; len(labels) > 0 {
		t.Errorf("labels %v, want none", labels)
	}
}

// A probe job that only lacks an account says nothing about the installation.
func TestARejectionBecauseOfTheAccountIsRecognized(t *testing.T) {
	t.Parallel()
	invalid := func(path *field.Path) error {
		return apierrors.NewInvalid(schema.GroupKind{Kind: "Job"}, "probe", field.ErrorList{field.Required(path, "set it")})
	}
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"an account is missing":      {invalid(field.NewPath("metadata", "labels").Key(keys.Account)), true},
		"another field is missing":   {invalid(field.NewPath("spec", "tasks")), false},
		"the request did not arrive": {errors.New("connection refused"), false},
	} {
		if got := isAboutAccount(c.err); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}
