// Package slurmtest has the clusters, command lines and checks that tests of several Slurm commands share.
package slurmtest

import (
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
)

// RejectLists rejects list requests, as for a user without permission.
func RejectLists(r golden.Run, paths ...string) golden.Run {
	prepare := r.Prepare
	r.Prepare = func(server *clitest.Server) {
		prepare(server)
		for _, path := range paths {
			server.RejectRequests("GET", path, 403, metav1.StatusReasonForbidden, "no")
		}
	}
	return r
}

// FindObject returns the object with this name. The object must exist.
func FindObject(t *testing.T, server *clitest.Server, path, name string) map[string]any {
	t.Helper()
	for _, object := range server.ObjectsBelow(path) {
		if object["metadata"].(map[string]any)["name"] == name {
			return object
		}
	}
	t.Fatalf("%s has no %s", path, name)
	return nil
}

// AddProfile returns a cluster with a profile, in which the next job gets the number 43.
func AddProfile(server *clitest.Server) {
	server.SetObjects(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "slurm-profile", Namespace: "volcano-system"}, Data: map[string]string{"profile.yaml": "defaultImage: base:1\n"}})
	server.OnCreate("Job", func(job map[string]any) {
		job["metadata"].(map[string]any)["labels"] = map[string]any{keys.JobID: "43"}
	})
}

// HelloScript is a batch script that prints a word.
const HelloScript = "#!/bin/sh\necho hello\n"

// ExpectCommands checks the Commands for jobs, each written as action and target, in any order.
func ExpectCommands(want ...string) func(*testing.T, *clitest.Server) {
	return func(t *testing.T, server *clitest.Server) {
		t.Helper()
		got := map[string]bool{}
		for _, object := range server.CreatedObjects("Command") {
			got[object["action"].(string)+" "+object["target"].(map[string]any)["name"].(string)] = true
		}
		for _, one := range want {
			if !got[one] {
				t.Errorf("no Command %q; there are %v", one, got)
			}
		}
		if len(got) != len(want) {
			t.Errorf("Commands %v, want %v", got, want)
		}
	}
}

// JobsPath is the API path of the jobs in the namespace of the golden files.
const JobsPath = "/apis/batch.volcano.sh/v1alpha1/namespaces/nlp/jobs"

// ExpectAnnotation checks an annotation of a job.
func ExpectAnnotation(job, key, want string) func(*testing.T, *clitest.Server) {
	return func(t *testing.T, server *clitest.Server) {
		t.Helper()
		for _, object := range server.ObjectsBelow(JobsPath) {
			metadata := object["metadata"].(map[string]any)
			if metadata["name"] != job {
				continue
			}
			annotations, _ := metadata["annotations"].(map[string]any)
			if got, _ := annotations[key].(string); got != want {
				t.Errorf("annotation %s of %s is %q, want %q", key, job, got, want)
			}
			return
		}
		t.Errorf("no job %s", job)
	}
}

// WithChecks returns a run that is followed by checks of the server.
func WithChecks(r golden.Run, checks ...func(*testing.T, *clitest.Server)) golden.Run {
	r.Check = func(t *testing.T, server *clitest.Server) {
		for _, check := range checks {
			check(t, server)
		}
	}
	return r
}

// WithUrgentJob adds a priority class before a run.
func WithUrgentJob(r golden.Run) golden.Run {
	prepare := r.Prepare
	r.Prepare = func(server *clitest.Server) {
		prepare(server)
		server.SetObjects(&schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "urgent"}, Value: 1000})
	}
	return r
}

// NodeCluster adds nodes in every state, and a queue that contains some of them.
func NodeCluster(server *clitest.Server) {
	AddJobs(server)
	for _, name := range []string{"r05n07", "r05n08", "r05n09", "r05n10", "r05n11", "r05n12", "r05n13"} {
		node := golden.NewNode(name)
		node.Labels = map[string]string{keys.NodeGroup: "r05", "nvidia.com/gpu.product": "A100"}
		node.Status.Allocatable = golden.NewResources("cpu", "64", "memory", "256Gi", "nvidia.com/gpu", "8")
		switch name {
		case "r05n10":
			node.Spec.Unschedulable, node.Annotations = true, map[string]string{keys.DrainReason: "fan broken"}
		case "r05n11":
			node.Spec.Unschedulable = true
		case "r05n12":
			node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown}}
		case "r05n13":
			node.Spec.Taints = []corev1.Taint{{Key: "node.example.com/maintenance", Effect: corev1.TaintEffectNoSchedule}}
			node.Status.Allocatable = golden.NewResources("cpu", "32", "memory", "128Gi")
		}
		server.SetObjects(node)
	}
	server.SetObjects(golden.NewQueue("nlp", 2, schedulingv1beta1.QueueStateClosing, func(q *schedulingv1beta1.Queue) {
		q.Spec.Affinity = &schedulingv1beta1.Affinity{NodeGroupAffinity: &schedulingv1beta1.NodeGroupAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []string{"r05"}}}
	}))
}

// ArrayWaitingForNodes returns an array of 200 elements that all have pods, three of them on a node.
func ArrayWaitingForNodes() []client.Object {
	job := NewJob(42, "sweep", "mei", "default", batchv1alpha1.Running, time.Hour, func(j *batchv1alpha1.Job) {
		j.Annotations[keys.Array] = "0-199"
		j.Spec.Tasks[0].Replicas = 200
		j.Status.Array = &batchv1alpha1.ArrayStatus{Running: "0-199"}
	})
	objects := []client.Object{job, golden.NewGroup(job, schedulingv1beta1.PodGroupRunning, golden.WaitingExplanation()), golden.NewQueue("default", 1, schedulingv1beta1.QueueStateOpen, nil)}
	for i := range 200 {
		node, phase := "", corev1.PodPending
		if i < 3 {
			node, phase = "r05n07", corev1.PodRunning
		}
		objects = append(objects, NewPod(job, "head", i, node, phase, element(strconv.Itoa(i))))
	}
	return objects
}

// NewRun returns a run of `vcctl slurm` with these words on a cluster with jobs.
func NewRun(about string, argv ...string) golden.Run {
	return golden.Run{About: about, Argv: append([]string{"slurm"}, argv...), Prepare: AddJobs}
}

// WithEnv returns a run with environment variables, as pairs of a name and a value.
func WithEnv(r golden.Run, pairs ...string) golden.Run {
	r.Env = map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		r.Env[pairs[i]] = pairs[i+1]
	}
	return r
}
