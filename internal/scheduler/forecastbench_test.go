package scheduler

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/cycle"
	"github.com/vc-batch/vc/internal/scheduler/decision"
	"github.com/vc-batch/vc/test/make"
)

// ahead is a full cluster of pods that end at known times, ten per node, and waiting gangs of 2 to 65 pods in 20
// queues.
func ahead(t testing.TB, nodes, waiting int) (*Engine, *model.Cluster) {
	e, err := New(config.Default())
	if err != nil {
		t.Fatal(err)
	}
	c := model.New()
	for q := range 20 {
		c.Apply(model.QueueFrom(make.Queue(fmt.Sprintf("q%02d", q)).Obj()))
	}
	for i := range nodes {
		name := fmt.Sprintf("node-%04d", i)
		c.Apply(model.NodeFrom(make.Node(name).CPU("10").Memory("64Gi").Obj()))
	}
	timed := func(name, gang string, minutes int) *make.PodBuilder {
		return make.Pod(name).Gang(gang).CPU("1").Memory("1Gi").Annotation(keys.RunningEstimate, fmt.Sprintf("%dm", minutes))
	}
	for g := range nodes {
		gang := fmt.Sprintf("runs-%05d", g)
		c.Apply(model.GangFrom(make.Gang(gang).Min(10).Queue(fmt.Sprintf("q%02d", g%20)).Phase("Running").Obj()))
		for i := range 10 {
			pod := timed(fmt.Sprintf("%s-%d", gang, i), gang, 10+(g*7919+i*104729)%600).On(fmt.Sprintf("node-%04d", g)).Phase(corev1.PodRunning)
			c.Apply(model.TaskFrom(pod.Obj(), true))
		}
	}
	for g := range waiting {
		gang, members := fmt.Sprintf("waits-%04d", g), 2+g*31%64
		c.Apply(model.GangFrom(make.Gang(gang).Min(members).Queue(fmt.Sprintf("q%02d", g%20)).Phase("Inqueue").Obj()))
		for i := range members {
			c.Apply(model.TaskFrom(timed(fmt.Sprintf("%s-%d", gang, i), gang, 30+g%90).Obj(), true))
		}
	}
	return e, c
}

// foretelling opens a cycle up to the forecast and returns its session.
func foretelling(e *Engine, now time.Time, c *model.Cluster) *cycle.Cycle {
	s := e.openCycle(now, c)
	for _, policy := range e.policies {
		s.Rules.Tier = policy.tier
		policy.Open(s.Session)
	}
	e.gangs.updateGangs(s)
	for _, action := range e.actions {
		action.Run(s)
	}
	return s
}

// TestForecastFloor bounds the time to forecast when the waiting gangs start, if all running pods end at known times.
// It compares it with a tenth of the following pause (Engine.updateForecasts), also if few gangs wait and many pods
// end: forecasts must not use more than a tenth of one core. The endings are known from the cycle before, as in a
// running scheduler. 200 gangs took 60 to 90 ms on the 2-core machine.
func TestForecastFloor(t *testing.T) {
	measured(t)
	for _, nodes := range sizes {
		for _, waiting := range []int{200, 3} {
			best, known, pause := forecastTime(t, nodes, waiting)
			if waiting == 200 {
				told(t, "estimates of when 200 waiting gangs start, ten timed pods a node", nodes, best.Seconds()*1000, "ms")
			}
			t.Logf("%d gangs, %d nodes: %v, then a rest of %v", waiting, nodes, best, pause)
			if known == 0 || best > 150*time.Millisecond || best > pause/10 {
				t.Errorf("%d gangs: %v for %d nodes, %d starts known, a rest of %v after it; the ceiling is 150 ms, and a tenth of the rest", waiting, best, nodes, known, pause)
			}
		}
	}
}

// forecastTime returns the best time of five forecasts, the number of known starts, and the pause after a forecast.
func forecastTime(t *testing.T, nodes, waiting int) (best time.Duration, known int, pause time.Duration) {
	e, c := ahead(t, nodes, waiting)
	d := e.Cycle(make.Epoch, c)
	decision.Assume(c, &d)
	best = time.Hour
	for i := range 5 {
		s := foretelling(e, make.Epoch.Add(time.Duration(i+1)*time.Second), c)
		s.KnownEndings()
		looked, walked := s.Looked, s.Walked
		start := spent()
		forecasts := s.ForecastStarts()
		best = min(best, spent()-start)
		pause = pauseAfterForecast(s.Looked-looked, s.Walked-walked, len(s.AllWaiting))
		known = 0
		for _, f := range forecasts {
			if f.Known {
				known++
			}
		}
	}
	return best, known, pause
}

// BenchmarkForecast is TestForecastFloor for profiles.
func BenchmarkForecast(b *testing.B) {
	e, c := ahead(b, 5000, 200)
	d := e.Cycle(make.Epoch, c)
	decision.Assume(c, &d)
	s := foretelling(e, make.Epoch.Add(time.Second), c)
	s.KnownEndings()
	b.ReportAllocs()
	for b.Loop() {
		s.ForecastStarts()
	}
	known := 0
	for _, f := range s.ForecastStarts() {
		if f.Known {
			known++
		}
	}
	b.ReportMetric(float64(known), "known")
}
