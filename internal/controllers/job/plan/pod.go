package plan

import (
	"cmp"
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/controllers/job/plugin"
	"github.com/vc-batch/vc/internal/controllers/job/plugin/pluginapi"
)

// NewPodForPlace returns the pod for a place. The job must have its defaults filled in (Plan.Job). forwarding reports
// whether pods of the job's queue may run in other clusters.
func NewPodForPlace(job *batchv1alpha1.Job, plugins plugin.Set, place Place, forwarding bool) *corev1.Pod {
	task := &job.Spec.Tasks[place.Task]
	template := task.Template.DeepCopy()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: pluginapi.PodNameFor(job, place.Task, place.Index), Namespace: job.Namespace,
			OwnerReferences: []metav1.OwnerReference{pluginapi.JobOwnerReference(job)},
			Labels:          template.Labels, Annotations: template.Annotations, Finalizers: template.Finalizers,
		},
		Spec: template.Spec,
	}
	pod.Spec.SchedulerName = cmp.Or(pod.Spec.SchedulerName, job.Spec.SchedulerName)
	pod.Spec.PriorityClassName = cmp.Or(pod.Spec.PriorityClassName, job.Spec.PriorityClassName)
	setPodLabels(pod, job, task, place.Index, forwarding)
	setPodAnnotations(pod, job, task, place.Index, forwarding)
	mountVolumes(pod, job)
	plugins.Pod(pod, job, place.Task, place.Index)
	return pod
}

func setPodLabels(pod *corev1.Pod, job *batchv1alpha1.Job, task *batchv1alpha1.TaskSpec, index int32, forwarding bool) {
	if pod.Labels == nil {
		pod.Labels = map[string]string{}
	}
	l := pod.Labels
	l[keys.TaskIndex] = strconv.Itoa(int(index))
	l[keys.JobName] = job.Name
	l[keys.TaskSpec] = task.Name
	l[keys.JobNamespace] = job.Namespace
	l[keys.QueueName] = job.Spec.Queue
	replaceKeys(l, job.Labels, keys.Account, keys.QOS)
	copyAnnotationKeys(l, job.Labels, keys.Preemptable, keys.CooldownTime, keys.JobID)
	if p := task.PartitionPolicy; p != nil {
		l[keys.PartitionID] = strconv.Itoa(int(partitionOfIndex(task, index)))
	}
	if forwarding {
		l[keys.JobForwarding] = "true"
	}
}

func setPodAnnotations(pod *corev1.Pod, job *batchv1alpha1.Job, task *batchv1alpha1.TaskSpec, index int32, forwarding bool) {
	if pod.Annotations == nil {
		pod.Annotations = map[string]string{}
	}
	a := pod.Annotations
	a[keys.TaskIndex] = strconv.Itoa(int(index))
	a[keys.TaskSpec] = task.Name
	a[keys.GroupName] = GroupName(job)
	a[keys.JobName] = job.Name
	a[keys.QueueName] = job.Spec.Queue
	a[keys.JobVersion] = strconv.Itoa(int(job.Status.Version))
	a[keys.TemplateUID] = job.Name + "-" + task.Name
	a[keys.JobRetryCount] = strconv.Itoa(int(job.Status.RetryCount))
	if restarts, _ := job.PolicyRestarts(); restarts+job.Status.UserRestarts > 0 {
		a[keys.Restarts] = strconv.Itoa(int(restarts + job.Status.UserRestarts))
	}
	if task.TopologyPolicy != "" {
		a[keys.NumaPolicy] = string(task.TopologyPolicy)
	}
	replaceKeys(a, job.Annotations, keys.User)
	delete(a, keys.Used) // a new pod has used nothing, whatever its template contains
	copyAnnotationKeys(a, job.Annotations, keys.Preemptable, keys.CooldownTime, keys.RevocableZone)
	if _, set := job.Annotations[keys.JDBMinAvailable]; set {
		copyAnnotationKeys(a, job.Annotations, keys.JDBMinAvailable)
	} else {
		copyAnnotationKeys(a, job.Annotations, keys.JDBMaxUnavailable)
	}
	if forwarding {
		a[keys.JobForwarding] = "true"
		a[keys.ForwardCluster] = job.Annotations[keys.ForwardCluster]
	}
}

func copyAnnotationKeys(to, from map[string]string, names ...string) {
	for _, name := range names {
		if value, set := from[name]; set {
			to[name] = value
		}
	}
}

// replaceKeys replaces the values of keys by those of a job, or removes them if the job has none. Their values in a template,
// which no admission checks, must not charge the pod to the account of other users.
func replaceKeys(values, ofJob map[string]string, names ...string) {
	for _, name := range names {
		setOrDelete(values, name, ofJob[name])
	}
}

// partitionOfIndex returns the number of the partition that contains an index.
func partitionOfIndex(task *batchv1alpha1.TaskSpec, index int32) int32 {
	if task.PartitionPolicy == nil || task.PartitionPolicy.PartitionSize <= 0 {
		return 0
	}
	return index / task.PartitionPolicy.PartitionSize
}

// mountVolumes mounts the job's volumes into all containers. It mounts each claim only once.
func mountVolumes(pod *corev1.Pod, job *batchv1alpha1.Job) {
	mounted := map[string]bool{}
	for i := range job.Spec.Volumes {
		claim := ClaimName(job, i)
		if mounted[claim] {
			continue
		}
		mounted[claim] = true
		name := fmt.Sprintf("%s-%s", job.Name, stableSuffix(string(job.UID), "volume", claim))
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim},
		}})
		for c := range pod.Spec.Containers {
			container := &pod.Spec.Containers[c]
			container.VolumeMounts = append(container.VolumeMounts, corev1.VolumeMount{Name: name, MountPath: job.Spec.Volumes[i].MountPath})
		}
	}
}
