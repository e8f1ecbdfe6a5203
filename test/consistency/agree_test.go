package consistency

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/dashboard/demo"
	"github.com/vc-batch/vc/internal/render"
	"github.com/vc-batch/vc/test/propertytest"
	"pgregory.net/rapid"
)

func TestScreensAndCommandsAgree(t *testing.T) {
	t.Parallel()
	b := start(t, demo.NewCluster())
	b.agree()
	if nodes := rows(b.vcctl("node list -o wide")); len(nodes) != 96 {
		t.Errorf("%d nodes", len(nodes))
	}
}

// TestTheyAgreeWhateverThereIs compares both on random clusters.
func TestTheyAgreeWhateverThereIs(t *testing.T) {
	t.Parallel()
	propertytest.Check(t, 6, func(r *rapid.T) {
		world := drawWorld(r)
		ok := t.Run("world", func(t *testing.T) { start(t, world).agree() })
		if !ok {
			r.Fatalf("numbers differ: see above")
		}
	})
}

func (b *both) agree() {
	b.t.Helper()
	b.nodesAgree()
	listed := schedulingv1beta1.QueueList{}
	b.decode("queue list -o json", &listed)
	for _, resource := range []corev1.ResourceName{"nvidia.com/gpu", corev1.ResourceCPU} {
		b.choose(resource)
		b.queuesAgree(&listed, resource)
		b.countedQueuesAgree(resource)
	}
	b.countedNodesAgree()
	b.countedJobsAgree()
	b.jobsAgree(&listed)
	b.eachJobAgrees()
	b.groupsAgree(&listed)
}

func (b *both) decode(command string, into any) {
	b.t.Helper()
	if err := json.Unmarshal([]byte(b.vcctl(command)), into); err != nil {
		b.t.Fatalf("vcctl %s: %v", command, err)
	}
}

// choose presses m until a resource is shown.
func (b *both) choose(name corev1.ResourceName) {
	b.t.Helper()
	for range 5 {
		if b.app.Context().ShownResource() == string(name) {
			return
		}
		b.screen("m")
	}
	b.t.Fatalf("m never shows %s", name)
}

// nodesAgree compares `node list`, `top --once`, Nodes and Overview.
func (b *both) nodesAgree() {
	t := b.t
	t.Helper()
	listed := rows(b.vcctl("node list -o wide"))
	_, top, _ := strings.Cut(b.vcctl("top --once -A"), "\nNodes:\n")
	top, _, _ = strings.Cut(top, "\n\nQueues:")
	once := rows(top)
	nodes, overview := b.screen("4"), b.screen("1")
	var has, left [3]int64
	states, idleWithDevices := map[string]int{}, 0
	titles := line(t, nodes, "NODE")
	for name, row := range listed {
		device, all, _ := strings.Cut(strings.TrimPrefix(row["DEVICES"], "gpu "), "/")
		here := idle(t, row, device)
		idleDevice, _, _ := strings.Cut(strings.TrimPrefix(once[name]["DEVICES"], "gpu "), "/")
		if there := idle(t, once[name], idleDevice); here != there {
			t.Errorf("%s: node list says %v is idle, top --once %v", name, here, there)
		}
		want := []string{fmt.Sprint(here[2]), "/", render.FormatAmount(corev1.ResourceCPU, here[0]), "/", render.FormatAmount(corev1.ResourceMemory, here[1])}
		words := line(t, nodes, name)
		if !strings.Contains(strings.Join(words, " "), strings.Join(want, " ")) {
			t.Errorf("%s: vcctl says idle are %v, the dashboard shows %v", name, want, words)
		}
		pods, _, _ := strings.Cut(row["PODS"], "/")
		state := stateOf(row["STATUS"], pods, here)
		states[state]++
		if state == "idle" && number(t, all, 1) > 0 {
			idleWithDevices++
		}
		if at := slices.Index(titles, "STATE"); words[at] != state {
			t.Errorf("%s is %s for vcctl with %s pods and %v idle, which is %s; the dashboard calls it %s", name, row["STATUS"], pods, here, state, words[at])
		}
		if !regexp.MustCompile(` ` + pods + ` +` + fmt.Sprint(here[2]) + ` +/`).MatchString(strings.Join(words, " ")) {
			t.Errorf("%s: vcctl counts %s pods, the dashboard shows %v", name, pods, words)
		}
		has[0] += number(t, row["CPU"], 1000)
		has[1] += number(t, row["MEMORY"], 1)
		has[2] += number(t, all, 1)
		if row["STATUS"] == "Ready" { // free resources of other nodes cannot be used
			for i := range left {
				left[i] += max(here[i], 0)
			}
		}
	}
	if len(listed) != len(once) {
		t.Errorf("node list has %d nodes, top --once %d", len(listed), len(once))
	}
	b.sumsAgree(overview, has, left)
	text := fmt.Sprintf("nodes %d: %d full  %d mixed  %d idle", len(listed), states["full"], states["mixed"], states["idle"])
	if n := states["drained"] + states["draining"]; n > 0 {
		text += fmt.Sprintf("  %d drain", n)
	}
	if states["down"] > 0 {
		text += fmt.Sprintf("  %d down", states["down"])
	}
	if !strings.Contains(strings.Join(overview, "\n"), text+" ") {
		t.Errorf("the nodes make %q; the overview:\n%s", text, strings.Join(overview[:10], "\n"))
	}
	free := states["idle"]
	if has[2] > 0 { // the overview shows devices, which not all nodes have
		free = idleWithDevices
	}
	shown := "0"
	if found := freeNodes.FindStringSubmatch(strings.Join(overview, "\n")); found != nil {
		shown = found[1]
	}
	if shown != fmt.Sprint(free) {
		t.Errorf("%d nodes are free; the overview:\n%s", free, strings.Join(overview[:10], "\n"))
	}
}

func (b *both) sumsAgree(overview []string, has, left [3]int64) {
	b.t.Helper()
	for i, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, "nvidia.com/gpu"} {
		for title, amount := range map[string]int64{"Allocatable": has[i], "Idle": left[i]} {
			words := slices.DeleteFunc(line(b.t, overview, title)[1:], func(w string) bool { return strings.HasPrefix(w, "(") })
			if want := render.FormatAmount(name, amount); len(words) <= i || words[i] != want {
				b.t.Errorf("vcctl's nodes have %s %s %s, the overview shows %v", want, name, title, words)
			}
		}
	}
}

// stateOf returns the state of a node that follows from the output of `node list`: its status, its pods, which all
// belong to jobs here, and its free resources.
func stateOf(status, pods string, idle [3]int64) string {
	switch {
	case strings.HasPrefix(status, "NotReady"):
		return "down"
	case strings.Contains(status, "SchedulingDisabled") && pods != "0":
		return "draining"
	case strings.Contains(status, "SchedulingDisabled"):
		return "drained"
	case pods == "0":
		return "idle"
	case idle[0] <= 0 || idle[2] <= 0:
		return "full"
	}
	return "mixed"
}

// queuesAgree compares `queue list -o json`, `queue tree`, Queues and the bars of Overview.
func (b *both) queuesAgree(listed *schedulingv1beta1.QueueList, resource corev1.ResourceName) {
	t := b.t
	t.Helper()
	tree, queues, overview := rows(b.vcctl("queue tree")), b.screen("3"), b.screen("1")
	titles := line(t, queues, "QUEUE")
	for i := range listed.Items {
		q := &listed.Items[i]
		shown := cells(t, titles, line(t, queues, q.Name), "ALLOC")
		said := func(list corev1.ResourceList) string {
			if amount, ok := list[resource]; ok {
				return amountOf(resource, amount.MilliValue())
			}
			return "-"
		}
		allocated := q.Status.Allocated[resource]
		running, waiting := below(listed, q.Name)
		want := map[string]string{"ALLOC": amountOf(resource, allocated.MilliValue()), "GUAR": said(q.Spec.Guarantee.Resource), "DESV": said(q.Spec.Deserved), "CAP": said(q.Spec.Capability),
			"RUN": fmt.Sprint(running), "PEND": fmt.Sprint(waiting)}
		for title, text := range want {
			if shown[title] != text {
				t.Errorf("%s: %s %s is %s for vcctl, Queues shows %s", q.Name, title, resource, text, shown[title])
			}
		}
		if row := tree[q.Name]; want["RUN"] != row["RUN"] || want["PEND"] != row["PEND"] {
			t.Errorf("%s: %s run and %s wait, queue tree shows %s and %s", q.Name, want["RUN"], want["PEND"], row["RUN"], row["PEND"])
		}
		share := "-"
		if deserved := q.Spec.Deserved[resource]; deserved.MilliValue() > 0 {
			share = fmt.Sprint(float64(allocated.MilliValue()) / float64(deserved.MilliValue()))
		}
		if words := line(t, queues, q.Name); !rounded(share, words[slices.Index(titles, "SHARE")]) {
			t.Errorf("%s: its share is %s, Queues shows %v", q.Name, share, words)
		}
		if q.Spec.Parent != "root" {
			continue
		}
		bar := cells(t, slices.Concat([]string{"BAR"}, []string{"ALLOC", "DESV", "CAP", "RUN", "PEND", "WAIT", "STATE"}), wordsInFirstBox(line(t, overview, "root/"+q.Name)), "ALLOC")
		want["WAIT"] = b.headWait(listed, q.Name)
		for _, title := range []string{"ALLOC", "DESV", "CAP", "RUN", "PEND", "WAIT"} {
			if bar[title] != want[title] {
				t.Errorf("%s: %s %s is %s for vcctl, the overview shows %s", q.Name, title, resource, want[title], bar[title])
			}
		}
	}
}

// rounded reports whether a text is the rounded form of a number, to at least two places.
func rounded(number, text string) bool {
	is, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return number == text
	}
	shown, err := strconv.ParseFloat(text, 64)
	return err == nil && math.Abs(is-shown) <= max(0.00501, is/100) // half of the last place, and the error of a float64
}

// wordsInFirstBox returns the words of a row without the borders of its box, and without another box beside it.
func wordsInFirstBox(words []string) []string {
	if end := slices.Index(words, "││"); end >= 0 {
		words = words[:end]
	}
	return slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == "│" })
}

// amountOf formats thousandths of a resource as the screens do.
func amountOf(name corev1.ResourceName, milli int64) string {
	if name == corev1.ResourceCPU {
		return render.FormatAmount(name, milli)
	}
	return render.FormatAmount(name, milli/1000)
}

// below returns the numbers of running and waiting gangs in a queue and its descendants.
func below(listed *schedulingv1beta1.QueueList, name string) (running, waiting int32) {
	for i := range listed.Items {
		q := &listed.Items[i]
		if q.Name == name {
			running, waiting = running+q.Status.Running, waiting+q.Status.Pending+q.Status.Inqueue
		}
		if q.Spec.Parent == name && q.Name != name {
			r, w := below(listed, q.Name)
			running, waiting = running+r, waiting+w
		}
	}
	return running, waiting
}

// freeNodes matches the number of free nodes in Overview.
var freeNodes = regexp.MustCompile(`whole (?:\w+ )?nodes free: ([0-9]+) `)

var counted = regexp.MustCompile(`Jobs  ((?:[a-z]+ [0-9,]+ +)+)`)

// jobsCounted counts the jobs of a list by phase. It also returns the text of Overview and the counts that Overview
// shows.
func (b *both) jobsCounted(list string) (phases map[batchv1alpha1.JobPhase]int, overview string, tally map[string]int) {
	b.t.Helper()
	jobs := batchv1alpha1.JobList{}
	b.decode(list, &jobs)
	phases, tally = map[batchv1alpha1.JobPhase]int{}, map[string]int{}
	for i := range jobs.Items {
		phases[jobs.Items[i].Status.State.Phase]++
	}
	overview = strings.Join(b.screen("1"), "\n")
	found := counted.FindStringSubmatch(overview)
	if found == nil {
		b.t.Fatalf("the overview counts no jobs:\n%s", overview)
	}
	words := strings.Fields(found[1])
	for i := 0; i+1 < len(words); i += 2 {
		tally[words[i]], _ = strconv.Atoi(words[i+1])
	}
	return phases, overview, tally
}

// jobsAgree compares `job list -o json` and the queues with the counts in Overview.
func (b *both) jobsAgree(listed *schedulingv1beta1.QueueList) {
	t := b.t
	t.Helper()
	phases, _, tally := b.jobsCounted("job list -A -o json")
	running, waiting := int32(0), int32(0)
	for i := range listed.Items {
		running, waiting = running+listed.Items[i].Status.Running, waiting+listed.Items[i].Status.Pending+listed.Items[i].Status.Inqueue
	}
	for what, pair := range map[string][2]int{
		"running":                   {tally["running"], phases[batchv1alpha1.Running]},
		"pending, held or starting": {tally["pending"] + tally["held"] + tally["starting"], phases[batchv1alpha1.Pending]},
		"suspended":                 {tally["suspended"], phases[batchv1alpha1.Aborted]},
		"requeued":                  {tally["requeued"], phases[batchv1alpha1.Restarting]},
		"completed or failed":       {tally["completed"] + tally["failed"], phases[batchv1alpha1.Completed] + phases[batchv1alpha1.Failed] + phases[batchv1alpha1.Terminated]},
	} {
		if pair[0] != pair[1] {
			t.Errorf("the overview counts %d jobs %s, job list -o json %d", pair[0], what, pair[1])
		}
	}
	if tally["pending"] != int(waiting) || tally["running"]+tally["starting"] != int(running) {
		t.Errorf("the overview counts %v, queue list -o json %d that run and %d that wait", tally, running, waiting)
	}
}

// eachJobAgrees compares `job list -o json` and `job explain -o json` with Jobs, Job and Explain.
func (b *both) eachJobAgrees() {
	t := b.t
	t.Helper()
	jobs := batchv1alpha1.JobList{}
	b.decode("job list -A -o json", &jobs)
	table := b.screen("2")
	for i := range jobs.Items {
		job := &jobs.Items[i]
		id, _ := batchv1alpha1.JobID(job)
		words := line(t, table, fmt.Sprint(id))
		s := &job.Status
		for _, want := range []string{job.Namespace, job.Name, job.Spec.Queue, fmt.Sprintf("%d/%d/%d/%d", s.Running, s.Pending, s.Succeeded, s.Failed)} {
			if !slices.Contains(words, want) {
				t.Errorf("job %d: vcctl says %s, Jobs shows %v", id, want, words)
			}
		}
		if i%5 == 0 || s.State.Phase == batchv1alpha1.Pending { // skips most of the 40 similar jobs
			b.open(job)
			counts := fmt.Sprintf("%d of %d running, %d waiting, %d failed", s.Running, job.Spec.Tasks[0].Replicas, s.Pending, s.Failed)
			if text := b.app.Draw().Text(); !strings.Contains(text, counts) {
				t.Errorf("job %d: vcctl says %s; Job:\n%s", id, counts, text)
			}
			b.explained(job)
		}
		b.screen("2")
	}
}

// open opens the screen of a job by filtering for it.
func (b *both) open(job *batchv1alpha1.Job) {
	b.t.Helper()
	b.screen("2")
	b.screen("/")
	for _, r := range "name=" + job.Name + " ns=" + job.Namespace {
		key := string(r)
		if r == ' ' {
			key = "space"
		}
		b.screen(key)
	}
	b.screen("enter")
	b.screen("enter")
	if text := b.app.Draw().Text(); !strings.Contains(strings.SplitN(text, "\n", 2)[0], job.Name) {
		b.t.Fatalf("%s was not opened:\n%s", job.Name, text)
	}
}

// explained compares the reasons why the open job waits.
func (b *both) explained(job *batchv1alpha1.Job) {
	b.t.Helper()
	said := struct {
		Message     string                         `json:"message"`
		Explanation *schedulingv1beta1.Explanation `json:"explanation"`
	}{}
	b.decode("job explain "+job.Name+" -n "+job.Namespace+" -o json", &said)
	b.screen("w")
	frame, twin := b.app.Draw().Text(), b.app.VisibleScreen().Twin(b.app.Context())
	b.screen("esc")
	b.screen("esc")
	b.screen("esc") // clears the filter, too
	if !strings.Contains(flat(twin), flat(said.Message)) {
		b.t.Errorf("%s: vcctl says %q, Explain copies\n%s", job.Name, said.Message, twin)
	}
	if said.Explanation == nil {
		return
	}
	for _, nodes := range said.Explanation.Nodes {
		if !regexp.MustCompile(fmt.Sprintf(`(?m)^\W*%d .*%s`, nodes.Count, regexp.QuoteMeta(nodes.Detail))).MatchString(frame) {
			b.t.Errorf("%s: %d nodes fail for %s %s; Explain:\n%s", job.Name, nodes.Count, nodes.Reason, nodes.Detail, frame)
		}
	}
}

func flat(text string) string { return strings.Join(strings.Fields(text), " ") }
