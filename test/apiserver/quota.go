package apiserver

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/resourcequota"
	quota "k8s.io/apiserver/pkg/quota/v1"
	"k8s.io/kubernetes/pkg/quota/v1/evaluator/core"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// serverClock is the clock of the server.
type serverClock struct {
	clock.RealClock
	now func() time.Time
}

func (c serverClock) Now() time.Time                  { return c.now() }
func (c serverClock) Since(t time.Time) time.Duration { return c.now().Sub(t) }

// quotaEvaluator returns the evaluator of pods.
func (s *Server) quotaEvaluator() quota.Evaluator {
	if s.evaluator == nil {
		s.evaluator = core.NewPodEvaluator(nil, serverClock{now: s.now})
	}
	return s.evaluator
}

// checkQuota rejects a pod that exceeds a quota of its namespace, and otherwise adds the pod to the usage. old is nil for a
// new pod. Quotas for other kinds have no effect.
func (s *Server) checkQuota(r *Request, object, old client.Object) error {
	if _, isPod := object.(*corev1.Pod); !isPod || r.Subresource != "" {
		return nil
	}
	quotas := s.quotasOf(r.Namespace)
	if len(quotas) == 0 {
		return nil
	}
	operation, before := admission.Create, runtime.Object(nil)
	if old != nil {
		operation, before = admission.Update, old
	}
	attributes := admission.NewAttributesRecord(object, before, podKind, r.Namespace, object.GetName(),
		corev1.SchemeGroupVersion.WithResource("pods"), "", operation, nil, false, nil)
	charged, err := resourcequota.CheckRequest(quotas, attributes, s.quotaEvaluator(), nil)
	if err != nil {
		return err
	}
	for i := range charged {
		e := s.quotas.find(r.Namespace, charged[i].Name)
		previous, _ := e.object.(*corev1.ResourceQuota)
		if !quota.Equals(previous.Status.Used, charged[i].Status.Used) {
			update := *previous
			update.Status.Used = charged[i].Status.Used
			s.put(r, s.quotas, e, &update)
		}
	}
	return nil
}

// quotasOf returns copies of the quotas of a namespace.
func (s *Server) quotasOf(namespace string) (quotas []corev1.ResourceQuota) {
	s.quotas.all(namespace, func(e *entry) bool {
		if q, ok := e.object.(*corev1.ResourceQuota); ok {
			quotas = append(quotas, *q.DeepCopy())
		}
		return true
	})
	return quotas
}

// QuotaRequests returns the requests of the quota controller of kube-controller-manager, which computes the usage of
// quotas from the pods.
func (s *Server) QuotaRequests() (requests []*Request) {
	s.quotas.all("", func(e *entry) bool {
		q, ok := e.object.(*corev1.ResourceQuota)
		if !ok || q.DeletionTimestamp != nil {
			return true
		}
		used := s.usageOf(q)
		if !quota.Equals(q.Status.Used, used) || !quota.Equals(q.Status.Hard, q.Spec.Hard) {
			update := q.DeepCopy()
			update.Status = corev1.ResourceQuotaStatus{Hard: q.Spec.Hard, Used: used}
			r := e.newRequest(Update)
			r.Preconditions, r.Subresource, r.Object = nil, "status", update
			requests = append(requests, r)
		}
		return true
	})
	return requests
}

// usageOf returns the usage of a quota by the pods that it covers.
func (s *Server) usageOf(q *corev1.ResourceQuota) corev1.ResourceList {
	names, evaluator := quota.ResourceNames(q.Spec.Hard), s.quotaEvaluator()
	limited := *q
	limited.Status.Hard = q.Spec.Hard // the evaluator reads the limits in the status
	used := corev1.ResourceList{}
	for _, name := range names {
		used[name] = resource.Quantity{Format: resource.DecimalSI}
	}
	s.pods.all(q.Namespace, func(e *entry) bool {
		if usage, ok := podUsage(evaluator, &limited, e.object); ok {
			used = quota.Mask(quota.Add(used, usage), names)
		}
		return true
	})
	return used
}

// podUsage returns the usage of a pod if the quota covers the pod.
func podUsage(evaluator quota.Evaluator, q *corev1.ResourceQuota, pod runtime.Object) (corev1.ResourceList, bool) {
	if covered, err := evaluator.Matches(q, pod); err != nil || !covered {
		return nil, false
	}
	usage, err := evaluator.Usage(pod)
	return usage, err == nil
}
