package model

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vc-batch/vc/api/keys"
)

func TestWhenATaskEnds(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	for name, c := range map[string]struct {
		task Task
		want time.Time // zero for never
	}{
		"nothing is known: it may run for ever":            {Task{Started: ago(time.Hour)}, time.Time{}},
		"a limit counts from the start":                    {Task{Started: ago(time.Minute), Expected: RunTime{Limit: time.Hour}}, now.Add(59 * time.Minute)},
		"one that has not started yet counts from now":     {Task{Expected: RunTime{Limit: time.Hour}}, now.Add(time.Hour)},
		"a limit that has passed ends now":                 {Task{Started: ago(2 * time.Hour), Expected: RunTime{Limit: time.Hour}}, now},
		"a limit goes before an estimate":                  {Task{Started: now, Expected: RunTime{Limit: time.Hour, Estimate: time.Minute}}, now.Add(time.Hour)},
		"an estimate that has passed is doubled":           {Task{Started: ago(5 * time.Hour), Expected: RunTime{Estimate: time.Hour}}, now.Add(3 * time.Hour)},
		"the gang's estimate counts for who has none":      {Task{Started: now, Gang: &Gang{Estimate: time.Hour}}, now.Add(time.Hour)},
		"its own estimate goes before the gang's":          {Task{Started: now, Expected: RunTime{Estimate: time.Minute}, Gang: &Gang{Estimate: time.Hour}}, now.Add(time.Minute)},
		"a start in the future (another clock) counts now": {Task{Started: now.Add(time.Hour), Expected: RunTime{Limit: time.Hour}}, now.Add(time.Hour)},
	} {
		t.Run(name, func(t *testing.T) {
			end, known := c.task.LatestEndTime(now)
			if known == c.want.IsZero() || known && !end.Equal(c.want) {
				t.Errorf("ends at %v (%v), want %v", end, known, c.want)
			}
		})
	}
}

func FuzzRunningEstimate(f *testing.F) {
	for _, seed := range []string{"", "1h30m", "-1s", "0s", "1e30h", "90", "9999999h", "\x00"} {
		f.Add(seed, int64(0))
	}
	f.Add("", int64(1)<<62)
	f.Fuzz(func(t *testing.T, estimate string, limit int64) {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{keys.RunningEstimate: estimate}}, Spec: corev1.PodSpec{ActiveDeadlineSeconds: &limit}}
		task := Task{Expected: runTimeFrom(pod)}
		now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		if end, known := task.LatestEndTime(now); known && (end.Before(now) || end.Sub(now) > maxRunTime) {
			t.Errorf("%q, %d s: ends %v after now", estimate, limit, end.Sub(now))
		}
	})
}
