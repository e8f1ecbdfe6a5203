package apiclient

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func TestAnInvalidUIDMeansThatAnotherObjectHasTheName(t *testing.T) {
	pod := corev1.SchemeGroupVersion.WithKind("Pod").GroupKind()
	invalid := func(path *field.Path) error {
		return apierrors.NewInvalid(pod, "p", field.ErrorList{field.Invalid(path, "u", "field is immutable")})
	}
	for _, c := range []struct {
		err  error
		want bool
	}{
		{nil, false},
		{errors.New("no connection"), false},
		{apierrors.NewNotFound(corev1.Resource("pods"), "p"), false},
		{invalid(field.NewPath("spec", "nodeName")), false},
		{invalid(field.NewPath("metadata", "uid")), true},
	} {
		if got := IsOtherObject(c.err); got != c.want {
			t.Errorf("%v: %v, want %v", c.err, got, c.want)
		}
	}
}
