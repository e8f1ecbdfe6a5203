package consistency

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/iostreams"
	"github.com/vc-batch/vc/internal/cli/root"
	"github.com/vc-batch/vc/internal/feed/livesnapshot"
	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui"
	"github.com/vc-batch/vc/internal/tui/screens"
	"github.com/vc-batch/vc/internal/tui/theme"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/tuitest"
	"github.com/vc-batch/vc/test/watchserver"
)

// both is the command line and the dashboard for the same objects.
type both struct {
	t      *testing.T
	server *clitest.Server
	app    *tui.App
	world  []runtime.Object
}

func start(t *testing.T, world []runtime.Object) *both {
	t.Helper()
	return startFor(t, world, nil)
}

// startFor starts both for a user who may read some kinds only in the namespace nlp.
func startFor(t *testing.T, world []runtime.Object, hidden []string) *both {
	t.Helper()
	var objects []client.Object
	for _, object := range world {
		objects = append(objects, object.DeepCopyObject().(client.Object))
	}
	b := &both{t: t, server: clitest.Start(t, objects...), world: world}
	for _, resource := range hidden {
		for _, group := range []string{"/api/v1", "/apis/batch.volcano.sh/v1alpha1", "/apis/scheduling.volcano.sh/v1beta1"} {
			b.server.RejectRequests("GET", group+"/"+resource, http.StatusForbidden, metav1.StatusReasonForbidden, resource+" is forbidden: User \"mei\" cannot list it at the cluster scope")
		}
	}
	var err error
	b.app, err = tui.New(tui.Settings{Specs: screens.AllScreenSpecs(), Theme: "dark", Colors: theme.NoColor, Program: "vcctl", Now: tuitest.Now})
	if err != nil {
		t.Fatal(err)
	}
	b.app.Resize(200, 150)
	b.app.SetSnapshot(watched(t, objects, hidden))
	return b
}

// watched returns the snapshot that the dashboard's watches build from objects.
func watched(t *testing.T, objects []client.Object, hidden []string) *snapshot.Snapshot {
	t.Helper()
	kinds := watchserver.Of(objects...)
	for _, resource := range hidden {
		kinds[resource].Forbidden, kinds[resource].Namespace = true, "nlp"
	}
	web := httptest.NewServer(watchserver.New(kinds))
	defer web.Close()
	l, err := livesnapshot.New(livesnapshot.Options{Config: &rest.Config{Host: web.URL}, Namespace: "nlp", Now: func() time.Time { return tuitest.Now }})
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

// vcctl runs a command line and returns its output.
func (b *both) vcctl(args string) string {
	b.t.Helper()
	streams, out, errOut := iostreams.TestStreams("", 0)
	streams.Env = func(string) string { return "" }
	streams.Environ = func() []string { return nil }
	f := cli.NewFactory("vcctl", &streams)
	f.Now = func() time.Time { return tuitest.Now }
	cache := b.t.TempDir()
	f.Config.CacheDir = &cache
	if code := root.Run(context.Background(), f, append([]string{"--kubeconfig", b.server.WriteKubeconfig("nlp")}, strings.Fields(args)...)); code != 0 && code != cli.ExitPending {
		b.t.Fatalf("vcctl %s: exit %d\n%s", args, code, errOut)
	}
	return out.String()
}

// rows parses a table that vcctl prints. It returns the cells by the first cell of the row and by title. Titles are in
// upper case and may contain one blank.
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

// screen presses a key and returns the lines of the whole screen, without the lines of boxes.
func (b *both) screen(key string) []string {
	b.t.Helper()
	b.app.HandleKey(tuitest.NewKeyPress(key))
	return strings.Split(b.app.Draw().Text(), "\n")
}

// line returns the words of the table row that begins with a word, without the marks of the cursor and of trees.
func line(t *testing.T, lines []string, word string) []string {
	t.Helper()
	for _, text := range lines {
		if words := strings.Fields(strings.TrimLeft(text, "│├└─▸* ")); len(words) > 0 && words[0] == word {
			return words
		}
	}
	t.Fatalf("no line begins with %s in\n%s", word, strings.Join(lines, "\n"))
	return nil
}

// cells returns the words of a line from a column to the right, by title. These columns must not be empty or contain
// blanks.
func cells(t *testing.T, titles, words []string, from string) map[string]string {
	t.Helper()
	at := slices.Index(titles, from)
	if at < 0 || len(words) < len(titles)-at {
		t.Fatalf("no column %s in %q for %q", from, titles, words)
	}
	all := map[string]string{}
	for i := range len(titles) - at {
		all[titles[len(titles)-1-i]] = words[len(words)-1-i]
	}
	return all
}

// number parses an amount. scaled is the factor for the result.
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

// idle returns the free resources in a row of `vcctl node list` or `vcctl top --once`: milli-CPUs, bytes, GPUs.
func idle(t *testing.T, row map[string]string, gpus string) [3]int64 {
	t.Helper()
	return [3]int64{number(t, row["IDLE CPU"], 1000), number(t, row["IDLE MEMORY"], 1), number(t, gpus, 1)}
}
