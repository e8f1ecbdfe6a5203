package snapshot

import (
	"maps"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// Sharer makes objects with equal resource lists share one copy, because most of ten thousand jobs look alike. The zero
// value is ready to use. Many goroutines may use it.
type Sharer struct {
	mu        sync.Mutex
	lists     map[string]corev1.ResourceList
	selectors map[string]map[string]string
}

// mostShared is the greatest number of cached lists. Beyond it, the cache is cleared.
const mostShared = 4096

// ShareJobLists makes a job that SlimJob has reduced share its lists. It changes the job, whose lists must not change
// afterwards.
func (s *Sharer) ShareJobLists(job *batchv1alpha1.Job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	job.Namespace, job.Spec.Queue, job.Spec.SchedulerName = shareText(job.Namespace), shareText(job.Spec.Queue), shareText(job.Spec.SchedulerName)
	for i := range job.Spec.Tasks {
		task := &job.Spec.Tasks[i]
		task.Name = shareText(task.Name)
		pod := &task.Template.Spec
		pod.NodeSelector = s.shareSelector(pod.NodeSelector)
		for c := range pod.Containers {
			one := &pod.Containers[c]
			one.Name, one.Image = shareText(one.Name), shareText(one.Image)
			one.Resources.Requests, one.Resources.Limits = s.list(one.Resources.Requests), s.list(one.Resources.Limits)
		}
	}
}

// ShareGroupLists makes a PodGroup that SlimGroup has reduced share its lists. It changes the group, whose lists must
// not change afterwards.
func (s *Sharer) ShareGroupLists(g *schedulingv1beta1.PodGroup) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g.Namespace, g.Spec.Queue = shareText(g.Namespace), shareText(g.Spec.Queue)
	if g.Spec.MinResources != nil {
		list := s.list(*g.Spec.MinResources)
		g.Spec.MinResources = &list
	}
}

func (s *Sharer) list(list corev1.ResourceList) corev1.ResourceList {
	if len(list) == 0 {
		return list
	}
	var key strings.Builder
	for _, name := range slices.Sorted(maps.Keys(list)) {
		amount := list[name]
		key.WriteString(string(name) + "=" + amount.String() + ",")
	}
	if s.lists == nil || len(s.lists) >= mostShared {
		s.lists = map[string]corev1.ResourceList{}
	}
	return firstStored(s.lists, key.String(), list)
}

func (s *Sharer) shareSelector(labels map[string]string) map[string]string {
	if len(labels) == 0 {
		return labels
	}
	var key strings.Builder
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		key.WriteString(name + "=" + labels[name] + ",")
	}
	if s.selectors == nil || len(s.selectors) >= mostShared {
		s.selectors = map[string]map[string]string{}
	}
	return firstStored(s.selectors, key.String(), labels)
}

// firstStored returns the value first stored under a key.
func firstStored[T any](known map[string]T, key string, value T) T {
	if before, ok := known[key]; ok {
		return before
	}
	known[key] = value
	return value
}
