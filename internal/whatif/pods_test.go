package whatif

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	insightv1alpha1 "github.com/vc-batch/vc/api/insight/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/test/make"
)

var (
	aPod      = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}
	aPodGroup = metav1.TypeMeta{APIVersion: schedulingv1beta1.GroupVersion.String(), Kind: "PodGroup"}
)

// plainPod is a pod as a user writes it: without a status, and without a UID.
func plainPod(name, cpu string, change ...func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{}}}
	pod.Spec.SchedulerName = "volcano"
	pod.Spec.Containers = []corev1.Container{{Name: "c", Image: "i", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse(cpu)}}}}
	for _, one := range change {
		one(pod)
	}
	return pod
}

func ofGroup(name string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Annotations[keys.GroupName] = name }
}

func inQueue(name string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Annotations[keys.PodQueueName] = name }
}

func gatedBy(name string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Spec.SchedulingGates = append(pod.Spec.SchedulingGates, corev1.PodSchedulingGate{Name: name})
	}
}

// idle is a cluster with one empty node of 4 cpu and the queues default and b.
func idle() (*model.Cluster, []*schedulingv1beta1.Queue) {
	c := model.New()
	queues := []*schedulingv1beta1.Queue{make.Queue("root").Reclaimable(false).Obj(), make.Queue("default").Weight(1).Obj(), make.Queue("b").Weight(1).Obj()}
	for _, q := range queues {
		q.Status.State = schedulingv1beta1.QueueStateOpen
		c.Apply(model.QueueFrom(q))
	}
	c.Apply(model.NodeFrom(make.Node("n").CPU("4").Memory("64Gi").Obj()))
	return c, queues
}

func TestPlansOfPods(t *testing.T) {
	t.Parallel()
	limited := plainPod("limited", "1", func(pod *corev1.Pod) {
		pod.Spec.Containers[0].Resources = corev1.ResourceRequirements{Limits: corev1.ResourceList{"cpu": resource.MustParse("6")}}
	})
	for name, test := range map[string]struct {
		pod     *corev1.Pod
		verdict insightv1alpha1.Verdict
		queue   string
		says    string
	}{
		"a pod that fits":                       {plainPod("p", "2"), insightv1alpha1.VerdictStarts, "default", "would start now: 1 of 1 pod on 1 node"},
		"a pod that names its queue":            {plainPod("p", "2", inQueue("b")), insightv1alpha1.VerdictStarts, "b", "would start now"},
		"a pod that no node can take":           {plainPod("p", "6"), insightv1alpha1.VerdictNever, "default", "can never start with its current request: "},
		"a pod that only limits its use":        {limited, insightv1alpha1.VerdictNever, "default", "can never start with its current request: "},
		"a pod with a scheduling gate":          {plainPod("p", "1", gatedBy("example.com/wait")), insightv1alpha1.VerdictWaits, "default", "scheduling gate example.com/wait"},
		"a pod of another scheduler":            {plainPod("p", "1", func(pod *corev1.Pod) { pod.Spec.SchedulerName = "" }), insightv1alpha1.VerdictNever, "", `spec.schedulerName: Unsupported value: "default-scheduler"`},
		"a pod of a group that is not planned":  {plainPod("p", "1", ofGroup("nowhere")), insightv1alpha1.VerdictNever, "", "nowhere; the PodGroup must be in the same plan"},
		"a pod of another namespace than asked": {plainPod("p", "1", func(pod *corev1.Pod) { pod.Namespace = "cv" }), insightv1alpha1.VerdictNever, "", "the pod must be in the plan's namespace, default"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, queues := idle()
			answer := answerTo(t, c, queues, raw(t, aPod, test.pod)).Answers[0]
			if answer.Verdict != test.verdict || answer.Queue != test.queue || !strings.Contains(answer.Message, test.says) {
				t.Errorf("%s in queue %q: %s; want %s in queue %q: %s", answer.Verdict, answer.Queue, answer.Message, test.verdict, test.queue, test.says)
			}
		})
	}
}

// A PodGroup is planned with the pods that name it: together they start, or wait.
func TestPlansOfPodGroups(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		min      int
		pods     []string // cpu of each
		verdict  insightv1alpha1.Verdict
		starting int32
		says     string
	}{
		"all fit":                      {3, []string{"1", "1", "2"}, insightv1alpha1.VerdictStarts, 3, "would start now: 3 of 3 pods on 1 node"},
		"more than the minimum":        {2, []string{"2", "2", "2"}, insightv1alpha1.VerdictStarts, 2, "would start now: 2 of 3 pods on 1 node"},
		"they do not fit at once":      {3, []string{"2", "2", "2"}, insightv1alpha1.VerdictNever, 0, "can never start with its current request: "},
		"fewer pods than it must have": {3, []string{"1"}, insightv1alpha1.VerdictWaits, 0, "would wait: 3 pods must start together, but the plan contains only 1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, queues := idle()
			group := make.Gang("g").Min(test.min).Queue("b").Obj()
			group.UID, group.Status = "", schedulingv1beta1.PodGroupStatus{}
			objects := []runtime.RawExtension{}
			for i, cpu := range test.pods {
				objects = append(objects, raw(t, aPod, plainPod("p"+string(rune('0'+i)), cpu, ofGroup("g"))))
			}
			objects = append(objects, raw(t, aPodGroup, group)) // the order does not matter
			status := answerTo(t, c, queues, objects...)
			answer := status.Answers[len(test.pods)]
			if answer.Verdict != test.verdict || answer.Starting != test.starting || answer.Pods != int32(len(test.pods)) || !strings.HasPrefix(answer.Message, test.says) {
				t.Errorf("%s: %d of %d pods: %s", answer.Verdict, answer.Starting, answer.Pods, answer.Message)
			}
			placed := int32(0)
			for i := range test.pods {
				member := status.Answers[i]
				placed += member.Starting
				if member.Verdict != test.verdict || !strings.HasPrefix(member.Message, "belongs to PodGroup g, which "+test.says) || len(member.Placements) != int(member.Starting) {
					t.Errorf("the pod %s: %s %+v", member.Name, member.Message, member.Placements)
				}
			}
			if placed != test.starting {
				t.Errorf("%d pods are placed by themselves, %d by their group", placed, test.starting)
			}
		})
	}
}

// Objects of the same names that exist already stay as they are.
func TestAPlannedPodGroupDoesNotTouchOneOfItsName(t *testing.T) {
	t.Parallel()
	c, queues := idle()
	c.Apply(model.GangFrom(make.Gang("g").Min(1).Queue("b").Phase(schedulingv1beta1.PodGroupRunning).Obj()),
		model.TaskFrom(make.Pod("p").Gang("g").CPU("3").On("n").Phase(corev1.PodRunning).Obj(), true))
	group := make.Gang("g").Min(1).Queue("b").Obj()
	group.UID, group.Status = "", schedulingv1beta1.PodGroupStatus{}
	status := answerTo(t, c, queues, raw(t, aPodGroup, group), raw(t, aPod, plainPod("p", "2", ofGroup("g"))))
	if answer := status.Answers[0]; answer.Verdict != insightv1alpha1.VerdictWaits || answer.Pods != 1 {
		t.Errorf("%s of %d pods: %s", answer.Verdict, answer.Pods, answer.Message)
	}
	if there := c.Gangs["default/g"]; there == nil || there.Status.Phase != schedulingv1beta1.PodGroupRunning {
		t.Errorf("the group that exists is %+v", there)
	}
}
