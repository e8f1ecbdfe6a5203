package consistency

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/dashboard/demo"
	"github.com/vc-batch/vc/test/tuitest"
)

// headWait returns how long the oldest waiting gang of a queue and its descendants has waited, in the unit that
// Overview uses.
func (b *both) headWait(listed *schedulingv1beta1.QueueList, queue string) string {
	var within func(string) []string
	within = func(name string) []string {
		all := []string{name}
		for i := range listed.Items {
			if q := &listed.Items[i]; q.Spec.Parent == name && q.Name != name {
				all = append(all, within(q.Name)...)
			}
		}
		return all
	}
	queues, longest := within(queue), time.Duration(-1)
	for _, object := range b.world {
		group, ok := object.(*schedulingv1beta1.PodGroup)
		if !ok || !slices.Contains(queues, group.Spec.Queue) {
			continue
		}
		if phase := group.Status.Phase; phase == schedulingv1beta1.PodGroupPending || phase == schedulingv1beta1.PodGroupInqueue {
			longest = max(longest, tuitest.Now.Sub(group.CreationTimestamp.Time))
		}
	}
	switch {
	case longest < 0:
		return "-"
	case longest < 2*time.Minute:
		return fmt.Sprintf("%ds", int(longest.Seconds()))
	case longest < 2*time.Hour:
		return fmt.Sprintf("%dm", int(longest.Minutes()))
	case longest < 48*time.Hour:
		return fmt.Sprintf("%dh", int(longest.Hours()))
	}
	return fmt.Sprintf("%dd", int(longest.Hours()/24))
}

var inUse = regexp.MustCompile(`([0-9,]+) gpu in use`)

// groupsAgree compares the headings of Jobs grouped by queue with the jobs below them.
func (b *both) groupsAgree(listed *schedulingv1beta1.QueueList) {
	b.t.Helper()
	b.screen("2")
	grouped := strings.Join(b.screen("g"), "\n")
	for range 4 {
		b.screen("g") // back to the list without groups
	}
	for i := range listed.Items {
		q := &listed.Items[i]
		line := regexp.MustCompile(`(?m)^\W*` + q.Name + `   .*running.*$`).FindString(grouped)
		if line == "" {
			continue
		}
		held, shown := q.Status.Allocated[demo.GPU], "0"
		if found := inUse.FindStringSubmatch(line); found != nil {
			shown = found[1]
		}
		if shown != held.String() {
			b.t.Errorf("%s holds %s GPUs for vcctl; Jobs: %s", q.Name, &held, line)
		}
	}
}

// TestWhoSeesAPartIsShownThatPart compares both for a user who may read jobs, PodGroups, pods and events only in nlp.
func TestWhoSeesAPartIsShownThatPart(t *testing.T) {
	t.Parallel()
	b := startFor(t, demo.NewCluster(), []string{"jobs", "podgroups", "pods", "events"})
	phases, overview, tally := b.jobsCounted("job list -n nlp -o json")
	if tally["running"] != phases[batchv1alpha1.Running] || tally["pending"]+tally["held"]+tally["starting"] != phases[batchv1alpha1.Pending] {
		t.Errorf("the overview counts %v, job list -n nlp %v", tally, phases)
	}
	if title := strings.SplitN(overview, "\n", 2)[0]; !strings.Contains(title, "only nlp") {
		t.Errorf("who sees a part is told so in the title: %s", title)
	}
	listed := schedulingv1beta1.QueueList{}
	b.decode("queue list -o json", &listed)
	queues := b.screen("3")
	titles := line(t, queues, "QUEUE")
	for i := range listed.Items {
		q := &listed.Items[i]
		held := q.Status.Allocated[demo.GPU]
		running, waiting := below(&listed, q.Name)
		want := map[string]string{"ALLOC": amountOf(demo.GPU, held.MilliValue()), "RUN": fmt.Sprint(running), "PEND": fmt.Sprint(waiting)}
		for title, shown := range cells(t, titles, line(t, queues, q.Name), "ALLOC") {
			if text, asked := want[title]; asked && text != shown {
				t.Errorf("%s: %s is %s for vcctl, Queues shows %s", q.Name, title, text, shown)
			}
		}
	}
	b.nodesUnknown()
}

// nodesUnknown compares both for nodes whose pods the user may not read: their free resources are unknown.
func (b *both) nodesUnknown() {
	b.t.Helper()
	b.server.RejectRequests("GET", "/api/v1/pods", http.StatusForbidden, metav1.StatusReasonForbidden, "pods is forbidden")
	nodes := b.screen("4")
	at := slices.Index(line(b.t, nodes, "NODE"), "STATE")
	for name, row := range rows(b.vcctl("node list")) {
		idle := row["IDLE CPU"]
		if _, err := strconv.Atoi(idle); err == nil {
			b.t.Errorf("%s: vcctl says %s cpu are idle, which it cannot know", name, idle)
		}
		words := line(b.t, nodes, name)
		want := "?"
		if strings.HasPrefix(row["STATUS"], "NotReady") {
			want = "down"
		} else if strings.Contains(row["STATUS"], "SchedulingDisabled") {
			want = "drained"
		}
		if words[at] != want {
			b.t.Errorf("%s is %s for vcctl, and its pods cannot be seen; Nodes calls it %s", name, row["STATUS"], words[at])
		}
	}
	if overview := strings.Join(b.screen("1"), "\n"); !strings.Contains(overview, "? full  ? mixed  ? idle") {
		b.t.Errorf("the overview counts nodes of which nobody knows:\n%s", overview)
	}
}
