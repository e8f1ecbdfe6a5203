package plan

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/controllers/job/plugin/pluginapi"
	"github.com/vc-batch/vc/internal/controllers/quotausage"
)

// GroupName returns the name of a job's PodGroup.
func GroupName(job *batchv1alpha1.Job) string { return job.Name + "-" + string(job.UID) }

// newGroup returns the PodGroup for the job's current version. starts reports whether a task may have pods now.
func newGroup(job *batchv1alpha1.Job, priorities map[string]int32, starts func(task int) bool) *schedulingv1beta1.PodGroup {
	annotations := maps.Clone(job.Annotations)
	if annotations == nil {
		annotations = map[string]string{}
	}
	// otherwise, kubectl apply on the job would treat the PodGroup as its own object
	delete(annotations, corev1.LastAppliedConfigAnnotation)
	if estimate := runningEstimate(job); estimate > 0 {
		annotations[keys.RunningEstimate] = estimate.String()
	}
	setOrDelete(annotations, keys.TaskRequests, taskRequests(job))
	setOrDelete(annotations, keys.TaskPlacements, taskPlacements(job))
	setOrDelete(annotations, keys.TimeLimit, timeLimitText(job))
	annotations[keys.JobVersion] = strconv.Itoa(int(job.Status.Version))
	return &schedulingv1beta1.PodGroup{
		ObjectMeta: metav1.ObjectMeta{Name: GroupName(job), Namespace: job.Namespace, Labels: maps.Clone(job.Labels), Annotations: annotations,
			OwnerReferences: []metav1.OwnerReference{pluginapi.JobOwnerReference(job)}},
		Spec:   groupSpec(job, priorities, starts),
		Status: schedulingv1beta1.PodGroupStatus{Phase: schedulingv1beta1.PodGroupPending},
	}
}

// setOrDelete sets an annotation, or deletes it if the value is empty.
func setOrDelete(annotations map[string]string, key, value string) {
	if value == "" {
		delete(annotations, key)
		return
	}
	annotations[key] = value
}

const (
	// mostTasksTold is the maximum number of tasks for which the PodGroup contains requests and placement rules.
	mostTasksTold = 50
	// mostPlacementBytes is the maximum size of the placement rules stored in the PodGroup.
	mostPlacementBytes = 32 << 10
)

// taskRequests returns the requests of a pod of each task as JSON, so that the scheduler can take them into account
// before the pods exist. It returns "" for a job with too many tasks.
func taskRequests(job *batchv1alpha1.Job) string {
	if len(job.Spec.Tasks) > mostTasksTold {
		return ""
	}
	requests := make(map[string]corev1.ResourceList, len(job.Spec.Tasks))
	for i := range job.Spec.Tasks {
		requests[job.Spec.Tasks[i].Name] = quotausage.UsageOfPod(&job.Spec.Tasks[i].Template.Spec)
	}
	text, err := json.Marshal(requests)
	if err != nil {
		return ""
	}
	return string(text)
}

// placement holds the fields of a pod that restrict the nodes on which it may run, independent of other pods.
type placement struct {
	NodeSelector map[string]string   `json:"nodeSelector,omitempty"`
	Affinity     *corev1.Affinity    `json:"affinity,omitempty"`
	Tolerations  []corev1.Toleration `json:"tolerations,omitempty"`
}

// taskPlacements returns the placement rules of each task as JSON, so that the scheduler can take them into account
// before the pods exist. It omits tasks that may run anywhere. It returns "" for a job with too many tasks or with
// rules that are too long.
func taskPlacements(job *batchv1alpha1.Job) string {
	if len(job.Spec.Tasks) > mostTasksTold {
		return ""
	}
	placements := map[string]placement{}
	for i := range job.Spec.Tasks {
		spec := &job.Spec.Tasks[i].Template.Spec
		p := placement{NodeSelector: spec.NodeSelector, Tolerations: spec.Tolerations}
		if spec.Affinity != nil && spec.Affinity.NodeAffinity != nil {
			p.Affinity = &corev1.Affinity{NodeAffinity: spec.Affinity.NodeAffinity}
		}
		if len(p.NodeSelector) > 0 || len(p.Tolerations) > 0 || p.Affinity != nil {
			placements[job.Spec.Tasks[i].Name] = p
		}
	}
	text, err := json.Marshal(placements)
	if err != nil || len(text) > mostPlacementBytes {
		return ""
	}
	return string(text)
}

// runningEstimate returns the run time that the job declares. If the job declares none, it returns the longest time
// limit of the job's tasks, provided that all tasks have one. 0 means unknown.
func runningEstimate(job *batchv1alpha1.Job) time.Duration {
	if estimate := job.Spec.RunningEstimate; estimate != nil && estimate.Duration > 0 {
		return estimate.Duration
	}
	return longestTimeLimit(job)
}

// timeLimitText returns the longest time limit of the job's tasks, or "" if a task has none.
func timeLimitText(job *batchv1alpha1.Job) string {
	if limit := longestTimeLimit(job); limit > 0 {
		return limit.String()
	}
	return ""
}

// longestTimeLimit returns the longest time limit of the job's tasks, or 0 if a task has none.
func longestTimeLimit(job *batchv1alpha1.Job) time.Duration {
	var longest time.Duration
	for i := range job.Spec.Tasks {
		limit := job.Spec.Tasks[i].Template.Spec.ActiveDeadlineSeconds
		if limit == nil || *limit <= 0 || *limit > maxEstimateSeconds {
			return 0
		}
		longest = max(longest, time.Duration(*limit)*time.Second)
	}
	return longest
}

// maxEstimateSeconds is the longest time limit that counts as an estimate: a hundred years.
const maxEstimateSeconds = 100 * 365 * 24 * 3600

// groupIsCurrent reports whether the PodGroup belongs to the current version of the job. A PodGroup of an older
// version may remain if a crash interrupted its deletion. A PodGroup without a version was created by another
// component and always counts as current.
func (b *builder) groupIsCurrent() bool {
	version, err := strconv.Atoi(b.in.PodGroup.Annotations[keys.JobVersion])
	return err != nil || int32(version) >= b.job.Status.Version
}

// groupSpec returns the spec of a gang whose pods can all exist now. Tasks that are waiting for other tasks are not
// part of the gang yet, because a gang that included them would never start, and so they would not start either.
// minResources covers the minimum of the whole job from the beginning.
func groupSpec(job *batchv1alpha1.Job, priorities map[string]int32, starts func(task int) bool) schedulingv1beta1.PodGroupSpec {
	resources := minResources(job, priorities)
	var possible int32
	spec := schedulingv1beta1.PodGroupSpec{
		MinTaskMember: map[string]int32{}, Queue: job.Spec.Queue,
		PriorityClassName: job.Spec.PriorityClassName, MinResources: &resources, NetworkTopology: topologySpec(job.Spec.NetworkTopology),
	}
	for i := range job.Spec.Tasks {
		t := &job.Spec.Tasks[i]
		if !starts(i) {
			continue
		}
		possible += t.Replicas
		spec.MinTaskMember[t.Name] = minTaskMember(t)
		if p := t.PartitionPolicy; p != nil {
			size, least := p.PartitionSize, p.MinPartitions
			spec.SubGroupPolicy = append(spec.SubGroupPolicy, schedulingv1beta1.SubGroupPolicySpec{
				Name: t.Name, SubGroupSize: &size, MinSubGroups: &least, NetworkTopology: topologySpec(p.NetworkTopology),
				LabelSelector:  &metav1.LabelSelector{MatchLabels: map[string]string{keys.TaskSpec: t.Name}},
				MatchLabelKeys: []string{keys.PartitionID},
			})
		}
	}
	spec.MinMember = min(job.Spec.MinAvailable, possible)
	return spec
}

func minTaskMember(t *batchv1alpha1.TaskSpec) int32 {
	if t.MinAvailable != nil {
		return *t.MinAvailable
	}
	if p := t.PartitionPolicy; p != nil && p.MinPartitions*p.PartitionSize != 0 {
		return p.MinPartitions * p.PartitionSize
	}
	return t.Replicas
}

func topologySpec(t *batchv1alpha1.NetworkTopologySpec) *schedulingv1beta1.NetworkTopologySpec {
	if t == nil {
		return nil
	}
	return &schedulingv1beta1.NetworkTopologySpec{
		Mode:               cmp.Or(schedulingv1beta1.NetworkTopologyMode(t.Mode), schedulingv1beta1.HardNetworkTopologyMode),
		HighestTierAllowed: t.HighestTierAllowed, HighestTierName: t.HighestTierName,
	}
}

// refreshGroupSpec returns the spec that an existing PodGroup should have, and whether it differs from the current
// spec. The queue, the topology, and the minimums of tasks that the job does not have are left unchanged.
func refreshGroupSpec(group *schedulingv1beta1.PodGroup, job *batchv1alpha1.Job, priorities map[string]int32, starts func(task int) bool) (spec schedulingv1beta1.PodGroupSpec, changed bool) {
	want, is := groupSpec(job, priorities, starts), &group.Spec
	members := want.MinTaskMember
	for task, least := range is.MinTaskMember {
		if !slices.ContainsFunc(job.Spec.Tasks, func(t batchv1alpha1.TaskSpec) bool { return t.Name == task }) {
			members[task] = least
		}
	}
	sameResources := is.MinResources != nil && sameAmounts(*want.MinResources, *is.MinResources)
	sameMinimum := want.MinMember == is.MinMember && maps.Equal(members, is.MinTaskMember) && sameResources
	samePlace := want.PriorityClassName == is.PriorityClassName && equality.Semantic.DeepEqual(want.SubGroupPolicy, is.SubGroupPolicy)
	if sameMinimum && samePlace {
		return *is, false
	}
	spec = *is.DeepCopy()
	spec.PriorityClassName, spec.MinMember, spec.MinResources = want.PriorityClassName, want.MinMember, want.MinResources
	spec.MinTaskMember, spec.SubGroupPolicy = members, want.SubGroupPolicy
	return spec, true
}

// sameAmounts reports whether two resource lists are equal, regardless of the format of their quantities.
func sameAmounts(x, y corev1.ResourceList) bool {
	return maps.EqualFunc(x, y, func(a, b resource.Quantity) bool { return a.Cmp(b) == 0 })
}

// minResources returns the total requests of the smallest set of pods that may start. It counts the pods of the tasks
// with the highest priority first.
func minResources(job *batchv1alpha1.Job, priorities map[string]int32) corev1.ResourceList {
	order := make([]*batchv1alpha1.TaskSpec, len(job.Spec.Tasks))
	for i := range order {
		order[i] = &job.Spec.Tasks[i]
	}
	slices.SortStableFunc(order, func(x, y *batchv1alpha1.TaskSpec) int {
		return cmp.Compare(priorities[y.Template.Spec.PriorityClassName], priorities[x.Template.Spec.PriorityClassName])
	})
	taken := make([]int32, len(order))
	left := job.Spec.MinAvailable
	take := func(i int, upTo int32) {
		n := max(0, min(left, upTo-taken[i]))
		taken[i] += n
		left -= n
	}
	if job.Spec.MinAvailable >= taskMinimums(job) {
		for i, t := range order {
			take(i, taskMinimum(t))
		}
	}
	for i, t := range order {
		take(i, t.Replicas)
	}
	total := corev1.ResourceList{}
	for i, t := range order {
		if taken[i] > 0 {
			quotausage.Add(total, quotausage.UsageOfPod(&t.Template.Spec), taken[i])
		}
	}
	return total
}
