package e2e

import (
	"fmt"
	"strings"
	"testing"
)

// refusals returns invalid input for the API, with the words that the error must contain: the field and the problem.
func refusals() map[string]struct {
	manifest string
	words    []string
	cel      bool // rejected by the CRD alone, without our webhook
} {
	tasks := func(s string) string {
		return "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: bad, namespace: default}\nspec: {" + s + "}\n"
	}
	tmpl := "template: {spec: {restartPolicy: Never, containers: [{name: c, image: i:l, command: [sleep, '1']}]}}"
	return map[string]struct {
		manifest string
		words    []string
		cel      bool
	}{
		"minAvailable over the replicas of all tasks": {
			tasks("minAvailable: 5, tasks: [{name: a, replicas: 2, " + tmpl + "}]"), []string{"minAvailable", "total replicas"}, true},
		"minAvailable over the replicas of a task": {
			tasks("tasks: [{name: a, replicas: 1, minAvailable: 4, " + tmpl + "}]"), []string{"tasks[0]", "minAvailable", "replicas"}, true},
		"two tasks of one name": {
			tasks("tasks: [{name: a, replicas: 1, " + tmpl + "}, {name: a, replicas: 1, " + tmpl + "}]"), []string{"duplicated task name", "a"}, true},
		"a task name that no pod can have": {
			tasks("tasks: [{name: Not_A_Name, replicas: 1, " + tmpl + "}]"), []string{"tasks[0].name", "Not_A_Name"}, true},
		"a queue that does not exist": {
			tasks("queue: nowhere, tasks: [{name: a, replicas: 1, " + tmpl + "}]"), []string{"queue", "nowhere"}, false},
		"a queue that is closed": {
			tasks("queue: shut, tasks: [{name: a, replicas: 1, " + tmpl + "}]"), []string{"queue", "shut", "Closed"}, false},
		"a negative number of replicas": {
			tasks("tasks: [{name: a, replicas: -1, " + tmpl + "}]"), []string{"tasks[0].replicas", "-1"}, true},
		"a negative minAvailable": {
			tasks("minAvailable: -3, tasks: [{name: a, replicas: 1, " + tmpl + "}]"), []string{"minAvailable", "-3"}, true},
		"a policy with an event and an exit code": {
			tasks("policies: [{event: PodFailed, exitCode: 3, action: RestartJob}], tasks: [{name: a, replicas: 1, " + tmpl + "}]"),
			[]string{"policies[0]", "event and exitCode"}, true},
		"no task at all": {
			tasks("tasks: []"), []string{"tasks"}, true},
		"ten thousand tasks": {
			tasks("tasks: [" + strings.Repeat("{replicas: 1, "+tmpl+"}, ", 9999) + "{replicas: 1, " + tmpl + "}]"), []string{"spec.tasks", "10000", "500"}, true},
		"a queue with a negative weight": {
			"apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: bad}\nspec: {weight: -1}\n", []string{"weight", "-1"}, true},
		"a queue that guarantees more than it may hold": {
			"apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: bad}\nspec: {capability: {cpu: 2}, deserved: {cpu: 4}, guarantee: {resource: {cpu: 4}}}\n", []string{"deserved", "capability"}, false},
	}
}

func TestBadInputIsRefusedAtTheDoorWithWhatAndWhere(t *testing.T) {
	c := bigNode(t)
	c.create(queue("shut", "weight: 1"))
	c.vcctl("queue", "operate", "shut", "--action", "close")
	c.eventually(20e9, "the queue is closed", func() error {
		if s := c.kubectl("get", "queue", "shut", "-o", "jsonpath={.status.state}"); s != "Closed" {
			return fmt.Errorf("it is %q", s)
		}
		return nil
	})
	for name, bad := range refusals() {
		t.Run(name, func(t *testing.T) {
			for _, program := range [][]string{{"kubectl", "create", "-f", "-"}, {"vcctl", "job", "run", "-f", "-"}} {
				r := c.run(bad.manifest, program[0], program[1:]...)
				if r.code == 0 || r.stdout != "" {
					t.Errorf("%v: exit %d, stdout %q", program, r.code, r.stdout)
				}
				if err := containsAll(r.stderr, bad.words...); err != nil {
					t.Errorf("%v: %.600v", program, err)
				}
				if program[0] == "vcctl" && !strings.HasPrefix(r.stderr, "error: ") {
					t.Errorf("vcctl does not say error: first: %.200q", r.stderr)
				}
			}
		})
	}
}

func TestWithoutVcdTheCRDStillRefusesWhatItCan(t *testing.T) {
	// Only the control plane runs: our daemon was never started here.
	c := startCluster(t, "--components", "api", "--process-nodes", "1")
	for name, bad := range refusals() {
		if !bad.cel {
			continue
		}
		t.Run(name, func(t *testing.T) {
			r := c.run(bad.manifest, "kubectl", "create", "-f", "-")
			if r.code == 0 {
				t.Errorf("accepted: %s", r.stdout)
			}
			if err := containsAll(r.stderr, bad.words...); err != nil {
				t.Errorf("%.600v", err)
			}
		})
	}
}
