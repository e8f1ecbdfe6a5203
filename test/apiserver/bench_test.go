package apiserver

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// BenchmarkRequests measures the frequent requests of the project's components.
func BenchmarkRequests(b *testing.B) {
	jobKind := batchv1alpha1.GroupVersion.WithKind("Job")
	patch := func(r *Request, kind types.PatchType, text string, args ...any) *Request {
		r.Verb, r.PatchType, r.Patch = Patch, kind, fmt.Appendf(nil, text, args...)
		return r
	}
	pod := func(verb Verb, name string) *Request {
		return &Request{Verb: verb, Kind: podKind, Namespace: testNamespace, Name: name, User: "u"}
	}
	for name, request := range map[string]func(n int, s *Server) *Request{
		"get a pod": func(int, *Server) *Request { return pod(Get, "p") },
		"create a pod": func(n int, _ *Server) *Request {
			r := pod(Create, "")
			r.Object = fullPod(fmt.Sprintf("p%d", n))
			return r
		},
		"list 100 pods": func(int, *Server) *Request { return pod(List, "") },
		"merge annotations": func(n int, s *Server) *Request {
			return patch(pod(Patch, "p"), types.MergePatchType, `{"metadata":{"annotations":{"n":"%d"},"uid":"%s"}}`, n, uidOfPod(s))
		},
		"strategic annotations": func(n int, s *Server) *Request {
			return patch(pod(Patch, "p"), types.StrategicMergePatchType, `{"metadata":{"annotations":{"n":"%d"},"uid":"%s"}}`, n, uidOfPod(s))
		},
		"condition of a pod": func(n int, s *Server) *Request {
			r := pod(Patch, "p")
			r.Subresource = "status"
			return patch(r, types.StrategicMergePatchType, `{"metadata":{"uid":"%s"},"status":{"conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"%d","lastTransitionTime":"2025-03-04T05:06:07Z"}]}}`, uidOfPod(s), n)
		},
		"status of a pod": func(n int, _ *Server) *Request {
			r := pod(Update, "p")
			r.Subresource = "status"
			object := fullPod("p")
			object.Status = corev1.PodStatus{Phase: corev1.PodRunning, Message: fmt.Sprint(n), StartTime: &metav1.Time{Time: time.Unix(1e9, 0)}}
			r.Object = object
			return r
		},
		"status of a job": func(n int, s *Server) *Request {
			r := &Request{Verb: Update, Subresource: "status", Kind: jobKind, Namespace: testNamespace, Name: "j"}
			job := s.tables[jobKind].find(testNamespace, "j").object.(*batchv1alpha1.Job).DeepCopy()
			job.Status.Running, job.Status.State.LastTransitionTime = int32(n), metav1.Unix(1e9, 0)
			r.Object = job
			return r
		},
		"status of a PodGroup": func(n int, s *Server) *Request {
			r := &Request{Kind: podGroupKind, Namespace: testNamespace, Name: "g"}
			return patch(r, types.JSONPatchType, `[{"op":"test","path":"/metadata/uid","value":"%s"},{"op":"add","path":"/status","value":{"phase":"Inqueue","running":%d}}]`,
				s.tables[podGroupKind].find(testNamespace, "g").object.GetUID(), n)
		},
		"counters of a queue": func(n int, _ *Server) *Request {
			return patch(&Request{Kind: queueKind, Name: "q", Subresource: "status", User: "u"}, types.MergePatchType, `{"status":{"pending":%d}}`, n)
		},
		"apply a queue's status": func(n int, _ *Server) *Request {
			return patch(&Request{Kind: queueKind, Name: "q", Subresource: "status", User: "s"}, types.ApplyPatchType, `{"status":{"allocated":{"cpu":"%d","memory":"1Gi"},"deserved":{"cpu":"1"},"sharePercent":1,"waiting":2}}`, n)
		},
		"create an event": func(n int, _ *Server) *Request {
			return &Request{Verb: Create, Kind: eventKind, Namespace: testNamespace, Object: &corev1.Event{
				ObjectMeta: metav1.ObjectMeta{Namespace: testNamespace, Name: fmt.Sprintf("e%d", n)}, InvolvedObject: corev1.ObjectReference{Kind: "Pod", Namespace: testNamespace, Name: "p"},
				Reason: "Scheduled", Message: "m", Count: 1, FirstTimestamp: metav1.Unix(1e9, 0), LastTimestamp: metav1.Unix(1e9, 0),
			}}
		},
	} {
		b.Run(name, func(b *testing.B) {
			s := newBenchmarkServer(b)
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				n++
				do(b, s, request(n, s))
			}
		})
	}
}

func uidOfPod(s *Server) types.UID { return s.pods.find(testNamespace, "p").object.GetUID() }

// fullPod returns a pod as the job controller creates it.
func fullPod(name string) *corev1.Pod {
	pod := newPod(name)
	pod.Labels = map[string]string{"volcano.sh/job-name": "j", "volcano.sh/task-spec": "t", "volcano.sh/task-index": "0", "volcano.sh/queue-name": "default", "volcano.sh/job-namespace": testNamespace}
	pod.Annotations = map[string]string{"scheduling.k8s.io/group-name": "g", "volcano.sh/job-version": "0", "volcano.sh/template-uid": "j-t", "volcano.sh/task-spec": "t"}
	pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "batch.volcano.sh/v1alpha1", Kind: "Job", Name: "j", UID: "u", Controller: new(true), BlockOwnerDeletion: new(true)}}
	pod.Spec.SchedulerName = "volcano"
	pod.Spec.Containers[0].Resources.Requests = corev1.ResourceList{"cpu": *newQuantity("1"), "memory": *newQuantity("1Gi")}
	pod.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "VK_TASK_INDEX", Value: "0"}, {Name: "VC_TASK_INDEX", Value: "0"}}
	return pod
}

func newBenchmarkServer(b *testing.B) *Server {
	now := time.Unix(1_700_000_000, 0)
	s := New(testScheme, func() time.Time { return now })
	objects := []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: testNamespace}}, fullPod("p"), newJob("j"),
		&schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{Namespace: testNamespace, Name: "g"}}, &schedulingv1beta1.Queue{ObjectMeta: metav1.ObjectMeta{Name: "q"}},
	}
	for n := range 99 {
		objects = append(objects, fullPod(fmt.Sprintf("x%d", n)))
	}
	for _, o := range objects {
		kinds, _, err := testScheme.ObjectKinds(o)
		if err != nil {
			b.Fatal(err)
		}
		do(b, s, &Request{Verb: Create, Kind: kinds[0], Namespace: o.GetNamespace(), Object: o})
	}
	return s
}
