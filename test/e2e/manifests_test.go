package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// task is one task of a job manifest.
type task struct {
	name     string
	replicas int
	min      int    // 0: unset
	cpu      string // request and limit; empty: not set
	memory   string // request, only if cpu is set too; empty: not set
	command  string // run by /bin/sh -c
	policies string // YAML flow sequence, for example [{event: TaskCompleted, action: CompleteJob}]
	depends  string
	restart  string // empty: Never
}

// job is a batch job manifest.
type job struct {
	name, queue, extra string
	annotations        string // YAML flow mapping
	min                int
	plugins            string // YAML flow mapping
	policies           string
	tasks              []task
}

func queue(name, spec string) string {
	return fmt.Sprintf("apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: %s}\nspec: {%s}\n---\n", name, spec)
}

func (j job) String() string {
	annotations := ""
	if j.annotations != "" {
		annotations = ", annotations: " + j.annotations
	}
	var b strings.Builder
	fmt.Fprintf(&b, "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: %s, namespace: default%s}\nspec:\n", j.name, annotations)
	fmt.Fprintf(&b, "  schedulerName: volcano\n")
	for _, f := range []struct{ key, value string }{{"queue", j.queue}, {"plugins", j.plugins}, {"policies", j.policies}} {
		if f.value != "" {
			fmt.Fprintf(&b, "  %s: %s\n", f.key, f.value)
		}
	}
	if j.min > 0 {
		fmt.Fprintf(&b, "  minAvailable: %d\n", j.min)
	}
	if j.extra != "" {
		fmt.Fprintf(&b, "  %s\n", j.extra)
	}
	b.WriteString("  tasks:\n")
	for _, t := range j.tasks {
		fmt.Fprintf(&b, "  - name: %s\n    replicas: %d\n", t.name, t.replicas)
		if t.min > 0 {
			fmt.Fprintf(&b, "    minAvailable: %d\n", t.min)
		}
		if t.policies != "" {
			fmt.Fprintf(&b, "    policies: %s\n", t.policies)
		}
		if t.depends != "" {
			fmt.Fprintf(&b, "    dependsOn: {name: [%s]}\n", t.depends)
		}
		restart := t.restart
		if restart == "" {
			restart = "Never"
		}
		fmt.Fprintf(&b, "    template:\n      spec:\n        restartPolicy: %s\n        terminationGracePeriodSeconds: 2\n", restart)
		fmt.Fprintf(&b, "        containers:\n        - name: main\n          image: none:local\n          command: [/bin/sh, -c, %q]\n", t.command)
		if t.cpu != "" {
			memory := ""
			if t.memory != "" {
				memory = ", memory: " + t.memory
			}
			fmt.Fprintf(&b, "          resources: {requests: {cpu: %s%s}, limits: {cpu: %s}}\n", t.cpu, memory, t.cpu)
		}
	}
	b.WriteString("---\n")
	return b.String()
}

// single returns a job of one pod that sleeps.
func single(name, queue, cpu string) job {
	return job{name: name, queue: queue, min: 1, tasks: []task{{name: "main", replicas: 1, cpu: cpu, command: "exec sleep 600"}}}
}

// schedulerConf writes a configuration of the scheduler with the plugins gang, predicates and others, and returns its
// path.
func schedulerConf(t *testing.T, plugins string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "volcano-scheduler.conf")
	text := "actions: \"enqueue, allocate, backfill\"\ntiers:\n- plugins:\n  - name: gang\n  - name: predicates\n" + plugins
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}
