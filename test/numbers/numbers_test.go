package numbers

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/clitest"
	"github.com/vc-batch/vc/internal/cli/iostreams"
	"github.com/vc-batch/vc/internal/cli/root"
	"github.com/vc-batch/vc/internal/feed/live"
	"github.com/vc-batch/vc/internal/render"
	"github.com/vc-batch/vc/internal/slurm/state"
	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui"
	"github.com/vc-batch/vc/internal/tui/screens"
	"github.com/vc-batch/vc/internal/tui/theme"
	"github.com/vc-batch/vc/internal/tui/tuitest"
	"github.com/vc-batch/vc/test/watchserver"
)

// both is the command line and the dashboard, before the same objects.
type both struct {
	t      *testing.T
	server *clitest.Server
	app    *tui.App
}

func start(t *testing.T) *both {
	t.Helper()
	var objects []client.Object
	for _, object := range tuitest.Normal() {
		objects = append(objects, object.DeepCopyObject().(client.Object))
	}
	b := &both{t: t, server: clitest.Start(t, objects...)}
	var err error
	b.app, err = tui.New(tui.Settings{Specs: screens.All(), Theme: "dark", Colors: theme.NoColor, Program: "vcctl", Now: tuitest.Now})
	if err != nil {
		t.Fatal(err)
	}
	b.app.Resize(200, 150)
	b.app.SetSnapshot(watched(t, objects))
	return b
}

// watched is what the dashboard's watches make of objects.
func watched(t *testing.T, objects []client.Object) *snapshot.Snapshot {
	t.Helper()
	web := httptest.NewServer(watchserver.New(watchserver.Of(objects...)))
	defer web.Close()
	l, err := live.New(live.Options{Config: &rest.Config{Host: web.URL}, Namespace: "nlp", Now: func() time.Time { return tuitest.Now }})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(context.Background(), 30*time.Second)
	ended := make(chan struct{})
	go func() { defer close(ended); l.Run(ctx) }()
	defer func() {
		stop()
		<-ended
		web.CloseClientConnections()
	}()
	for {
		snap, err := l.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if snap.Connection.Link == snapshot.LinkLive {
			return snap
		}
	}
}

// vcctl runs a command line and gives what it printed.
func (b *both) vcctl(args string) string {
	b.t.Helper()
	streams, out, errOut := iostreams.Test("", 0)
	streams.Env = func(string) string { return "" }
	streams.Environ = func() []string { return nil }
	f := cli.NewFactory("vcctl", &streams)
	f.Now = func() time.Time { return tuitest.Now }
	cache := b.t.TempDir()
	f.Config.CacheDir = &cache
	if code := root.Run(context.Background(), f, append([]string{"--kubeconfig", b.server.Kubeconfig("nlp")}, strings.Fields(args)...)); code != 0 {
		b.t.Fatalf("vcctl %s: exit %d\n%s", args, code, errOut)
	}
	return out.String()
}

// rows are the cells of a table that vcctl prints, by the first of each row and by the titles, which are upper case and may hold one blank.
func rows(table string) map[string]map[string]string {
	lines := strings.Split(strings.TrimRight(table, "\n"), "\n")
	var titles []string
	var starts []int
	for at := 0; at < len(lines[0]); {
		title, _, _ := strings.Cut(lines[0][at:], "  ")
		titles, starts = append(titles, title), append(starts, at)
		at += len(title)
		for at < len(lines[0]) && lines[0][at] == ' ' {
			at++
		}
	}
	all := map[string]map[string]string{}
	for _, line := range lines[1:] {
		row := map[string]string{}
		for i, title := range titles {
			end := len(line)
			if i+1 < len(titles) {
				end = min(end, starts[i+1])
			}
			if starts[i] < end {
				row[title] = strings.TrimSpace(line[starts[i]:end])
			}
		}
		all[strings.TrimLeft(row[titles[0]], "├└│─|`- ")] = row
	}
	return all
}

// screen is the text of a screen, all of it, without the lines of boxes.
func (b *both) screen(key string) []string {
	b.t.Helper()
	b.app.Key(tuitest.Press(key))
	return strings.Split(b.app.Draw().Text(), "\n")
}

// line is the words of the first line of a screen in which a word stands.
func line(t *testing.T, lines []string, word string) []string {
	t.Helper()
	for _, text := range lines {
		words := strings.Fields(text)
		if slices.Contains(words, word) {
			return words
		}
	}
	t.Fatalf("no line with %s in\n%s", word, strings.Join(lines, "\n"))
	return nil
}

// number reads an amount; scaled is what 1 of it counts.
func number(t *testing.T, text string, scaled int64) int64 {
	t.Helper()
	q, err := resource.ParseQuantity(text)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	if scaled == 1000 {
		return q.MilliValue()
	}
	return q.Value()
}

// idle is what a row of `vcctl node list` or `vcctl top --once` says of a node: milli-cpu, bytes, GPUs.
func idle(t *testing.T, row map[string]string, gpus string) [3]int64 {
	t.Helper()
	return [3]int64{number(t, row["IDLE CPU"], 1000), number(t, row["IDLE MEMORY"], 1), number(t, gpus, 1)}
}

func TestNodes(t *testing.T) {
	t.Parallel()
	b := start(t)
	listed := rows(b.vcctl("node list -o wide"))
	top, _, _ := strings.Cut(b.vcctl("top --once -A"), "\n\nPods:")
	once := rows(strings.TrimPrefix(top, "Nodes:\n"))
	nodes, overview := b.screen("4"), b.screen("1")
	var has, left [3]int64
	for name, row := range listed {
		device, _, _ := strings.Cut(strings.TrimPrefix(row["DEVICES"], "gpu "), "/")
		here := idle(t, row, device)
		if there := idle(t, once[name], once[name]["IDLE GPU"]); here != there {
			t.Errorf("%s: node list says %v is idle, top --once %v", name, here, there)
		}
		want := []string{fmt.Sprint(here[2]), "/", render.Amount(corev1.ResourceCPU, here[0]), "/", render.Amount(corev1.ResourceMemory, here[1])}
		if shown := line(t, nodes, name); !strings.Contains(strings.Join(shown, " "), strings.Join(want, " ")) {
			t.Errorf("%s: vcctl says idle are %v, the dashboard shows %v", name, want, shown)
		}
		has[0] += number(t, row["CPU"], 1000)
		has[1] += number(t, row["MEMORY"], 1)
		if row["STATUS"] == "Ready" { // what is idle elsewhere is of no use
			for i := range left {
				left[i] += here[i]
			}
		}
	}
	if len(listed) != 96 || len(once) != 96 {
		t.Errorf("%d and %d nodes", len(listed), len(once))
	}
	shown := line(t, overview, "Idle")
	for i, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, "nvidia.com/gpu"} {
		if want := render.Amount(name, left[i]); !slices.Contains(shown, want) {
			t.Errorf("vcctl's nodes have %s %s idle, the overview shows %v", want, name, shown)
		}
	}
	for i, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		if want, shown := render.Amount(name, has[i]), line(t, overview, "Allocatable"); !slices.Contains(shown, want) {
			t.Errorf("vcctl's nodes have %s %s, the overview shows %v", want, name, shown)
		}
	}
}

func TestQueues(t *testing.T) {
	t.Parallel()
	b := start(t)
	listed, tree := schedulingv1beta1.QueueList{}, rows(b.vcctl("queue tree"))
	if err := json.Unmarshal([]byte(b.vcctl("queue list -o json")), &listed); err != nil {
		t.Fatal(err)
	}
	queues := b.screen("3")
	titles := line(t, queues, "QUEUE")
	for i := range listed.Items {
		q := &listed.Items[i]
		words := line(t, queues, q.Name)
		cells := words[len(words)-(len(titles)-slices.Index(titles, "ALLOC")):]
		at := func(title string) string { return cells[slices.Index(titles, title)-slices.Index(titles, "ALLOC")] }
		gpu := q.Status.Allocated["nvidia.com/gpu"]
		capability, limited := q.Spec.Capability["nvidia.com/gpu"]
		want := "-"
		if limited {
			want = capability.String()
		}
		if at("ALLOC") != gpu.String() || at("CAP") != want {
			t.Errorf("%s: vcctl says %s of %s gpu are allocated, the dashboard %s of %s", q.Name, gpu.String(), want, at("ALLOC"), at("CAP"))
		}
		if row := tree[q.Name]; at("R") != row["RUN"] || at("PD") != row["WAIT"] {
			t.Errorf("%s: vcctl says %s run and %s wait, the dashboard %s and %s", q.Name, row["RUN"], row["WAIT"], at("R"), at("PD"))
		}
	}
	if len(listed.Items) < 8 {
		t.Errorf("%d queues", len(listed.Items))
	}
}

func TestJobs(t *testing.T) {
	t.Parallel()
	b := start(t)
	listed := batchv1alpha1.JobList{}
	if err := json.Unmarshal([]byte(b.vcctl("job list -A -o json")), &listed); err != nil {
		t.Fatal(err)
	}
	jobs := b.screen("2")
	running, waiting := 0, 0
	for i := range listed.Items {
		job := &listed.Items[i]
		id, _ := batchv1alpha1.JobID(job)
		words := line(t, jobs, fmt.Sprint(id))
		for _, want := range []string{job.Namespace, job.Name, job.Spec.Queue} {
			if !slices.Contains(words, want) {
				t.Errorf("job %d is %s for vcctl, the dashboard shows %v", id, want, words)
			}
		}
		if want := fmt.Sprintf("%d/%d/%d", job.Status.Running, job.Status.Pending, job.Status.Failed); !slices.Contains(words, want) {
			t.Errorf("%s: vcctl says %s pods run, wait and failed, the dashboard shows %v", job.Name, want, words)
		}
		switch code := state.Code(words[slices.IndexFunc(words, func(w string) bool { return slices.Contains(state.Codes(), state.Code(w)) })]); {
		case job.Status.State.Phase == batchv1alpha1.Running:
			running++
			if code != state.Running && code != state.Configuring {
				t.Errorf("%s runs, the dashboard shows %s", job.Name, code)
			}
		case code.Base() == state.Pending:
			waiting++
		}
	}
	if text := strings.Join(b.screen("1"), "\n"); !strings.Contains(text, fmt.Sprintf("running %d ", running)) {
		t.Errorf("vcctl says %d jobs run; the overview:\n%s", running, text)
	}
	if waiting == 0 || running == 0 {
		t.Errorf("%d run, %d wait", running, waiting)
	}
}
