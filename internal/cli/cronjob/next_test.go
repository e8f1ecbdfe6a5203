package cronjob

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	controller "github.com/vc-batch/vc/internal/controllers/cronjob"
	"github.com/vc-batch/vc/test/propertytest"
)

// The controller checks again a moment after the next time; the view shows that time.
func TestTheNextTimeIsTheControllers(t *testing.T) {
	propertytest.Check(t, 300, func(t *rapid.T) {
		field := func(name string, low, high int) string {
			return rapid.OneOf(rapid.Just("*"), rapid.Custom(func(t *rapid.T) string { return fmt.Sprint(rapid.IntRange(low, high).Draw(t, name)) }),
				rapid.Custom(func(t *rapid.T) string { return fmt.Sprintf("*/%d", rapid.IntRange(1, high).Draw(t, name)) })).Draw(t, name)
		}
		schedule := fmt.Sprintf("%s %s %s %s %s", field("minute", 0, 59), field("hour", 0, 23), field("day", 1, 28), field("month", 1, 12), field("weekday", 0, 6))
		zone := rapid.SampledFrom([]string{"UTC", "Europe/Berlin", "Asia/Kolkata", "America/New_York", "Pacific/Apia"}).Draw(t, "zone")
		now := time.Unix(rapid.Int64Range(1.7e9, 1.8e9).Draw(t, "now"), 0)
		c := &batchv1alpha1.CronJob{ObjectMeta: metav1.ObjectMeta{Name: "c", CreationTimestamp: metav1.NewTime(now)}, Spec: batchv1alpha1.CronJobSpec{Schedule: schedule, TimeZone: &zone}}
		next, why := nextScheduleTime(c, now)
		if why != "" {
			t.Fatalf("%s: %s", schedule, why)
		}
		const lateness = 100 * time.Millisecond
		if want := now.Add(controller.Compute(controller.Input{CronJob: c, Now: now}).RequeueAfter - lateness); !next.Equal(want) {
			t.Fatalf("%s in %s at %s: next is %s, the controller's %s", schedule, zone, now, next, want)
		}
	})
}

func TestIntervalsAreCountedFromTheLastTime(t *testing.T) {
	t.Parallel()
	created := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	c := &batchv1alpha1.CronJob{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(created)}, Spec: batchv1alpha1.CronJobSpec{Schedule: "@every 45m"}}
	if next, _ := nextScheduleTime(c, created.Add(50*time.Minute)); !next.Equal(created.Add(90 * time.Minute)) {
		t.Errorf("next is %s", next)
	}
	last := metav1.NewTime(created.Add(47 * time.Minute))
	c.Status.LastScheduleTime = &last
	if next, _ := nextScheduleTime(c, created.Add(50*time.Minute)); !next.Equal(created.Add(92 * time.Minute)) {
		t.Errorf("next after %s is %s", last, next)
	}
}

func TestAScheduleWithoutAZoneIsInTheOneThatItsLastTimeFits(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, berlin)
	for name, c := range map[string]struct {
		last time.Time
		want *time.Location
	}{
		"never run":                  {time.Time{}, time.UTC},
		"it ran at half past in UTC": {time.Date(2026, 3, 2, 2, 30, 0, 0, time.UTC), time.UTC},
		"it ran at half past here":   {time.Date(2026, 3, 2, 2, 30, 0, 0, berlin), berlin},
		"it ran at neither":          {time.Date(2026, 3, 2, 5, 17, 0, 0, time.UTC), time.UTC},
	} {
		cron := &batchv1alpha1.CronJob{Spec: batchv1alpha1.CronJobSpec{Schedule: "30 2 * * *"}}
		if !c.last.IsZero() {
			cron.Status.LastScheduleTime = &metav1.Time{Time: c.last}
		}
		if got, err := scheduleZone(cron, now); err != nil || got != c.want {
			t.Errorf("%s: %s (%v), want %s", name, got, err, c.want)
		}
	}
}
