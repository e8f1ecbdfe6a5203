package admission

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
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

// groupsPoll is the interval at which the file of resource groups is read. Reading the file is cheaper than watching a
// mounted ConfigMap, which is a directory of symbolic links, and it cannot miss a change.
const groupsPoll = 2 * time.Second

// podRules holds the changes to make to new pods: the resource groups from the file, and the scheduling gate for pods
// that must wait for capacity in their queue.
type podRules struct {
	schedulers []string
	gate       bool
	path       string // path of the file; "" for no file
	text       []byte // last content of the file
	groups     atomic.Pointer[resourcegroup.Config]
}

// newPodRules reads the file at startup. The file must exist and be valid.
func newPodRules(options Options) (*podRules, error) {
	rules := &podRules{schedulers: options.SchedulerNames, gate: options.QueueGate, path: options.AdmissionConf}
	rules.groups.Store(&resourcegroup.Config{})
	if rules.path == "" {
		return rules, nil
	}
	_, err := rules.readRulesFile()
	return rules, err
}

// readRulesFile loads the file if it has changed. If the file is invalid, the previous rules stay in force.
func (r *podRules) readRulesFile() (changed bool, err error) {
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

// followFile reads the file at each tick of poll until ctx is done, and calls changed after it has loaded another
// version.
func (r *podRules) followFile(ctx context.Context, poll <-chan time.Time, changed func()) {
	log := klog.FromContext(ctx).WithName("admission")
	wasUnreadable := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-poll:
		}
		news, err := r.readRulesFile()
		var problem *fs.PathError
		isUnreadable := errors.As(err, &problem)
		isRepeated := isUnreadable && wasUnreadable // an invalid file is reported once for each version of its text
		wasUnreadable = isUnreadable
		switch {
		case err != nil && !isRepeated:
			log.Error(err, "Could not read the resource groups; the previous resource groups remain in use", "file", r.path)
		case news:
			log.Info("Loaded resource groups from the file", "file", r.path, "groups", len(r.groups.Load().Groups))
			changed()
		}
	}
}

// mutatePod applies the resource groups to a pod and adds the scheduling gate if the pod requests it.
func (h *hooks) mutatePod(_ context.Context, request admission.Request) admission.Response {
	return responseWithPatch(request, func(pod *corev1.Pod) { h.pods.applyToPod(pod, request.Namespace) })
}

func (r *podRules) applyToPod(pod *corev1.Pod, namespace string) {
	r.groups.Load().ApplyFirstGroup(pod, namespace)
	if !r.gate || pod.Annotations[keys.QueueAllocationGate] != "true" || !slices.Contains(r.schedulers, pod.Spec.SchedulerName) {
		return
	}
	gate := corev1.PodSchedulingGate{Name: keys.QueueAllocationGate}
	if !slices.Contains(pod.Spec.SchedulingGates, gate) {
		pod.Spec.SchedulingGates = append(pod.Spec.SchedulingGates, gate)
	}
}

// webhookRule returns the webhook for the pods that may have to be changed. It fails open.
func (r *podRules) webhookRule() rule {
	var terms []string
	if condition := r.groups.Load().Condition(); condition != "" {
		terms = append(terms, condition)
	}
	if r.gate {
		terms = append(terms, fmt.Sprintf("object.metadata.?annotations[?'%s'] == optional.of('true') && %s", keys.QueueAllocationGate, isOurConfiguration(r.schedulers)))
	}
	return rule{
		path: pathMutatePod, groups: "", version: "v1", resource: "pods", scope: admissionregistrationv1.NamespacedScope,
		operations: createOnly(), failOpen: true,
		conditions: []admissionregistrationv1.MatchCondition{{Name: "asks-for-a-change", Expression: strings.Join(terms, " || ")}},
		off:        len(terms) == 0,
	}
}
