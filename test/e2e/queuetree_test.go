package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// hierarchy is a configuration in which queues share resources by the deserved amounts of their trees.
const hierarchy = `actions: "enqueue, allocate, reclaim, backfill"
tiers:
- plugins: [{name: priority}, {name: gang}, {name: conformance}]
- plugins: [{name: predicates}, {name: capacity, enableHierarchy: true}, {name: nodeorder}]
`

// teams returns a tree of queues: nlp and cv share the amounts of research, and web is next to research.
func teams(research, nlp int) string {
	return queue("research", fmt.Sprintf("deserved: {cpu: %d}", research)) +
		queue("nlp", fmt.Sprintf("parent: research, deserved: {cpu: %d}", nlp)) +
		queue("cv", "parent: research, deserved: {cpu: 2}") +
		queue("web", "deserved: {cpu: 4}, capability: {cpu: 6}")
}

// TestAPersonKeepsATreeOfQueues creates a tree of queues from a file, lists it while one queue borrows from another,
// shrinks a queue after a warning about its victims, which are then evicted, closes the tree and deletes it.
func TestAPersonKeepsATreeOfQueues(t *testing.T) {
	conf := filepath.Join(t.TempDir(), "volcano-scheduler.conf")
	if err := os.WriteFile(conf, []byte(hierarchy), 0o600); err != nil {
		t.Fatal(err)
	}
	c := startCluster(t, "--process-nodes=0", "--simulated-nodes=1", "--node-cpu=8", "--node-memory=64Gi", "--simulated-start=10ms", "--scheduler-conf="+conf)
	c.must(teams(8, 6), "vcctl", "queue", "create", "-f", "-", "--wait", "--timeout=30s")

	c.vcctl("job", "run", "train", "--queue", "nlp", "--replicas", "8", "--min", "1", "--cpu", "1", "--", "sleep", "600")
	c.running("train", 8, 30*time.Second)
	c.shows("nlp +Open +1 +0 +.* 133% 8/6 cpu +borrows 2 cpu from cv$", "queue", "tree")
	c.shows("cv +Open +0 +0 +.* lends 2 cpu to nlp$", "queue", "tree")
	c.shows("^research +Open +1 +0 +.* 100% 8/8 cpu$", "queue", "tree", "research")

	c.vcctl("job", "run", "label", "--queue", "cv", "--replicas", "2", "--min", "2", "--cpu", "1", "--", "sleep", "600")
	c.running("label", 2, 30*time.Second)
	c.shows("cv +Open +1 +0 +.* 100% 2/2 cpu$", "queue", "tree")
	c.vcctl("job", "run", "site", "--queue", "web", "--replicas", "2", "--min", "2", "--cpu", "1", "--", "sleep", "600")
	c.waits("site", 30*time.Second)

	// A smaller research queue: the command names the victims, and nothing changes before the user agrees.
	r := c.run("", "vcctl", "queue", "update", "research", "--deserved", "cpu=6")
	if err := containsAll(r.stderr, "spec.deserved[cpu]", "child queues", "8", "6"); r.code != 1 || err != nil {
		t.Errorf("less than the queues below have: exit %d, %v: %s", r.code, err, r.stderr)
	}
	less := queue("nlp", "parent: research, deserved: {cpu: 4}") + queue("research", "deserved: {cpu: 6}")
	h := c.record()
	r = c.run(less, "vcctl", "queue", "update", "-f", "-")
	if err := containsAll(r.stderr, "queue nlp: 1 running job in it", "1 would be reclaimed: default/train (2 pods)", "--yes"); r.code != 1 || err != nil || r.stdout != "" {
		t.Errorf("less, and nobody to ask: exit %d, %v: %s%s", r.code, err, r.stdout, r.stderr)
	}
	if gone := h.deleted(); len(gone) > 0 {
		t.Fatalf("%v are gone, and nobody agreed", gone)
	}
	c.must(less, "vcctl", "queue", "update", "-f", "-", "--yes")
	c.running("site", 2, 60*time.Second)
	if gone := h.deleted(); len(gone) != 2 || !strings.HasPrefix(gone[0], "train-") || !strings.HasPrefix(gone[1], "train-") {
		t.Errorf("evicted: %v, foretold were two of train", gone)
	}
	c.shows("nlp +Open +1 +0 +.* 100% 4/4 cpu", "queue", "tree")

	// Closing a queue closes its descendants. An empty queue can be deleted.
	r = c.run("", "vcctl", "queue", "close", "research")
	if err := containsAll(r.stderr, "queue nlp: 1 running job in it; the queue accepts no new jobs", "queue cv: 1 running job in it"); r.code != 1 || err != nil {
		t.Errorf("close: exit %d, %v: %s", r.code, err, r.stderr)
	}
	c.vcctl("queue", "close", "research", "--yes")
	c.shows("nlp +(Closing|Closed) ", "queue", "tree")
	if r = c.run("", "vcctl", "job", "run", "late", "--queue", "nlp", "--", "true"); r.code != 1 || r.stdout != "" {
		t.Errorf("a closed queue took a job: %s%s", r.stdout, r.stderr)
	}
	if r = c.run("", "vcctl", "queue", "open", "nlp"); r.code != 1 || !strings.Contains(r.stderr, "its parent research is Clos") {
		t.Errorf("a queue below a closed one was opened: %s%s", r.stdout, r.stderr)
	}
	c.vcctl("job", "delete", "train", "label", "site")
	c.vcctl("queue", "close", "nlp", "cv", "--yes", "--wait", "--timeout=30s") // the counts are updated with a delay
	c.must(teams(8, 6), "vcctl", "queue", "delete", "-f", "-", "--yes")
	if left := c.vcctl("queue", "list", "-o", "name"); strings.Contains(left, "research") || strings.Contains(left, "web") {
		t.Errorf("queues are left: %s", left)
	}
}

// shows waits until a command of vcctl prints a matching line.
func (c *cluster) shows(line string, args ...string) {
	c.t.Helper()
	want := regexp.MustCompile("(?m)" + line)
	c.eventually(30*time.Second, fmt.Sprintf("vcctl %s shows %q", strings.Join(args, " "), line), func() error {
		if text := c.vcctl(args...); !want.MatchString(text) {
			return fmt.Errorf("it prints\n%s", text)
		}
		return nil
	})
}
