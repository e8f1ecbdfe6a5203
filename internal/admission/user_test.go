package admission

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	admissionv1 "k8s.io/api/admission/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
)

// statusWriters permits only one user to write the status of jobs. If it is "", permissions cannot be checked.
type statusWriters string

func (s statusWriters) Create(_ context.Context, review *authorizationv1.SubjectAccessReview, _ metav1.CreateOptions) (*authorizationv1.SubjectAccessReview, error) {
	if s == "" {
		return nil, errors.New("the API server does not respond")
	}
	attributes := review.Spec.ResourceAttributes
	review.Status.Allowed = review.Spec.User == string(s) && attributes.Verb == "update" && attributes.Resource == "jobs" && attributes.Subresource == "status"
	return review, nil
}

func TestTheUserOfAnObjectIsTheAuthorOfItsCreation(t *testing.T) {
	t.Parallel()
	const named, controlled = `"annotations":{"vc-batch.dev/user":"%s"},`, `"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"p","uid":"p","controller":true}],`
	for name, test := range map[string]struct {
		operation   admissionv1.Operation
		author      string
		object, old string // metadata
		reviews     statusWriters
		want        string
	}{
		"a new object":                                       {admissionv1.Create, "ada", "", "", "controllers", "ada"},
		"a new object that names a user":                     {admissionv1.Create, "ada", fmt.Sprintf(named, "bob"), "", "controllers", "bob"},
		"a new object whose label names a user":              {admissionv1.Create, "ada", `"labels":{"vc-batch.dev/user":"bob"},`, "", "controllers", "ada"},
		"a new object that names an empty user":              {admissionv1.Create, "ada", fmt.Sprintf(named, ""), "", "controllers", "ada"},
		"an object that somebody else changes":               {admissionv1.Update, "bob", fmt.Sprintf(named, "ada"), fmt.Sprintf(named, "ada"), "controllers", "ada"},
		"a replacement that names no user":                   {admissionv1.Update, "bob", "", fmt.Sprintf(named, "ada"), "controllers", "ada"},
		"a change of an object without a user":               {admissionv1.Update, "bob", "", "", "controllers", ""},
		"an object of the controllers whose source has one":  {admissionv1.Create, "controllers", controlled + fmt.Sprintf(named, "ada"), "", "controllers", "ada"},
		"an object of the controllers whose source has none": {admissionv1.Create, "controllers", controlled, "", "controllers", ""},
		"an object for which a user writes an owner":         {admissionv1.Create, "ada", controlled, "", "controllers", "ada"},
		"an object with an owner, if nothing can be checked": {admissionv1.Create, "ada", controlled, "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := &hooks{schedulers: []string{"volcano"}, namespaces: namespaces{}, reviews: test.reviews}
			for kind, handle := range map[string]func(context.Context, admission.Request) admission.Response{
				"Job": h.mutateJob, "CronJob": h.mutateCronJob, "JobFlow": h.mutateJobFlow, "PodGroup": h.mutatePodGroup,
			} {
				object := `{"metadata":{` + test.object + `"name":"x"},"spec":{}}`
				old := ""
				if test.operation == admissionv1.Update {
					old = `{"metadata":{` + test.old + `"name":"x"},"spec":{}}`
				}
				review := request(test.operation, kind, object, old)
				review.UserInfo.Username = test.author
				if got := userAfter(t, handle(t.Context(), review), object); got != test.want {
					t.Errorf("%s: the user is %q, want %q", kind, got, test.want)
				}
			}
		})
	}
}

// userAfter returns the user of an object after the patch of a response.
func userAfter(t *testing.T, response admission.Response, object string) string {
	t.Helper()
	operations, err := json.Marshal(response.Patches)
	if err != nil {
		t.Fatal(err)
	}
	patch, err := jsonpatch.DecodePatch(operations)
	if err != nil {
		t.Fatal(err)
	}
	patched, err := patch.Apply([]byte(object))
	if err != nil {
		t.Fatal(err)
	}
	result := &metav1.PartialObjectMetadata{}
	if err := json.Unmarshal(patched, result); err != nil {
		t.Fatal(err)
	}
	return batchv1alpha1.UserOf(result)
}
