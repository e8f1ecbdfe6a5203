package whatif

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	insightv1alpha1 "github.com/vc-batch/vc/api/insight/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
	"github.com/vc-batch/vc/internal/scheduler"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/test/make"
)

// small is one node of 4 cpu. Queue a runs three jobs of one pod there. Queue b may have 1 cpu and holds back the
// jobs waits and late.
func small(t *testing.T) (*model.Cluster, []*schedulingv1beta1.Queue) {
	t.Helper()
	c := model.New()
	queues := []*schedulingv1beta1.Queue{
		make.Queue("root").Reclaimable(false).Obj(), make.Queue("a").Weight(1).Obj(), make.Queue("b").Weight(1).Capability("cpu", "1").Obj(),
	}
	for _, q := range queues {
		q.Status.State = schedulingv1beta1.QueueStateOpen
		c.Apply(model.QueueFrom(q))
	}
	c.Apply(model.NodeFrom(make.Node("n").CPU("4").Memory("64Gi").Obj()))
	add := func(name, queue, cpu string, running bool) {
		gang, pod := make.Gang(name).Min(1).Queue(queue).Phase(schedulingv1beta1.PodGroupInqueue), make.Pod(name+"-0").Gang(name).CPU(cpu).Label(keys.JobName, name)
		if running {
			gang, pod = gang.Phase(schedulingv1beta1.PodGroupRunning), pod.On("n").Phase(corev1.PodRunning)
		}
		c.Apply(model.GangFrom(gang.Obj()), model.TaskFrom(pod.Obj(), true))
	}
	for i := range 3 {
		add(fmt.Sprintf("runs%d", i), "a", "1", true)
	}
	add("inside", "b", "1", true)
	add("waits", "b", "2", false)
	return c, queues
}

func raw(t *testing.T, kind metav1.TypeMeta, object any, change ...string) runtime.RawExtension {
	t.Helper()
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	var plain map[string]any
	if err := json.Unmarshal(text, &plain); err != nil {
		t.Fatal(err)
	}
	plain["apiVersion"], plain["kind"] = kind.APIVersion, kind.Kind
	for _, patch := range change {
		var fields map[string]any
		if err := json.Unmarshal([]byte(patch), &fields); err != nil {
			t.Fatal(err)
		}
		for section, values := range fields {
			part, _ := plain[section].(map[string]any)
			if part == nil {
				part = map[string]any{}
			}
			for key, value := range values.(map[string]any) {
				part[key] = value
			}
			plain[section] = part
		}
	}
	if text, err = json.Marshal(plain); err != nil {
		t.Fatal(err)
	}
	return runtime.RawExtension{Raw: text}
}

var aQueue = metav1.TypeMeta{APIVersion: schedulingv1beta1.GroupVersion.String(), Kind: "Queue"}

func TestPlansOfQueues(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		queue   string // the changed queue; "" for a new one
		change  string
		verdict insightv1alpha1.Verdict
		changes []string
		starts  []string
		evicts  int32
		message string
	}{
		"a queue that may have more takes it back from the other": {
			queue: "b", change: `{"spec": {"capability": {"cpu": "4"}, "weight": 3}}`, verdict: insightv1alpha1.VerdictStarts,
			changes: []string{"weight 1 -> 3", "capability cpu 1 -> 4"}, evicts: 2,
			message: "weight 1 -> 3, capability cpu 1 -> 4: 0 waiting jobs would start and 2 pods would be evicted immediately",
		},
		"a change that moves nobody": {
			queue: "a", change: `{"spec": {"priority": 5}}`, verdict: insightv1alpha1.VerdictStarts, changes: []string{"priority 0 -> 5"},
			message: "priority 0 -> 5: no existing job would start and no pod would be evicted immediately",
		},
		"a closed queue": {
			queue: "b", change: `{"status": {"state": "Closed"}}`, verdict: insightv1alpha1.VerdictStarts, changes: []string{"state Open -> Closed"},
			message: "state Open -> Closed: no existing job would start and no pod would be evicted immediately",
		},
		"a queue that has what it is to have": {
			queue: "a", change: `{"spec": {"priority": 0}}`, verdict: insightv1alpha1.VerdictStarts,
			message: "unchanged: no existing job would start and no pod would be evicted immediately",
		},
		"a new queue": {change: `{"spec": {"weight": 2}}`, verdict: insightv1alpha1.VerdictStarts, message: "would be created: no existing job would start and no pod would be evicted immediately"},
		"a queue that admission refuses": {
			change: `{"spec": {"parent": "nowhere"}}`, verdict: insightv1alpha1.VerdictNever,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster, queues := small(t)
			subject := make.Queue("fresh").Weight(1).Obj()
			for _, q := range queues {
				if q.Name == c.queue {
					subject = q.DeepCopy()
				}
			}
			status := answerTo(t, cluster, queues, raw(t, aQueue, subject, c.change))
			answer := status.Answers[0]
			if answer.Verdict != c.verdict || c.message != "" && answer.Message != c.message || status.VictimCount != c.evicts {
				t.Errorf("%s, %d victims: %s %v", answer.Verdict, status.VictimCount, answer.Message, answer.Problems)
			}
			if diff := cmp.Diff(c.changes, answer.Changes); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
			for _, v := range status.Victims {
				if v.Queue != "a" || v.Job == "" || v.For != "default/waits" {
					t.Errorf("victim %+v", v)
				}
			}
		})
	}
}

func TestAdmittedGangsAreCountedByQueue(t *testing.T) {
	t.Parallel()
	edited := &item{old: true, answer: insightv1alpha1.Answer{Changes: []string{"weight 2 -> 1"}}}
	for name, c := range map[string]struct {
		starts   int
		evicts   int32
		admitted map[string]int
		want     string
	}{
		"one, into one":      {0, 0, map[string]int{"b": 1}, "weight 2 -> 1: 1 waiting job would be admitted to queue b, and would start when resources are free"},
		"several, into some": {0, 0, map[string]int{"c": 1, "b": 2}, "weight 2 -> 1: 2 waiting jobs would be admitted to queue b, 1 to queue c, and would start when resources are free"},
		"and others move at once": {1, 3, map[string]int{"b": 2},
			"weight 2 -> 1: 1 waiting job would start and 3 pods would be evicted immediately; 2 waiting jobs would be admitted to queue b, and would start when resources are free"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status := &insightv1alpha1.PlanStatus{Starts: slices.Repeat([]insightv1alpha1.StartingGang{{Name: "other"}}, c.starts), VictimCount: c.evicts}
			if got := queueMessage(edited, status, c.admitted); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// answerTo simulates a plan, and fails if the simulation leaves traces.
func answerTo(t *testing.T, c *model.Cluster, queues []*schedulingv1beta1.Queue, objects ...runtime.RawExtension) insightv1alpha1.PlanStatus {
	t.Helper()
	cfg, _, err := config.Parse([]byte(configurations["with preemption and reclaim"]))
	if err != nil {
		t.Fatal(err)
	}
	thinker, err := scheduler.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	before := traces(c)
	p := &insightv1alpha1.Plan{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p", UID: "plan"}, Spec: insightv1alpha1.PlanSpec{Objects: objects}}
	status := PrepareSimulation(&Question{Plan: p, Queues: queues, SchedulerNames: []string{"volcano"}, Now: make.Epoch}).RunAllSlices(make.Epoch, thinker, c)
	if diff := cmp.Diff(before, traces(c)); diff != "" {
		t.Errorf("a plan leaves traces (-before +after):\n%s", diff)
	}
	return status
}

// traces describes the state that a plan could change.
func traces(c *model.Cluster) map[string]string {
	amounts := func(s model.Sums) string { // a vector may have grown
		var text string
		for _, v := range []resource.Vec{s.Allocated, s.Pending, s.Inqueue, s.Elastic} {
			n := len(v)
			for n > 0 && v[n-1] == 0 {
				n--
			}
			text += fmt.Sprint(v[:n])
		}
		return text
	}
	seen := map[string]string{"tasks": fmt.Sprint(c.TaskCount())}
	for name, q := range c.Queues {
		seen["queue "+name] = fmt.Sprintf("%v %v %v %v %v %v %v %v %d %s", q.Known, q.UID, q.Weight, q.Priority, q.Open, q.Parent, q.Capability, q.HasCapability, q.Gangs, amounts(q.Sums))
	}
	for name, g := range c.Gangs {
		seen["gang "+name] = fmt.Sprintf("%v %v %v %s", g.Known, g.Queue.Name, g.Count, amounts(g.Sums))
	}
	return seen
}

func TestPlansOfJobs(t *testing.T) {
	t.Parallel()
	aJob := metav1.TypeMeta{APIVersion: batchv1alpha1.GroupVersion.String(), Kind: "Job"}
	job := func(name, queue, cpu string) *batchv1alpha1.Job {
		j := &batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Name: name}}
		j.Spec.Queue = queue
		task := batchv1alpha1.TaskSpec{Name: "main", Replicas: 1}
		task.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
		task.Template.Spec.Containers = []corev1.Container{{Name: "c", Image: "i", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": quantity(t, cpu)}}}}
		j.Spec.Tasks = []batchv1alpha1.TaskSpec{task}
		return j
	}
	for name, c := range map[string]struct {
		job     *batchv1alpha1.Job
		change  string
		queue   string // planned with it
		verdict insightv1alpha1.Verdict
		field   string
		message string
	}{
		"for a queue that is planned with it":         {job: job("j", "fresh", "1"), queue: "fresh", verdict: insightv1alpha1.VerdictStarts},
		"for a queue that does not exist":             {job: job("j", "fresh", "1"), verdict: insightv1alpha1.VerdictNever, field: "spec.queue"},
		"that is held":                                {job: job("j", "a", "1"), change: `{"metadata": {"annotations": {"` + keys.Hold + `": "user"}}}`, verdict: insightv1alpha1.VerdictWaits, message: "the job is held by its user"},
		"that is to begin tomorrow":                   {job: job("j", "a", "1"), change: `{"metadata": {"annotations": {"` + keys.Begin + `": "2026-01-02T00:00:00Z"}}}`, verdict: insightv1alpha1.VerdictWaits, message: "the job does not start before 2026-01-02T00:00:00Z"},
		"that asks for more than any node has":        {job: job("j", "a", "64"), verdict: insightv1alpha1.VerdictNever},
		"that asks for nothing":                       {job: job("j", "a", "0"), verdict: insightv1alpha1.VerdictStarts},
		"whose pods are named as pods that are there": {job: job("taken", "a", "0"), verdict: insightv1alpha1.VerdictStarts},
		"of another namespace":                        {job: job("j", "a", "1"), change: `{"metadata": {"namespace": "elsewhere"}}`, verdict: insightv1alpha1.VerdictNever, field: "metadata.namespace"},
		"without a task":                              {job: job("j", "a", "1"), change: `{"spec": {"tasks": []}}`, verdict: insightv1alpha1.VerdictNever, field: "spec.tasks"},
		"that mounts a volume claim that does not exist": {job: job("j", "a", "1"), change: `{"spec": {"volumes": [{"mountPath": "/d", "volumeClaimName": "data"}]}}`, verdict: insightv1alpha1.VerdictWaits,
			message: "pvc data is not found, the job will be in the Pending state until the PVC is created"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster, queues := small(t)
			cluster.Apply(model.TaskFrom(make.Pod("taken-main-0").CPU("0").On("n").Phase(corev1.PodRunning).Obj(), true))
			changes := []string{}
			if c.change != "" {
				changes = append(changes, c.change)
			}
			objects := []runtime.RawExtension{raw(t, aJob, c.job, changes...)}
			if c.queue != "" {
				objects = append(objects, raw(t, aQueue, make.Queue(c.queue).Weight(1).Obj()))
			}
			answer := answerTo(t, cluster, queues, objects...).Answers[0]
			field := ""
			if len(answer.Problems) > 0 {
				field = answer.Problems[0].Field
			}
			if answer.Verdict != c.verdict || field != c.field || c.message != "" && answer.Message != c.message {
				t.Errorf("%s at %q: %s", answer.Verdict, field, answer.Message)
			}
		})
	}
}

func quantity(t *testing.T, text string) apiresource.Quantity {
	t.Helper()
	q, err := apiresource.ParseQuantity(text)
	if err != nil {
		t.Fatal(err)
	}
	return q
}
