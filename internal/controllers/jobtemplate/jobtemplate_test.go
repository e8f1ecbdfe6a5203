package jobtemplate

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/vc-batch/vc/api"
	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	flowv1alpha1 "github.com/vc-batch/vc/api/flow/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/test/apiserver"
)

// newServer returns an API server with these objects.
func newServer(t *testing.T, objects ...client.Object) *apiserver.Server {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := api.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	server := apiserver.New(scheme, time.Now)
	for _, o := range objects {
		server.Save(o)
	}
	return server
}

var tasks = []batchv1alpha1.TaskSpec{{Name: "t", Replicas: 1}}

func template(name string) *flowv1alpha1.JobTemplate {
	return &flowv1alpha1.JobTemplate{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}, Spec: batchv1alpha1.JobSpec{Tasks: tasks}}
}

// job returns a job that names its template by label, by annotation, or by both.
func job(namespace, name, label, annotation string) *batchv1alpha1.Job {
	j := &batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace, Labels: map[string]string{}, Annotations: map[string]string{}}, Spec: batchv1alpha1.JobSpec{Tasks: tasks}}
	if label != "" {
		j.Labels[keys.CreatedByJobTemplate] = label
	}
	if annotation != "" {
		j.Annotations[keys.CreatedByJobTemplate] = annotation
	}
	return j
}

// listed reconciles the templates that the given jobs map to, and returns the job list in the template's status.
func listed(t *testing.T, server *apiserver.Server, name string, woken ...client.Object) []string {
	t.Helper()
	r := New(Options{Cache: server.Cache(), API: server.Client()})
	for _, o := range woken {
		for _, request := range requestForTemplate(t.Context(), o) {
			if _, err := r.Reconcile(t.Context(), request); err != nil {
				t.Fatal(err)
			}
		}
	}
	after := apiserver.Find[*flowv1alpha1.JobTemplate](server, "default", name)
	return after.Status.JobDependsOnList
}

func TestATemplateListsTheJobsThatSayTheyAreOfIt(t *testing.T) {
	for name, test := range map[string]struct {
		template string
		jobs     []client.Object
		want     []string
	}{
		"by label and annotation, as flows make them":      {"a", []client.Object{job("default", "j", "default.a", "default.a")}, []string{"j"}},
		"by label alone, as a person sets it":              {"a", []client.Object{job("default", "j", "default.a", "")}, []string{"j"}},
		"by annotation, where the name is long":            {"a", []client.Object{job("default", "j", "", "default.a")}, []string{"j"}},
		"the label counts where the two differ":            {"a", []client.Object{job("default", "j", "default.b", "default.a")}, nil},
		"several, by name":                                 {"a", []client.Object{job("default", "y", "default.a", ""), job("default", "x", "default.a", "")}, []string{"x", "y"}},
		"a template may have a dot in its name":            {"a.v2", []client.Object{job("default", "j", "default.a.v2", "")}, []string{"j"}},
		"a job of another namespace says what is not so":   {"a", []client.Object{job("other", "j", "default.a", "")}, nil},
		"a template of another namespace is another":       {"a", []client.Object{job("default", "j", "other.a", "")}, nil},
		"jobs that say nothing are nobody's":               {"a", []client.Object{job("default", "j", "", "")}, nil},
		"a value without a namespace names no template":    {"a", []client.Object{job("default", "j", "a", "")}, nil},
		"the name of one template may begin that of other": {"a", []client.Object{job("default", "j", "default.ab", "")}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			server := newServer(t, append(test.jobs, template(test.template))...)
			if diff := cmp.Diff(test.want, listed(t, server, test.template, test.jobs...)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestAJobThatGoesIsNoLongerListed(t *testing.T) {
	gone := job("default", "gone", "default.a", "")
	server := newServer(t, template("a"), gone, job("default", "stays", "default.a", ""))
	if diff := cmp.Diff([]string{"gone", "stays"}, listed(t, server, "a", gone)); diff != "" {
		t.Fatal(diff)
	}
	server.Remove(gone)
	if diff := cmp.Diff([]string{"stays"}, listed(t, server, "a", gone)); diff != "" {
		t.Error(diff)
	}
}

func TestTheListIsWrittenOnlyWhenItChanges(t *testing.T) {
	j := job("default", "j", "default.a", "")
	server := newServer(t, template("a"), j)
	connection := apiserver.NewConnection(server)
	connection.Faults = []apiserver.Fault{{Err: apierrors.NewConflict(schema.GroupResource{Resource: "jobtemplates"}, "a", errors.New("busy"))}}
	r := New(Options{Cache: server.Cache(), API: connection.Client()})
	request := requestForTemplate(t.Context(), j)[0]
	if _, err := r.Reconcile(t.Context(), request); !apierrors.IsConflict(err) {
		t.Errorf("after a conflict: %v; want the conflict, so that the delay grows with each failure", err)
	}
	for range 3 {
		if _, err := r.Reconcile(t.Context(), request); err != nil {
			t.Fatal(err)
		}
	}
	if writes := len(connection.Writes) - 1; writes != 1 {
		t.Errorf("%d writes after the conflict, want 1", writes)
	}
	if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Namespace: "default", Name: "nobody"}}); err != nil {
		t.Errorf("a template that is gone: %v", err)
	}
}
