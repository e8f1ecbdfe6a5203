package extender_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/internal/extender"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/test/make"
)

// agreeing holds an answer that permits everything for each verb.
var agreeing = map[string]string{
	"predicateVerb": "{}", "prioritizeVerb": `{"nodeScore":{"a":1}}`, "queueOverusedVerb": `{"overused":false}`, "jobEnqueueableVerb": `{"status":0}`,
	"jobEnqueuedVerb": "{}", "jobReadyVerb": `{"status":true}`, "allocateFuncVerb": "{}", "deallocateFuncVerb": "{}",
	"preemptableVerb": `{"status":0}`, "reclaimableVerb": `{"status":0}`,
}

// busy returns a cluster in which every kind of request occurs: a gang starts, a gang does not fit, a gang preempts in
// its own queue, and a gang reclaims from another queue.
func busy() *model.Cluster {
	c := model.New()
	c.Apply(model.QueueFrom(make.Queue("default").Obj()), model.QueueFrom(make.Queue("other").Obj()), model.PriorityClassSet{Name: "high", Value: 10},
		model.NodeFrom(make.Node("a").CPU("4").Memory("4Gi").Obj()))
	for i := range 3 {
		name := fmt.Sprintf("old-%d", i)
		c.Apply(model.GangFrom(make.Gang(name).Obj()), model.TaskFrom(make.Pod(name).Gang(name).CPU("1").On("a").Phase(corev1.PodRunning).Obj(), true))
	}
	submit := func(gang, queue, class string, pods int, cpu string) {
		c.Apply(model.GangFrom(make.Gang(gang).Queue(queue).PriorityClass(class).Min(pods).MinResource("cpu", "1").Obj()))
		for i := range pods {
			c.Apply(model.TaskFrom(make.Pod(fmt.Sprintf("%s-%d", gang, i)).Gang(gang).CPU(cpu).Obj(), true))
		}
	}
	submit("pair", "default", "high", 2, "1")
	submit("single", "other", "", 1, "500m")
	submit("back", "other", "", 1, "1500m")
	return c
}

func TestASwitchThatIsOffKeepsTheServerFromBeingAsked(t *testing.T) {
	if err := extender.RegisterPolicy(); err != nil {
		t.Fatal(err)
	}
	asked := func(t *testing.T, off string) []string {
		o := newOpinion(t, agreeing)
		text := "actions: \"enqueue, allocate, preempt, reclaim\"\ntiers:\n- plugins:\n  - name: priority\n  - name: gang\n  - name: proportion\n  - name: extender\n"
		if off != "" {
			text += "    " + off + ": false\n"
		}
		text += fmt.Sprintf("    arguments:\n      extender.urlPrefix: %s/vc\n", o.URL)
		for verb := range agreeing {
			text += fmt.Sprintf("      extender.%s: %s\n", verb, verb)
		}
		cfg, _, err := config.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		engine, err := scheduler.New(cfg)
		if err != nil || len(engine.Warnings) > 0 {
			t.Fatal(err, engine.Warnings)
		}
		c := busy()
		for i := range 4 {
			cycle(engine, c, make.Epoch.Add(time.Duration(i)*2*time.Second))
		}
		return o.asked
	}
	all := asked(t, "")
	for verb := range agreeing {
		if !slices.Contains(all, verb) {
			t.Errorf("%s is never asked: %v", verb, all)
		}
	}
	for off, verbs := range map[string][]string{
		"enablePredicate": {"predicateVerb"}, "enableNodeOrder": {"prioritizeVerb"}, "enablePreemptable": {"preemptableVerb"}, "enableReclaimable": {"reclaimableVerb"},
		"enabledOverused": {"queueOverusedVerb"}, "enableJobEnqueued": {"jobEnqueueableVerb", "jobEnqueuedVerb"}, "enableJobReady": {"jobReadyVerb"},
	} {
		t.Run(off, func(t *testing.T) {
			got := asked(t, off)
			for verb := range agreeing {
				if want := !slices.Contains(verbs, verb); slices.Contains(got, verb) != want {
					t.Errorf("with %s: false %s is asked: %v, want %v", off, verb, !want, want)
				}
			}
		})
	}
}
