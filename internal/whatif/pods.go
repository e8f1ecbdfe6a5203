package whatif

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/vc-batch/vc/api/check"
	insightv1alpha1 "github.com/vc-batch/vc/api/insight/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	groupplan "github.com/vc-batch/vc/internal/controllers/podgroup/plan"
)

var (
	podKind      = corev1.SchemeGroupVersion.WithKind("Pod")
	podGroupKind = schedulingv1beta1.GroupVersion.WithKind("PodGroup")
)

// addGroup validates a PodGroup. Its pods are added by addPod.
func (t *Simulation) addGroup(q *Question, it *item, raw []byte, around *check.Around, uid types.UID) {
	beside := *around
	beside.NamespaceQueue = func(string) string { return "" } // a group without a queue belongs to the default queue
	verdict := check.Create(podGroupKind, raw, &beside)
	if it.answer.Warnings = verdict.Warnings; len(verdict.Errors) > 0 {
		it.rejectObject(verdict.Errors...)
		return
	}
	group, errs := check.Decode[schedulingv1beta1.PodGroup](raw)
	if errs = append(errs, q.rejectOtherNamespace(group, "group")...); len(errs) > 0 {
		it.rejectObject(errs...)
		return
	}
	if group.Name == "" {
		group.Name = group.GenerateName + "planned"
	}
	schedulingv1beta1.DefaultPodGroup(group, "")
	group.Namespace, group.Generation, group.ResourceVersion = q.Plan.Namespace, 1, ""
	group.Status = schedulingv1beta1.PodGroupStatus{Phase: schedulingv1beta1.PodGroupPending}
	it.answer.Queue = group.Spec.Queue
	it.job = &offspring{group: group, podsFirst: true}
	it.job.setServerFields(uid, q.creationTime(), q.Classes)
}

// rejectOtherNamespace rejects an object whose namespace is not the plan's namespace.
func (q *Question) rejectOtherNamespace(object metav1.Object, called string) field.ErrorList {
	if namespace := object.GetNamespace(); namespace != "" && namespace != q.Plan.Namespace {
		return field.ErrorList{field.Invalid(field.NewPath("metadata", "namespace"), namespace, "the "+called+" must be in the plan's namespace, "+q.Plan.Namespace)}
	}
	return nil
}

// creationTime returns the assumed creation time of the planned objects.
func (q *Question) creationTime() metav1.Time { return metav1.NewTime(q.Now.Truncate(time.Second)) }

// addPod validates a pod and adds it to the planned PodGroup that it names. A pod that names no PodGroup gets its
// own, as it would from the controller.
func (t *Simulation) addPod(q *Question, it *item, raw []byte, around *check.Around, uid types.UID) {
	verdict := check.Create(podKind, raw, around)
	if it.answer.Warnings = verdict.Warnings; len(verdict.Errors) > 0 {
		it.rejectObject(verdict.Errors...)
		return
	}
	pod, errs := check.Decode[corev1.Pod](raw)
	errs = append(errs, q.rejectOtherNamespace(pod, "pod")...)
	if name := pod.Spec.SchedulerName; len(errs) == 0 && !slices.Contains(q.SchedulerNames, name) {
		name = cmp.Or(name, corev1.DefaultSchedulerName)
		errs = append(errs, field.NotSupported(field.NewPath("spec", "schedulerName"), name, q.SchedulerNames))
	}
	if len(errs) > 0 {
		it.rejectObject(errs...)
		return
	}
	if pod.Name == "" {
		pod.Name = pod.GenerateName + "planned"
	}
	pod.Namespace, pod.UID, pod.Generation, pod.ResourceVersion = q.Plan.Namespace, uid, 1, ""
	pod.Spec.NodeName, pod.Status = "", corev1.PodStatus{}
	if named := keys.PodGroupOf(pod.Annotations); named != "" {
		t.joinPodGroup(q, it, pod, named)
		return
	}
	group := groupplan.GroupFor(pod, nil)
	metav1.SetMetaDataAnnotation(&pod.ObjectMeta, keys.GroupName, group.Name)
	it.answer.Queue = group.Spec.Queue
	it.job = &offspring{group: group, pods: []*corev1.Pod{pod}, podsFirst: true}
	it.job.setServerFields(uid, q.creationTime(), q.Classes)
}

// joinPodGroup adds a pod to a planned PodGroup.
func (t *Simulation) joinPodGroup(q *Question, it *item, pod *corev1.Pod, named string) {
	for i := range t.items {
		other := &t.items[i]
		if other.answer.Kind != podGroupKind.Kind || other.answer.Name != named {
			continue
		}
		if other.job == nil {
			it.answer.Verdict, it.answer.Message = insightv1alpha1.VerdictNever, fmt.Sprintf("its PodGroup %s would be rejected", named)
			return
		}
		other.job.pods = append(other.job.pods, pod)
		other.job.finishPod(len(other.job.pods)-1, q.creationTime(), q.Classes)
		it.of, it.pod = other, pod
		it.answer.Queue = other.answer.Queue
		return
	}
	at := field.NewPath("metadata", "annotations").Key(keys.GroupName)
	it.rejectObject(field.NotFound(at, named+"; the PodGroup must be in the same plan"))
}

// setMemberAnswer sets the answer for a pod of a planned PodGroup, which starts or waits together with its group.
func (it *item) setMemberAnswer() {
	a, of := &it.answer, &it.of.answer
	a.Pods, a.Verdict = 1, of.Verdict
	a.Message = fmt.Sprintf("belongs to PodGroup %s, which %s", of.Name, of.Message)
	for _, place := range it.of.places {
		if place.pod == it.pod.UID {
			a.Starting = 1
			a.Placements = []insightv1alpha1.Placement{{Node: place.node, Task: it.pod.Labels[keys.TaskSpec], Pods: 1, Later: place.later}}
		}
	}
}
