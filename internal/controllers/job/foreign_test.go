package job

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
)

// withPlugins returns a job named job with the plugins svc and ssh.
func withPlugins() *batchv1alpha1.Job {
	job := simpleJob(1)
	job.Spec.Plugins = map[string][]string{batchv1alpha1.PluginService: {}, batchv1alpha1.PluginSSH: {}}
	return job
}

// TestObjectsThatAreNotTheJobsAreNotTouched covers objects of the user and of another controller that have the names of
// a job's objects.
func TestObjectsThatAreNotTheJobsAreNotTouched(t *testing.T) {
	t.Parallel()
	nobodys := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: "ns", Name: name} }
	anothers := func(name string) metav1.ObjectMeta {
		m := nobodys(name)
		m.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "Deployment", Name: "web", UID: "web", Controller: new(true)}}
		return m
	}
	secret := func(m metav1.ObjectMeta) client.Object {
		return &corev1.Secret{ObjectMeta: m, Data: map[string][]byte{"password": []byte("hunter2")}}
	}
	hosts := func(m metav1.ObjectMeta) client.Object {
		return &corev1.ConfigMap{ObjectMeta: m, Data: map[string]string{"app.conf": "x=1"}}
	}
	service := func(spec corev1.ServiceSpec) client.Object {
		return &corev1.Service{ObjectMeta: nobodys("job"), Spec: spec}
	}
	headless := corev1.ServiceSpec{ClusterIP: corev1.ClusterIPNone, Selector: map[string]string{"volcano.sh/job-name": "job", "volcano.sh/job-namespace": "ns"}}
	tests := map[string]struct {
		object client.Object
		says   string // part of an event; "" for no event
		starts bool
	}{
		"a Secret of the user":                  {secret(nobodys("job-ssh")), "Secret job-ssh exists but was not created for this job, so vc does not change this object", false},
		"a Secret of another controller":        {secret(anothers("job-ssh")), "Secret job-ssh exists but was not created for this job, so vc does not change this object", false},
		"a ConfigMap of the user":               {hosts(nobodys("job-svc")), "ConfigMap job-svc exists but was not created for this job, so vc does not change this object", false},
		"a ConfigMap of another controller":     {hosts(anothers("job-svc")), "ConfigMap job-svc exists but was not created for this job, so vc does not change this object", false},
		"a Service of the user":                 {service(corev1.ServiceSpec{ClusterIP: "10.0.0.1", ClusterIPs: []string{"10.0.0.1"}, Ports: []corev1.ServicePort{{Port: 80}}}), "Service job exists but was not created for this job: the host names of the job's pods do not resolve", true},
		"a Service of the user that is as ours": {service(headless), "", true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(withPlugins())
			w.server.Save(test.object)
			key := client.ObjectKeyFromObject(test.object)
			before := test.object.DeepCopyObject().(client.Object)
			if err := w.server.Client().Get(t.Context(), key, before); err != nil {
				t.Fatal(err)
			}
			for range 8 {
				for _, kind := range watched {
					w.see(kind, len(w.server.History))
				}
				_ = w.reconcile(-1, false) // a failed write makes it fail, and it is retried
				w.clock = w.clock.Add(time.Second)
			}
			after := test.object.DeepCopyObject().(client.Object)
			if err := w.server.Client().Get(t.Context(), key, after); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(before, after); diff != "" {
				t.Errorf("it was changed (-before +after):\n%s", diff)
			}
			told := strings.Join(w.events, "\n")
			if test.says == "" && strings.Contains(told, "was not created for this job") || !strings.Contains(told, test.says) {
				t.Errorf("events:\n%s\nwant one that says %q", told, test.says)
			}
			state := w.truth().Status.State
			if says := strings.Contains(state.Message, "was not created for this job"); says == test.starts {
				t.Errorf("the job is %s: %q", state.Phase, state.Message)
			}
		})
	}
}
