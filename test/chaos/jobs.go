package chaos

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/local/simnode"
)

// Shape is a kind of job, with its pods and its end.
type Shape string

// The shapes of jobs.
const (
	gang     Shape = "gang"      // all pods at once, all succeed
	elastic  Shape = "elastic"   // one pod is enough to start
	failing  Shape = "failing"   // one pod fails, the others succeed
	retried  Shape = "retried"   // a pod fails each time, and the job restarts until maxRetry
	array    Shape = "array"     // elements, two at once
	plugged  Shape = "plugged"   // has a Service, Secret and ConfigMap
	urgent   Shape = "urgent"    // of a higher priority
	endless  Shape = "endless"   // runs until it is deleted
	stubborn Shape = "stubborn"  // endless, and its pods take seconds to stop
	tooLarge Shape = "too large" // a gang larger than the cluster
)

// shapes are the shapes to draw from. Shapes that end occur more often.
var shapes = []Shape{gang, gang, elastic, elastic, failing, failing, retried, array, plugged, urgent, endless, stubborn, tooLarge}

// The size of the cluster. Every pod requests one CPU.
const (
	nodeCount = 8
	nodeCPU   = 4
	overSize  = nodeCount*nodeCPU + 1
)

// priority is the PriorityClass of urgent jobs.
const priority = "chaos-urgent"

// capabilities are the CPUs that each queue and its descendants may use. A missing queue has no limit. parents contains
// the parent of each queue.
var (
	capabilities = map[string]int64{"team": 14, "team-a": 8, "team-b": 10, "alone": 6}
	parents      = map[string]string{"team": keys.RootQueue, "team-a": "team", "team-b": "team", "alone": keys.RootQueue}
	leaves       = []string{keys.DefaultQueue, "team-a", "team-b", "alone"}
)

// schedulerConf makes the scheduler apply the capabilities of ancestors.
const schedulerConf = `actions: "enqueue, allocate, backfill, reclaim, preempt"
tiers:
- plugins: [{name: priority}, {name: gang}, {name: conformance}, {name: pdb}]
- plugins: [{name: predicates}, {name: capacity, enableHierarchy: true}, {name: nodeorder}, {name: binpack}]
`

// end returns the phase in which a job of this shape ends by itself, or "" if it does not.
func (s Shape) end() batchv1alpha1.JobPhase {
	switch s {
	case failing, retried:
		return batchv1alpha1.Failed
	case endless, stubborn, tooLarge:
		return ""
	}
	return batchv1alpha1.Completed
}

// job creates the Job of a story.
func (s Story) job(namespace string) *batchv1alpha1.Job {
	job := &batchv1alpha1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: s.Name},
		Spec:       batchv1alpha1.JobSpec{Queue: s.Queue, MinAvailable: s.Pods, Tasks: []batchv1alpha1.TaskSpec{s.task("work", s.Pods, s.Run, 0)}},
	}
	spec := &job.Spec
	switch s.Shape {
	case elastic:
		spec.MinAvailable = 1
	case failing:
		spec.Tasks = append(spec.Tasks, s.task("bad", 1, time.Second, 3))
		spec.MinAvailable = s.Pods + 1
	case retried:
		spec.Tasks = append(spec.Tasks, s.task("bad", 1, time.Second, 3))
		spec.MinAvailable = s.Pods + 1
		spec.MaxRetry = 2
		spec.Policies = []batchv1alpha1.LifecyclePolicy{{Event: busv1alpha1.PodFailedEvent, Action: busv1alpha1.RestartJobAction}}
	case array:
		job.Annotations = map[string]string{keys.Array: fmt.Sprintf("0-%d", s.Pods), keys.ArrayLimit: "2"}
		spec.Tasks[0].Replicas, spec.MinAvailable = 0, 0
	case plugged:
		spec.Plugins = map[string][]string{"svc": {}, "ssh": {}}
	case urgent:
		spec.PriorityClassName = priority
	case endless, stubborn:
		delete(spec.Tasks[0].Template.Annotations, simnode.AnnotationRunTime)
		if s.Shape == stubborn {
			spec.Tasks[0].Template.Annotations[simnode.AnnotationStopTime] = "6s"
		}
	case tooLarge:
		spec.Tasks[0].Replicas, spec.MinAvailable = overSize, overSize
	}
	return job
}

func (s Story) task(name string, replicas int32, run time.Duration, code int) batchv1alpha1.TaskSpec {
	return batchv1alpha1.TaskSpec{
		Name: name, Replicas: replicas,
		Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{simnode.AnnotationRunTime: run.String(), simnode.AnnotationExitCode: fmt.Sprint(code)}},
			Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever, TerminationGracePeriodSeconds: new(int64(10)),
				Containers: []corev1.Container{{
					Name: "main", Image: "none:local", Command: []string{"sleep", "600"},
					Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}},
				}},
			},
		},
	}
}

// queues creates the queues, parents first.
func queues() []*schedulingv1beta1.Queue {
	var all []*schedulingv1beta1.Queue
	for _, name := range []string{"team", "team-a", "team-b", "alone"} {
		q := &schedulingv1beta1.Queue{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: schedulingv1beta1.QueueSpec{Weight: 1,
			Capability: corev1.ResourceList{corev1.ResourceCPU: *resource.NewQuantity(capabilities[name], resource.DecimalSI)}}}
		if parents[name] != keys.RootQueue {
			q.Spec.Parent = parents[name]
		}
		all = append(all, q)
	}
	return all
}
