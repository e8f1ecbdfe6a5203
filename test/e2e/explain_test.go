package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
)

// cause is a cluster in which the job "subject" cannot start, for one reason.
type cause struct {
	nodes []string
	// prepare is called before the subject is created, and after when its PodGroup exists.
	prepare, after func(c *cluster)
	// running lists jobs that must run before the subject is created. before is their manifest.
	before  string
	running []string
	// queue is the queue of the subject. tail and pod are lines of its manifest, for the job and for its pods.
	queue, tail, pod string
	replicas         int
	resources        string
	// reason, help and words are the expected explanation.
	reason string
	help   string
	words  []string
}

func causes() map[string]cause {
	return map[string]cause{
		"the queue is over its capability": {
			before: queue("small", "capability: {cpu: 2}") + subject("inside", cause{queue: "small", resources: "cpu: 2"}), running: []string{"inside"},
			queue: "small", resources: "cpu: 1", reason: "OverCapability", help: schedulingv1beta1.HelpRaiseCapability, words: []string{"small", "capability", "cpu"},
		},
		"the gang is one GPU short": {
			nodes:    []string{"--node-resource", "nvidia.com/gpu=3"},
			replicas: 7, resources: "nvidia.com/gpu: 1", reason: "GangDoesNotFit", help: schedulingv1beta1.HelpFewerMembers, words: []string{"nvidia.com/gpu requested 7", "6"},
		},
		"no node's taint is tolerated": {
			prepare: func(c *cluster) { c.kubectl("taint", "nodes", "--all", "dedicated=ml:NoSchedule") },
			reason:  "GangDoesNotFit", help: schedulingv1beta1.HelpAddToleration, words: []string{"UntoleratedTaint dedicated=ml:NoSchedule"}, resources: "cpu: 1",
		},
		"there is no such queue": {
			before: queue("nowhere", "capability: {cpu: 1m}"),
			after:  func(c *cluster) { c.loseQueue("nowhere") },
			queue:  "nowhere", resources: "cpu: 1", reason: "QueueMissing", help: schedulingv1beta1.HelpOtherQueue, words: []string{"nowhere"},
		},
		"others are before it": {
			before: queue("line", "dequeueStrategy: fifo") + subject("first", cause{queue: "line", resources: "cpu: 6"}), running: []string{"first"},
			prepare: func(c *cluster) {
				c.create(subject("ahead", cause{queue: "line", replicas: 2, resources: "cpu: 4500m"}))
				c.waits("ahead", 30*time.Second, "1 of 2 fit")
			},
			queue: "line", resources: "cpu: 1", reason: "BehindOthers", help: schedulingv1beta1.HelpHigherPriority, words: []string{"job ahead is ahead of this job in queue line"},
		},
		"its volume claim is missing": {
			pod: "volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]", resources: "cpu: 1",
			reason: "GangDoesNotFit", help: schedulingv1beta1.HelpCreateClaim, words: []string{`persistentvolumeclaim "data" not found`},
		},
	}
}

// subject returns the manifest of a job with one task whose pods sleep.
func subject(name string, k cause) string {
	return fmt.Sprintf(`apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: %s, namespace: default}
spec:
  schedulerName: volcano
  queue: %s
  minAvailable: %d
  %s
  tasks:
  - name: main
    replicas: %d
    template:
      spec:
        restartPolicy: Never
        terminationGracePeriodSeconds: 1
        %s
        containers: [{name: main, image: none:local, command: [sleep, "600"], resources: {requests: {%s}, limits: {%s}}}]
---
`, name, orDefault(k.queue), max(k.replicas, 1), k.tail, max(k.replicas, 1), k.pod, k.resources, k.resources)
}

func orDefault(queue string) string {
	if queue == "" {
		return "default"
	}
	return queue
}

// loseQueue deletes a queue that the webhooks would protect. A user can do that while the webhooks are unavailable.
func (c *cluster) loseQueue(name string) {
	c.eventually(20*time.Second, "the subject has its pod group", func() error {
		_, err := c.podGroupOf("subject")
		return err
	})
	c.eventually(20*time.Second, "queue "+name+" is gone", func() error {
		c.kubectl("delete", "validatingwebhookconfigurations", "--all")
		r := c.run("", "kubectl", "delete", "queues.scheduling.volcano.sh", name, "--ignore-not-found", "--wait=false")
		if r.code != 0 || strings.Contains(r.stdout, "deleted") {
			return fmt.Errorf("%s%s", r.stdout, r.stderr)
		}
		return nil
	})
}

// TestExplainNamesTheCauseAndAHelpThatStartsTheJob checks on each cluster that `vcctl job explain` names the cause with
// exit code 8, in the same words as the condition and the event. It then applies the hint, and the job must start.
func TestExplainNamesTheCauseAndAHelpThatStartsTheJob(t *testing.T) {
	for name, k := range causes() {
		t.Run(name, func(t *testing.T) {
			c := startCluster(t, append([]string{"--process-nodes=0", "--simulated-nodes=2", "--node-cpu=8", "--node-memory=8Gi"}, k.nodes...)...)
			c.create(k.before)
			for _, other := range k.running {
				c.running(other, 1, 30*time.Second)
			}
			if k.prepare != nil {
				k.prepare(c)
			}
			c.create(subject("subject", k))
			if k.after != nil {
				k.after(c)
			}
			e, help := c.explained(k)
			c.sameWords(e)
			c.do(k, help)
			c.jobPhase("subject", batchv1alpha1.Running, 40*time.Second)
			if r := c.run("", "vcctl", "job", "explain", "subject"); r.code != 0 || !strings.Contains(r.stdout, "default/subject is Running") {
				t.Errorf("exit %d once it runs:\n%s%s", r.code, r.stdout, r.stderr)
			}
		})
	}
}

// explained waits for the expected explanation in JSON, and returns it with its hint.
func (c *cluster) explained(k cause) (*schedulingv1beta1.Explanation, schedulingv1beta1.Help) {
	c.t.Helper()
	var answer struct {
		Source      string
		Waits       bool
		Explanation *schedulingv1beta1.Explanation
	}
	var help schedulingv1beta1.Help
	c.eventually(40*time.Second, "job explain names the cause and the help", func() error {
		r := c.run("", "vcctl", "job", "explain", "subject", "-o", "json")
		if err := json.Unmarshal([]byte(r.stdout), &answer); err != nil || r.code != 8 || answer.Explanation == nil {
			return fmt.Errorf("exit %d: %s%s", r.code, r.stdout, r.stderr)
		}
		at := slices.IndexFunc(answer.Explanation.Helps, func(h schedulingv1beta1.Help) bool { return h.Kind == k.help })
		if answer.Explanation.Reason != k.reason || at < 0 {
			return fmt.Errorf("reason %s, helps %+v: %s", answer.Explanation.Reason, answer.Explanation.Helps, answer.Explanation.Message)
		}
		help = answer.Explanation.Helps[at]
		return containsAll(answer.Explanation.Message, k.words...)
	})
	return answer.Explanation, help
}

// sameWords compares the text for users, the condition and the event with the explanation.
func (c *cluster) sameWords(e *schedulingv1beta1.Explanation) {
	c.t.Helper()
	c.eventually(20*time.Second, "command line, condition and event say the same", func() error {
		group, err := c.podGroupOf("subject")
		if err != nil {
			return err
		}
		message := group.Status.Explanation.Message
		r := c.run("", "vcctl", "job", "explain", "subject")
		if r.code != 8 || !strings.Contains(r.stdout, "\n  "+message+"\n") {
			return fmt.Errorf("exit %d, the text has no %q:\n%s", r.code, message, r.stdout)
		}
		for _, help := range group.Status.Explanation.Helps {
			if !strings.Contains(r.stdout, "    - "+help.Text+"\n") {
				return fmt.Errorf("the text has no %q:\n%s", help.Text, r.stdout)
			}
		}
		// The condition and the event begin with the number of pods, which Volcano's tools parse.
		if condition, err := condition(group, schedulingv1beta1.PodGroupUnschedulableType); err != nil || !strings.HasSuffix(condition.Message, message) {
			return fmt.Errorf("the condition says %q (%v), the explanation %q", condition.Message, err, message)
		}
		var events corev1.EventList
		about := client.MatchingFieldsSelector{Selector: fields.OneTermEqualSelector("involvedObject.uid", string(group.UID))}
		if err := c.List(context.Background(), &events, client.InNamespace("default"), about); err != nil {
			return err
		}
		said := []string{}
		for i := range events.Items {
			said = append(said, events.Items[i].Message)
		}
		if !slices.ContainsFunc(said, func(text string) bool { return strings.HasSuffix(text, message) }) {
			return fmt.Errorf("no event says %q, only %q", message, said)
		}
		return nil
	})
}

// do applies a hint.
func (c *cluster) do(k cause, help schedulingv1beta1.Help) {
	c.t.Helper()
	again := func() {
		c.vcctl("job", "delete", "subject")
		c.create(subject("subject", k))
	}
	switch help.Kind {
	case schedulingv1beta1.HelpRaiseCapability:
		c.vcctl("queue", "update", help.Subject, "--capability", help.To)
	case schedulingv1beta1.HelpFewerMembers:
		c.kubectl("patch", "jobs.batch.volcano.sh", "subject", "--type=merge", "-p", `{"spec":{"minAvailable":`+help.To+`}}`)
	case schedulingv1beta1.HelpAddToleration:
		key, value, _ := strings.Cut(strings.TrimSuffix(help.Subject, ":NoSchedule"), "=")
		k.pod = fmt.Sprintf("tolerations: [{key: %s, value: %s, effect: NoSchedule}]", key, value)
		again()
	case schedulingv1beta1.HelpCreateQueue:
		c.vcctl("queue", "create", help.Subject)
	case schedulingv1beta1.HelpOtherQueue:
		k.queue = help.To
		again()
	case schedulingv1beta1.HelpHigherPriority:
		c.create("apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: higher}\nvalue: " + help.To + "\n")
		k.tail = "priorityClassName: higher"
		again()
	case schedulingv1beta1.HelpCreateClaim:
		c.create(localClass + localVolume("disk", "sim-1", "10Gi") + volumeClaim(help.Subject))
	default:
		c.t.Fatalf("nobody here knows how to do %q", help.Text)
	}
}
