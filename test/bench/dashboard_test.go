package bench

import (
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/internal/tui"
	"github.com/vc-batch/vc/internal/tui/screens"
	"github.com/vc-batch/vc/internal/tui/theme"
	"github.com/vc-batch/vc/test/bench/figures"
	"github.com/vc-batch/vc/test/tuitest"
	"github.com/vc-batch/vc/test/watchserver"
)

// dashboardSize is the cluster size of the dashboard's performance targets.
var dashboardSize = watchserver.Cluster{Nodes: 5000, Jobs: 10_000, Pods: 10, Events: 60_000}

// TestDashboard checks the performance targets of `vcctl top`. It measures the parts in this process, and the whole
// program in its own terminal, connected to a server with 5,000 nodes, 10,000 jobs, 100,000 pods and 60,000 events.
// That server implements only watches.
func TestDashboard(t *testing.T) {
	skipUnlessAsked(t)
	size := dashboardSize
	size.Now = time.Now()
	t.Run("parts", func(t *testing.T) { dashboardParts(t, size) })
	t.Run("program", func(t *testing.T) { dashboardProgram(t, size) })
}

// board returns a board with all objects of a cluster.
func board(t *testing.T, c watchserver.Cluster) *snapshot.Board {
	t.Helper()
	b := snapshot.NewBoard()
	kinds := c.Kinds()
	for _, name := range []string{"nodes", "queues", "jobs", "podgroups", "pods", "events"} {
		for i := range kinds[name].Count {
			object := kinds[name].Make(i)
			slim(object)
			if err := b.StoreObject(object); err != nil {
				t.Fatal(err)
			}
		}
	}
	return b
}

func slim(object client.Object) {
	switch o := object.(type) {
	case *batchv1alpha1.Job:
		snapshot.SlimJob(o)
	case *schedulingv1beta1.PodGroup:
		snapshot.SlimGroup(o)
	}
}

// dashboardParts measures frames of every screen and snapshots. It measures processor time, which is what they would
// take on an idle machine. The cost of garbage collection is included only in the figures of the program.
func dashboardParts(t *testing.T, c watchserver.Cluster) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	b := board(t, c)
	facts := snapshot.Facts{Connection: snapshot.Connection{Link: snapshot.LinkLive, Since: c.Now}}
	snap := b.TakeSnapshot(c.Now, facts)
	app, err := tui.New(tui.Settings{Specs: screens.AllScreenSpecs(), Theme: "dark", Colors: theme.TrueColor, Program: "vcctl", Actions: &tuitest.Recorder{}, Now: c.Now})
	if err != nil {
		t.Fatal(err)
	}
	app.Resize(160, 50)
	app.SetSnapshot(snap)
	var slowest, applied []float64
	for _, keys := range []string{"1", "1 e", "2", "2 g", "2 enter", "2 enter t", "3", "4", "4 g", "4 H", "5"} {
		for _, key := range strings.Fields(keys) {
			app.HandleKey(tuitest.NewKeyPress(key))
		}
		var took []float64
		for range 200 {
			app.HandleKey(tuitest.NewKeyPress("down"))
			begin := threadTime(t)
			_ = app.Draw()
			took = append(took, milliseconds(threadTime(t)-begin))
		}
		slices.Sort(took)
		t.Logf("keys %s: a frame in %.2f ms, 99th percentile %.2f ms", keys, took[len(took)/2], took[len(took)*99/100])
		slowest = append(slowest, took[len(took)*99/100])
		app.HandleKey(tuitest.NewKeyPress("esc"))
	}
	take(t, figures.FrameTime, c.Nodes, slices.Max(slowest))
	costlyKeys(t, app)
	for _, key := range []string{"1", "2", "3", "4"} {
		app.HandleKey(tuitest.NewKeyPress(key))
		for round := range 10 {
			changed := c
			changed.Now = c.Now.Add(time.Duration(round+1) * time.Minute)
			pods, jobs := snapshots(changed, round)
			begin := threadTime(t)
			for _, pod := range pods {
				b.SetPod(pod)
			}
			for _, job := range jobs {
				b.SetJob(job)
			}
			next := b.TakeSnapshot(changed.Now, facts)
			frozen := threadTime(t) - begin
			app.SetSnapshot(next)
			applied = append(applied, milliseconds(threadTime(t)-begin))
			if round == 5 {
				t.Logf("screen %s: a snapshot in %.1f ms, brought up to date in %.1f ms more", key, milliseconds(frozen), applied[len(applied)-1]-milliseconds(frozen))
			}
		}
	}
	take(t, figures.ApplyTime, c.Nodes, applied...)
}

// costlyKeys measures keys that affect all rows, together with the frame that follows.
func costlyKeys(t *testing.T, app *tui.App) {
	t.Helper()
	var took []float64
	for _, screen := range []string{"1", "2", "4"} {
		app.HandleKey(tuitest.NewKeyPress(screen))
		for _, keys := range []string{"N N T g g", "ctrl+a esc", "/ j o b - 0 9 backspace backspace enter", "/ space g p u > = 1 enter esc", ": j o b esc", "H G m g H", "M M 0"} {
			for _, key := range strings.Fields(keys) {
				begin := threadTime(t)
				app.HandleKey(tuitest.NewKeyPress(key))
				_ = app.Draw()
				one := milliseconds(threadTime(t) - begin)
				if took = append(took, one); one > 10 {
					t.Logf("screen %s: %s of %q takes %.1f ms", screen, key, keys, one)
				}
			}
		}
		app.HandleKey(tuitest.NewKeyPress("esc"))
		app.HandleKey(tuitest.NewKeyPress("esc"))
	}
	slices.Sort(took)
	if p99 := took[len(took)*99/100]; p99 > figures.LineOf(figures.KeyToFrame).Floor {
		t.Errorf("keys that do something to all rows take %.1f ms and more, one in a hundred", p99)
	} else {
		t.Logf("keys that do something to all rows: median %.1f ms, 99th percentile %.1f ms, of %d", took[len(took)/2], p99, len(took))
	}
}

// snapshots returns a thousand pods and a hundred jobs, different ones in each round.
func snapshots(c watchserver.Cluster, round int) (pods []*snapshot.Pod, jobs []*batchv1alpha1.Job) {
	for i := range 1000 {
		pods = append(pods, snapshot.FromPod(c.Pod((i*97+round)%(c.Jobs*c.Pods))))
	}
	for i := range 100 {
		job := c.Job((i*89 + round) % c.Jobs)
		slim(job)
		jobs = append(jobs, job)
	}
	return pods, jobs
}

// threadTime returns the processor time that this thread has used.
func threadTime(t *testing.T) time.Duration {
	t.Helper()
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &now); err != nil {
		t.Fatal(err)
	}
	return time.Duration(now.Nano())
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// keyOf returns the i-th key to press: movements that always change something, because unchanged frames are not drawn,
// keys that switch tabs, and keys that affect all rows: sorting, grouping and typing a filter.
func keyOf(i int) string {
	const round = "jkjkjkjkjkjkjkjk3A4gHH2QQg /job-0\x7f\x7f\x7f\x7f\x7f\r1jk2"
	return string(round[i%len(round)])
}

// press presses n keys. It presses each key while the program writes nothing, after a random pause, so that the time
// until the terminal's next frame varies. It returns the response times in ascending order.
func (s *terminal) press(t *testing.T, n int) []float64 {
	t.Helper()
	phases := rand.New(rand.NewPCG(1, 2))
	var took []float64
	dearest := map[string][]float64{}
	for i := range n {
		s.quiet()
		time.Sleep(time.Duration(phases.Int64N(int64(50 * time.Millisecond)))) // vary the phase of the program's timers
		one := milliseconds(s.answer(t, keyOf(i)))
		took = append(took, one)
		dearest[keyOf(i)] = append(dearest[keyOf(i)], one)
	}
	for _, key := range slices.Sorted(maps.Keys(dearest)) {
		all := dearest[key]
		slices.Sort(all)
		t.Logf("key %q: %d times, median %.1f ms, longest %.1f ms", key, len(all), all[len(all)/2], all[len(all)-1])
	}
	slices.Sort(took)
	t.Logf("from a key to its frame: median %.1f ms, longest %.1f ms, of %d", took[len(took)/2], took[len(took)-1], n)
	return took
}

// typed types n letters into the filter of the jobs while other updates are drawn. A letter that occurs nowhere else on
// the screen identifies its response. All rows always match. It returns the response times in ascending order.
func (s *terminal) typed(t *testing.T, n int) []float64 {
	t.Helper()
	const first, last = 'А', 'я' // Cyrillic
	phases := rand.New(rand.NewPCG(3, 4))
	var took []float64
	s.send(t, "2")
	for letter := rune(last); len(took) < n; letter++ {
		if letter >= last {
			letter = first
			s.send(t, "\x1b")
			time.Sleep(300 * time.Millisecond) // so that escape is not combined with the next key
			s.send(t, "/name:*,")
		}
		time.Sleep(time.Duration(phases.Int64N(int64(200 * time.Millisecond)))) // vary the phase of the changes
		took = append(took, milliseconds(s.shows(t, string(letter))))
	}
	s.send(t, "\x1b")
	slices.Sort(took)
	t.Logf("from a letter of a filter to its frame while 500 pods and 50 jobs change a second: median %.1f ms, longest %.1f ms, of %d", took[len(took)/2], took[len(took)-1], n)
	return took
}

// changeFiveTimesASecond calls change five times per second, with the number of the call, until stop is called.
func changeFiveTimesASecond(change func(round int)) (stop func()) {
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		for round := 0; ; round++ {
			select {
			case <-end:
				return
			case <-tick.C:
				change(round)
			}
		}
	}()
	return func() { close(end); <-ended }
}

// changing sends changes of a hundred pods and ten jobs five times per second until stop is called.
func changing(server *watchserver.Server, c watchserver.Cluster) (stop func()) {
	return changeFiveTimesASecond(func(round int) {
		later := c
		later.Now = c.Now.Add(time.Duration(round+1) * time.Second)
		for i := range 100 {
			server.Send("pods", "MODIFIED", later.Pod((i*97+round)%(c.Jobs*c.Pods)))
		}
		for i := range 10 {
			server.Send("jobs", "MODIFIED", later.Job((i*89+round)%c.Jobs))
		}
	})
}

// changingVisibly changes as much as changing, but only the first jobs by name and their pods: in each change, a job has
// another number of pods that have succeeded.
func changingVisibly(server *watchserver.Server, c watchserver.Cluster) (stop func()) {
	const visible = 50
	return changeFiveTimesASecond(func(round int) {
		succeeded := round % c.Pods
		for i := range 10 {
			at := (round*10 + i) % visible
			job := c.Job(at)
			job.Status.Succeeded, job.Status.Running = int32(succeeded), int32(c.Pods-succeeded) //nolint:gosec // small
			server.Send("jobs", "MODIFIED", job)
			for index := range c.Pods {
				pod := c.Pod(at*c.Pods + index)
				if index < succeeded && pod.Spec.NodeName != "" {
					pod.Status.Phase = corev1.PodSucceeded
				}
				server.Send("pods", "MODIFIED", pod)
			}
		}
	})
}

// dashboardProgram measures the whole program.
func dashboardProgram(t *testing.T, c watchserver.Cluster) {
	program := filepath.Join(t.TempDir(), "vcctl")
	if out, err := exec.Command("go", "build", "-o", program, "github.com/vc-batch/vc/cmd/vcctl").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	server, metrics := watchserver.New(c.Kinds()), c.Metrics()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if watchserver.IsMetricsRequest(r) {
			metrics.ServeHTTP(w, r)
		} else {
			server.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(web.Close)
	settings := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(settings, []byte("dashboard: {prometheus: \""+web.URL+"\"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("VCCTL_CONFIG", settings)
	top := startTerminal(t, 160, 50, program, "top", "-A", "--server", web.URL)
	t.Cleanup(web.CloseClientConnections)
	begin := time.Now()
	full := top.until(t, 3*time.Minute, func(s string) bool { return strings.Contains(s, "live") })
	last, kinds := server.Listed()
	t.Logf("%d kinds listed after %s, the first full frame after %s", kinds, last.Sub(begin).Round(time.Millisecond), full.Sub(begin).Round(time.Millisecond))
	take(t, figures.FirstFrame, c.Nodes, full.Sub(last).Seconds())
	top.until(t, 2*time.Minute, func(s string) bool { return strings.Contains(s, "allocated GPUs are idle") }) // the use was read

	top.send(t, "2")
	time.Sleep(5 * time.Second) // wait until the first frame is complete
	keys := top.press(t, 600)
	take(t, figures.KeyToFrame, c.Nodes, keys[len(keys)*99/100])
	stop := changing(server, c)
	letters := top.typed(t, 300)
	take(t, figures.LetterToFrame, c.Nodes, letters[len(letters)*99/100])
	stop()
	stop = changingVisibly(server, c)
	var written []float64
	for _, screen := range []string{"1", "2", "4"} {
		time.Sleep(300 * time.Millisecond) // so that escape is not combined with the next key
		top.send(t, screen+"N")            // sorted by name, the changing objects come first
		written = append(written, top.bytesPerSecond(10*time.Second)/1e3)
	}
	t.Logf("written per second on the screens Overview, Jobs and Nodes: %.2f kB", written)
	take(t, figures.DashboardBytes, c.Nodes, slices.Max(written))
	stop()

	time.Sleep(5 * time.Second)
	before, from := top.processorTime(t), time.Now()
	time.Sleep(3 * time.Minute) // longer than the interval of forced garbage collections
	take(t, figures.DashboardIdle, c.Nodes, 100*(top.processorTime(t)-before).Seconds()/time.Since(from).Seconds())
	now, most := top.memory(t)
	t.Logf("resident now %.0f MB, at most %.0f MB", now, most)
	take(t, figures.DashboardMemory, c.Nodes, now)
	if bound := figures.LineOf(figures.DashboardMemory).Floor; most > bound {
		t.Errorf("at most %.0f MB were resident, while the lists came or later: the bound is %.0f", most, bound)
	}
	if dump := os.Getenv("VC_BENCH_FRAMES"); dump != "" {
		if err := os.WriteFile(dump, []byte(top.text()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
