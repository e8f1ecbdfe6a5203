package cli

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"pgregory.net/rapid"

	"github.com/vc-batch/vc/internal/usererror"
)

func TestNearest(t *testing.T) {
	t.Parallel()
	words := []string{"research", "default", "infer", "prod"}
	for word, want := range map[string]string{
		"reserch": "research", "researhc": "research", "defaul": "default", "infre": "infer", "production": "", "x": "", "-": "", "pre": "", "prd": "prod", "": "", "research": "research",
	} {
		if got := FindNearest(word, words); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", word, got, want)
		}
	}
}

func TestDistanceIsADistance(t *testing.T) {
	t.Parallel()
	letters := rapid.StringOfN(rapid.RuneFrom([]rune("abc")), 0, 6, -1)
	rapid.Check(t, func(t *rapid.T) {
		a, b := letters.Draw(t, "a"), letters.Draw(t, "b")
		if (editDistance(a, b) == 0) != (a == b) {
			t.Fatalf("distance(%q, %q) = %d", a, b, editDistance(a, b))
		}
		if editDistance(a, b) != editDistance(b, a) {
			t.Fatalf("distance(%q, %q) is not symmetric", a, b)
		}
		if d := editDistance(a, b); d > max(len(a), len(b)) {
			t.Fatalf("distance(%q, %q) = %d is more than either length", a, b, d)
		}
	})
}

func TestReport(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		err  error
		want string
		code int
	}{
		"what, then what to do": {usererror.Errorf("do that", "queue %q does not exist", "x"), "error: queue \"x\" does not exist\nhint:  do that\n", 1},
		"several errors are all told": {errors.Join(usererror.Errorf("", "one"), fmt.Errorf("wrapped: %w", errors.New("two"))),
			"error: one\nerror: wrapped: two\n", 1},
		"several lines stand below each other": {usererror.Errorf("", "one\ntwo"), "error: one\n       two\n", 1},
		"the first code counts":                {errors.Join(&usererror.Error{What: "no", Code: ExitForbidden}, usererror.Errorf("", "two")), "error: no\nerror: two\n", ExitForbidden},
		"an exit status is silent":             {ExitStatus(42), "", 42},
		"no at a prompt":                       {Cancelled, "error: cancelled: nothing was changed\n", ExitCancelled},
		"nothing":                              {nil, "", 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			code := ReportError(&out, tc.err, Connection{})
			if diff := cmp.Diff(tc.want, out.String()); diff != "" || code != tc.code {
				t.Errorf("code %d, want %d; text (-want +got):\n%s", code, tc.code, diff)
			}
		})
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	got := FormatHelp(`
		One
		  two

		three
	`)
	if diff := cmp.Diff("One\n  two\n\nthree", got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	long, columns := strings.Repeat("word ", 20), strings.Repeat("a   b   ", 20)
	want := strings.TrimSpace(strings.Repeat("word ", 16)) + "\nword word word word\n\n" + strings.TrimSpace(columns)
	if diff := cmp.Diff(want, FormatHelp(long+"\n\n"+columns)); diff != "" {
		t.Errorf("a paragraph of words is broken anew, columns are not (-want +got):\n%s", diff)
	}
}

func TestUnknownKindsHaveAHint(t *testing.T) {
	t.Parallel()
	for kind, want := range map[schema.GroupVersionKind]string{
		{Group: "batch.volcano.sh", Version: "v1alpha1", Kind: "CronJob"}: "install vc in the cluster: kubectl apply -f deploy/install.yaml",
		{Group: "batch", Version: "v1alpha1", Kind: "CronJob"}:            "did you mean apiVersion: batch.volcano.sh/v1alpha1?",
		{Group: "kubeflow.org", Version: "v1", Kind: "PyTorchJob"}:        "the cluster does not support this kind; install its CRD, or correct apiVersion",
	} {
		err := &meta.NoKindMatchError{GroupKind: kind.GroupKind(), SearchedVersions: []string{kind.Version}}
		if got := HumanizeError(err, Connection{}).Hint; got != want {
			t.Errorf("%s: hint %q, want %q", kind, got, want)
		}
	}
}

// Every server error gets a hint; a missing kind is not reported as a missing object.
func TestEveryAnswerOfTheServerHasAHint(t *testing.T) {
	t.Parallel()
	jobs := schema.GroupResource{Group: "batch.volcano.sh", Resource: "jobs"}
	noKind := apierrors.NewGenericServerResponse(404, "get", jobs, "x", "the server could not find the requested resource", 0, true)
	cases := map[string]struct {
		err  error
		want string // in the hint
	}{
		"vc's webhook does not answer":       {apierrors.NewInternalError(errors.New(`failed calling webhook "mutatejob.volcano.sh": connection refused`)), "check that vcd is running"},
		"a webhook denies":                   {&apierrors.StatusError{ErrStatus: metav1.Status{Code: 400, Message: `admission webhook "validatejob.volcano.sh" denied the request: too odd`}}, `the admission webhook "validatejob.volcano.sh" rejected the object`},
		"a webhook forbids":                  {&apierrors.StatusError{ErrStatus: metav1.Status{Code: 403, Reason: metav1.StatusReasonForbidden, Message: `admission webhook "v" denied the request: no`}}, `the admission webhook "v" rejected the object`},
		"an API server in trouble":           {apierrors.NewInternalError(errors.New("etcd has no leader")), "try again"},
		"it was changed at the same time":    {apierrors.NewConflict(jobs, "x", errors.New("modified")), "read the object again"},
		"the name is taken":                  {apierrors.NewAlreadyExists(jobs, "x"), "another name"},
		"a field is wrong":                   {apierrors.NewInvalid(schema.GroupKind{Kind: "Job"}, "x", nil), "kubectl explain"},
		"the request cannot be read":         {apierrors.NewBadRequest("what?"), "kubectl explain"},
		"it is gone":                         {apierrors.NewNotFound(jobs, "x"), "deleted"},
		"the cluster does not know the kind": {noKind, "install vc in the cluster"},
		"too many ask":                       {apierrors.NewTooManyRequests("wait", 1), "busy"},
		"it takes too long":                  {apierrors.NewTimeoutError("slow", 1), "--request-timeout"},
		"something else":                     {&apierrors.StatusError{ErrStatus: metav1.Status{Code: 503, Message: "down"}}, "-v=6"},
	}
	for name, tc := range cases {
		if got := HumanizeError(tc.err, Connection{}).Hint; !strings.Contains(got, tc.want) {
			t.Errorf("%s: hint %q, want %q", name, got, tc.want)
		}
	}
	if IgnoreMissing(noKind) == nil || IgnoreMissing(errors.Join(apierrors.NewNotFound(jobs, "x"), noKind)) == nil {
		t.Error("--ignore-not-found passes over a cluster that does not know the kind")
	}
	if err := IgnoreMissing(errors.Join(apierrors.NewNotFound(jobs, "x"))); err != nil {
		t.Errorf("--ignore-not-found does not pass over a missing object: %v", err)
	}
}

func TestAnnotationsThatAreNoTextHaveAHint(t *testing.T) {
	t.Parallel()
	err := convertFileError(errors.New("unable to decode \"a.yaml\": json: cannot unmarshal number into Go struct field ObjectMeta.metadata.annotations of type string"))
	if got, want := HumanizeError(err, Connection{}).Hint, `values of annotations must be strings: put a number in quotes, for example "2" or "true"`; got != want {
		t.Errorf("hint %q, want %q", got, want)
	}
}

// Messages of libraries are reworded for users.
func TestErrorsSpeakNoGo(t *testing.T) {
	t.Parallel()
	cases := map[string]string{
		"spec.cpu: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'":                  "spec.cpu: this is not a valid quantity; examples: 2, 500m, 4Gi",
		"x.yaml: json: cannot unmarshal string into Go value of type unstructured.detector":                                      "x.yaml: this is a value of type string, not an object with apiVersion and kind",
		"must start with a letter (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')": "must start with a letter (for example 'my-name',  or '123-abc')",
		"json: cannot unmarshal string into Go struct field JobSpec.spec.minAvailable of type int32":                             "spec.minAvailable: got a value of type string, but the field requires type int32",
		"nothing of this kind": "nothing of this kind",
	}
	for text, want := range cases {
		if got := SimplifyMessage(text); got != want {
			t.Errorf("%s\nbecomes %s\nwant    %s", text, got, want)
		}
	}
}

func TestHintsNameTheRemedy(t *testing.T) {
	t.Parallel()
	missing := apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "nowhere")
	missing.ErrStatus.Details.Kind = "namespaces"
	cases := map[string]struct {
		err  error
		want string
	}{
		"a missing namespace":          {missing, "kubectl create namespace nowhere"},
		"an object that is too large":  {apierrors.NewRequestEntityTooLargeError("limit is 3145728"), "make the object smaller"},
		"a version that is not served": {&meta.NoKindMatchError{GroupKind: schema.GroupKind{Group: "batch.volcano.sh", Kind: "Job"}, SearchedVersions: []string{"v1"}}, "did you mean apiVersion: batch.volcano.sh/v1alpha1?"},
		"a kind that is not installed": {&meta.NoKindMatchError{GroupKind: schema.GroupKind{Group: "batch.volcano.sh", Kind: "Job"}, SearchedVersions: []string{"v1alpha1"}}, "install vc in the cluster"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := HumanizeError(tc.err, Connection{}).Hint; !strings.Contains(got, tc.want) {
				t.Errorf("the hint is %q, want %q in it", got, tc.want)
			}
		})
	}
}

func TestADenialByAPolicySaysWhatThePolicySays(t *testing.T) {
	const before = `jobs.batch.volcano.sh "x" is forbidden: ValidatingAdmissionPolicy '%s' with binding 'b' denied request: %s`
	for name, test := range map[string]struct{ policy, text, what, hint string }{
		"of vc, with a remedy": {
			"volcano-queue-use-policy", `user "ada" is not allowed to use queue q: choose another queue`,
			`forbidden: user "ada" is not allowed to use queue q (403)`, "choose another queue",
		},
		"of the site": {
			"team-labels", `label team is missing: see the wiki`,
			"forbidden: label team is missing: see the wiki (403)", `the admission policy "team-labels" rejected the request: correct the object, or ask an administrator`,
		},
	} {
		err := &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: 403, Reason: metav1.StatusReasonForbidden, Message: fmt.Sprintf(before, test.policy, test.text)}}
		got := HumanizeError(err, Connection{})
		if got.What != test.what || got.Hint != test.hint || got.Code != ExitForbidden {
			t.Errorf("%s: %q, hint %q, exit %d", name, got.What, got.Hint, got.Code)
		}
	}
}
