package admission

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/admission/resourcegroup"
)

// groupsPoll is how often the file of resource groups is looked at. Reading it is cheaper than watching a directory of
// symbolic links, which is what a mounted ConfigMap is, and cannot miss a change.
const groupsPoll = 2 * time.Second

// podRules are what is changed in new pods: by the file of resource groups, and the gate of those that wait for room
// in their queue.
type podRules struct {
	schedulers []string
	gate       bool
	path       string // of the file; "" for none
	text       []byte // of the file, as it was last read
	groups     atomic.Pointer[resourcegroup.Config]
}

// newPodRules reads the file for the start: then it must be there and valid.
func newPodRules(options Options) (*podRules, error) {
	rules := &podRules{schedulers: options.SchedulerNames, gate: options.QueueGate, path: options.AdmissionConf}
	rules.groups.Store(&resourcegroup.Config{})
	if rules.path == "" {
		return rules, nil
	}
	_, err := rules.read()
	return rules, err
}

// read takes over the file if it changed. A file that cannot be taken leaves everything as it was.
func (r *podRules) read() (changed bool, err error) {
	text, err := os.ReadFile(r.path)
	if err != nil {
		return false, fmt.Errorf("admission: %w", err)
	}
	if r.text != nil && bytes.Equal(text, r.text) {
		return false, nil
	}
	r.text = text
	groups, err := resourcegroup.Parse(text)
	if err != nil {
		return false, fmt.Errorf("admission: file %s: %w", r.path, err)
	}
	r.groups.Store(groups)
	return true, nil
}

// follow reads the file again and again until ctx ends, and calls changed when there is another one in force.
func (r *podRules) follow(ctx context.Context, poll <-chan time.Time, changed func()) {
	log := klog.FromContext(ctx).WithName("admission")
	last := ""
	for {
		select {
		case <-ctx.Done():
			return
		case <-poll:
		}
		news, err := r.read()
		switch {
		case err != nil && err.Error() != last:
			last = err.Error()
			log.Error(err, "Resource groups stay as they were", "file", r.path)
		case news:
			last = ""
			log.Info("Resource groups are taken from the file", "file", r.path, "groups", len(r.groups.Load().Groups))
			changed()
		}
	}
}

// mutatePod gates a pod that asks for it and makes it one of its resource group.
func (h *hooks) mutatePod(_ context.Context, request admission.Request) admission.Response {
	return mutate(request, func(pod *corev1.Pod) { h.pods.change(pod, request.Namespace) })
}

func (r *podRules) change(pod *corev1.Pod, namespace string) {
	r.groups.Load().Apply(pod, namespace)
	if !r.gate || pod.Annotations[keys.QueueAllocationGate] != "true" || !slices.Contains(r.schedulers, pod.Spec.SchedulerName) {
		return
	}
	gate := corev1.PodSchedulingGate{Name: keys.QueueAllocationGate}
	if !slices.Contains(pod.Spec.SchedulingGates, gate) {
		pod.Spec.SchedulingGates = append(pod.Spec.SchedulingGates, gate)
	}
}

// rule sends the pods to us that may have to be changed, and no other. It fails open.
func (r *podRules) rule() rule {
	var terms []string
	if condition := r.groups.Load().Condition(); condition != "" {
		terms = append(terms, condition)
	}
	if r.gate {
		terms = append(terms, fmt.Sprintf("object.metadata.?annotations[?'%s'] == optional.of('true') && %s", keys.QueueAllocationGate, isOurs(r.schedulers)))
	}
	return rule{
		path: pathMutatePod, groups: "", version: "v1", resource: "pods", scope: admissionregistrationv1.NamespacedScope,
		operations: create(), failOpen: true,
		conditions: []admissionregistrationv1.MatchCondition{{Name: "asks-for-a-change", Expression: strings.Join(terms, " || ")}},
		off:        len(terms) == 0,
	}
}
