package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/test/failpoint"
	"github.com/vc-batch/vc/test/propertytest"
)

// stage is the environment of a story: one job, a cluster, and a vcd that dies once.
type stage struct {
	*cluster
	name string // of the job or queue, and the prefix of the names of all its objects
	past *past
}

// past holds the UIDs of all pods and PodGroups that ever existed, by name.
type past struct {
	mu     sync.Mutex
	pods   map[string]map[string]bool
	groups map[string]map[string]bool
}

// fewestPoints is slightly below the number of points in all stories, because at some points another component may
// write before vcd.
const fewestPoints = 140

// pointStep is the distance between the points of a story that are tested, unless VC_SEEDS=full is set: every third.
const pointStep = 3

// crashPatience is how long a story waits for each of its steps.
const crashPatience = 40 * time.Second

// outcome describes a finished story, without the stage's name.
type outcome struct {
	End          string         // the story's own description of its end
	Pods, Groups map[string]int // how often each object was created
}

// TestVcdIsKilledAroundEachWrite runs stories of jobs and queues. Around a given write of each story, vcd is killed
// with SIGKILL by its own failpoint, and a supervisor starts it again, as Kubernetes does. Each story must end as it
// does without a crash, nothing may be created or done twice, and the result must not change after another restart of
// vcd.
func TestVcdIsKilledAroundEachWrite(t *testing.T) {
	c := startCluster(t, "--components", "api", "--process-nodes", "0", "--simulated-nodes", "4", "--node-cpu", "64", "--node-memory", "64Gi", "--simulated-start", "10ms")
	runs := crashRuns()
	s := &supervisor{cluster: c, binary: buildToDie(t)}
	p := c.watchPast()
	t.Cleanup(s.end)
	undisturbed := map[string]outcome{}
	left := func(*testing.T) {} // checks the last story again and deletes its objects
	killed := 0
	for i, r := range runs {
		next := ""
		if i+1 < len(runs) {
			next = runs[i+1].point
		}
		began := time.Now()
		t.Run(r.title+" "+r.point, func(t *testing.T) {
			c := *c
			c.t = t
			st := &stage{cluster: &c, name: r.name, past: p}
			s.armed(r.point, next)
			end := r.story.play(st)
			if r.point == "" {
				undisturbed[r.title] = st.settled(end)
			} else {
				if s.diedIn(&c, r.story.raced) {
					killed++
				}
				st.judge(end, undisturbed[r.title])
			}
			last := left
			left = func(*testing.T) {} // do not check a failed story again
			last(t)
			left = func(t *testing.T) {
				c.t = t
				st.judge(end, undisturbed[r.title])
				if r.story.away != nil {
					r.story.away(st)
				}
			}
		})
		if r.point != "" {
			t.Logf("%5.1f s  %s, %s", time.Since(began).Seconds(), r.title, r.point)
		}
	}
	t.Logf("vcd was killed at %d points", killed)
	want := fewestPoints
	if !propertytest.Full() {
		want /= pointStep
	}
	if killed < want && os.Getenv("VC_CRASHPOINTS") == "" {
		t.Errorf("%d points, want %d at least: has a story been lost?", killed, want)
	}
}

// crashRun is a story with one failpoint, or without one. The outcome without a failpoint is the expected outcome of
// the others.
type crashRun struct {
	story       *crashStory
	title, name string
	point       string
}

// crashRuns returns all stories with every third of their points, or with all points if VC_SEEDS=full is set.
// $VC_CRASHPOINTS, a regular expression, selects points instead.
func crashRuns() []crashRun {
	var runs []crashRun
	expression := os.Getenv("VC_CRASHPOINTS")
	wanted := regexp.MustCompile(expression)
	isSampled := expression == "" && !propertytest.Full()
	stories := slices.Concat(crashStories, crashStoriesBeyond)
	for i := range stories {
		story := &stories[i]
		base := strings.ReplaceAll(story.title, " ", "-")
		chosen := []crashRun{{story: story, title: story.title, name: base + "-00"}}
		for n, point := range story.points {
			r := crashRun{story: story, title: story.title, name: fmt.Sprintf("%s-%02d", base, n+1)}
			r.point = point + " " + r.name // matches only this story's writes, not late writes of the last story
			if isSampled && n%pointStep != 0 {
				continue
			}
			if wanted.MatchString(r.title + " " + r.point) {
				chosen = append(chosen, r)
			}
		}
		if len(chosen) > 1 {
			runs = append(runs, chosen...)
		}
	}
	return runs
}

// outcome returns the outcome of a story.
func (s *stage) outcome(end func() string) outcome {
	return outcome{End: strings.ReplaceAll(end(), s.name, "NAME"), Pods: s.lives(s.past.pods), Groups: s.lives(s.past.groups)}
}

// settled waits until the outcome of a story has not changed for a while.
func (s *stage) settled(end func() string) outcome {
	s.t.Helper()
	var last outcome
	since := time.Now()
	s.eventually(crashPatience, s.name+" is over", func() error {
		if now := s.outcome(end); !cmp.Equal(last, now) {
			last, since = now, time.Now()
		}
		if time.Since(since) < 2*time.Second {
			return errors.New("it goes on")
		}
		return nil
	})
	return last
}

// judge compares a story's outcome with the one without a crash.
func (s *stage) judge(end func() string, want outcome) {
	s.t.Helper()
	s.eventually(crashPatience, s.name+" ends as if nothing had happened", func() error {
		if diff := cmp.Diff(want, s.outcome(end)); diff != "" {
			return fmt.Errorf("(-undisturbed +here):\n%s", diff)
		}
		return nil
	})
}

// buildToDie builds a vcd with failpoints.
func buildToDie(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "vcd")
	out, err := exec.Command("go", "build", "-tags", "failpoints", "-o", binary, "github.com/vc-batch/vc/cmd/vcd").CombinedOutput()
	if err != nil {
		t.Fatalf("build of vcd: %v\n%s", err, out)
	}
	return binary
}

// supervisor keeps vcd running. It restarts a killed vcd with the next failpoint.
type supervisor struct {
	*cluster
	binary string

	mu    sync.Mutex
	vcd   *exec.Cmd
	point string // the failpoint of the running process
	next  string
	dead  bool // the process died at the current story's point
	over  bool
	gone  sync.WaitGroup
}

// armed makes sure that the running vcd has a failpoint, and sets the failpoint of the process after it.
func (s *supervisor) armed(point, next string) {
	if _, err := failpoint.Parse(point); err != nil && point != "" {
		s.t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dead, s.next = false, next
	if s.vcd != nil && s.point != point {
		_ = s.vcd.Process.Kill()
		s.vcd = nil
	}
	if s.vcd == nil {
		s.start(point)
	}
}

// start starts vcd. The caller holds s.mu.
func (s *supervisor) start(point string) {
	log, err := os.OpenFile(filepath.Join(s.dir, "log", "vcd-test.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		s.t.Error(err)
		return
	}
	defer log.Close()
	cmd := exec.Command(s.binary, "all", "--kubeconfig", s.kubeconfig, "--webhook-listen-address", "127.0.0.1:0",
		"--enable-metrics=false", "--enable-healthz=false", "--leader-elect=false")
	cmd.Env = append(os.Environ(), "VC_FAILPOINT="+point, "VC_FAILPOINT_LOG="+filepath.Join(s.dir, "log", "writes.log"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		s.t.Error(err)
		return
	}
	s.vcd, s.point = cmd, point
	s.gone.Go(func() {
		_ = cmd.Wait()
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.over || s.vcd != cmd {
			return
		}
		s.vcd, s.dead = nil, true
		s.start(s.next)
	})
}

// diedIn waits until vcd was killed at the story's point. It returns false if another component made that write first,
// which raced permits.
func (s *supervisor) diedIn(c *cluster, raced bool) bool {
	c.t.Helper()
	if !raced {
		c.eventually(10*time.Second, "vcd was killed there", s.died)
		return true
	}
	for end := time.Now().Add(2 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if s.died() == nil {
			return true
		}
	}
	c.t.Log("the garbage collector was first")
	return false
}

// died returns an error until vcd was killed at the story's point.
func (s *supervisor) died() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.dead {
		return errors.New("no such write was made")
	}
	return nil
}

func (s *supervisor) end() {
	s.mu.Lock()
	s.over = true
	if s.vcd != nil {
		_ = s.vcd.Process.Kill()
	}
	s.mu.Unlock()
	s.gone.Wait()
}

// watchPast records all pods and PodGroups from now on.
func (c *cluster) watchPast() *past {
	c.t.Helper()
	p := &past{pods: map[string]map[string]bool{}, groups: map[string]map[string]bool{}}
	groups, err := c.Watch(context.Background(), &schedulingv1beta1.PodGroupList{})
	if err != nil {
		c.t.Fatal(err)
	}
	var reading sync.WaitGroup
	read := func(w watch.Interface, seen map[string]map[string]bool) {
		reading.Go(func() {
			for e := range w.ResultChan() {
				o, ok := e.Object.(client.Object)
				if !ok {
					continue
				}
				p.mu.Lock()
				if seen[o.GetName()] == nil {
					seen[o.GetName()] = map[string]bool{}
				}
				seen[o.GetName()][string(o.GetUID())] = true
				p.mu.Unlock()
			}
		})
		c.t.Cleanup(w.Stop)
	}
	c.t.Cleanup(reading.Wait) // runs after the stops below, because cleanups run in reverse order
	read(c.watchPods(), p.pods)
	read(groups, p.groups)
	return p
}

// drawn matches the parts of names that differ between runs: the UID at the end of a PodGroup's name, and the minute at
// the end of the name of a CronJob's job.
var drawn = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\b[0-9]{8}\b`)

// lives returns how often each pod or PodGroup of the stage was created, by the part of its name after the stage's
// name.
func (s *stage) lives(seen map[string]map[string]bool) map[string]int {
	s.past.mu.Lock()
	defer s.past.mu.Unlock()
	n := map[string]int{}
	for name, uids := range seen {
		rest, ours := strings.CutPrefix(name, s.name+"-")
		if !ours {
			continue
		}
		rest = strings.ReplaceAll(rest, s.name, "NAME")
		n[drawn.ReplaceAllString(rest, "*")] += len(uids)
	}
	return n
}
