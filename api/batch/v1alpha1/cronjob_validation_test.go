package v1alpha1

import (
	"strings"
	"testing"
	"time"

	"github.com/robfig/cron/v3"
)

// FuzzSchedule validates arbitrary schedules. An accepted schedule must have future times, at most one per minute.
func FuzzSchedule(f *testing.F) {
	for _, seed := range []string{
		"", "30 2 * * 1-5", "*/5 * * * *", "0 0 30 2 *", "0 0 29 2 *", "61 * * * *", "@daily", "@every 90s", "@every 30s", "@every -1h", "@every 1ns",
		"TZ=UTC 0 1 * * *", "CRON_TZ=Europe/Berlin 0 1 * * *", "TZ=", "TZ", "0 0 1 * * *", "0-59/61 * * * *", "5-1 * * * *", "0 0 * jan,feb mon", "? ? ? ? ?",
		"* * * * * ", "\x00 * * * *", "99999999999999999999 * * * *", "*/0 * * * *", "0,0,0 0 1 1 *", "@every 99999999h", "@reboot", "1/2/3 * * * *",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		errs := ValidateCronJob(&CronJob{Spec: CronJobSpec{Schedule: text}})
		for _, err := range errs {
			if err.Field != "spec.schedule" {
				t.Fatalf("%q is wrong at %s: %v", text, err.Field, err)
			}
		}
		if len(errs) > 0 {
			return
		}
		schedule, err := ParseSchedule(text)
		if err != nil || NamesZone(text) {
			t.Fatalf("%q is let in and cannot be followed: %v", text, err)
		}
		at := time.Date(2026, 11, 21, 13, 0, 30, 0, time.UTC)
		for range 3 {
			next := schedule.Next(at)
			if _, steps := schedule.(cron.ConstantDelaySchedule); next.IsZero() || !next.After(at) || steps && next.Sub(at) < time.Minute-time.Second {
				t.Fatalf("%q: after %s comes %s", text, at, next)
			}
			at = next
		}
	})
}

// FuzzTimeZone verifies that an accepted time zone is a name in the database, never a path outside of it, and never the
// local zone of the machine.
func FuzzTimeZone(f *testing.F) {
	for _, seed := range []string{
		"", "UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires", "Etc/GMT+3", "Local", "local", "../../etc/passwd", "/etc/localtime", "a//b", ".", "-x",
		"Europe/Berlin\x00", "Europe\\Berlin", "EUROPE/BERLIN", "Asia/Ho_Chi_Minh", "+01:00", strings.Repeat("a", 15), strings.Repeat("a/", 40),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, zone string) {
		errs := ValidateCronJob(&CronJob{Spec: CronJobSpec{Schedule: "0 1 * * *", TimeZone: &zone}})
		for _, err := range errs {
			if err.Field != "spec.timeZone" {
				t.Fatalf("%q is wrong at %s: %v", zone, err.Field, err)
			}
		}
		if len(errs) > 0 {
			return
		}
		location, err := time.LoadLocation(zone)
		if err != nil || location == time.Local || strings.HasPrefix(zone, "/") || strings.Contains(zone, "..") || strings.EqualFold(zone, "local") {
			t.Fatalf("%q is let in: %v, %v", zone, location, err)
		}
	})
}

// FuzzBegin verifies that an accepted time is valid and does not change when it is formatted again.
func FuzzBegin(f *testing.F) {
	for _, seed := range []string{"", "2026-11-21T22:18:00Z", "2026-11-21T22:18:00+01:00", "tomorrow", "2026-02-30T00:00:00Z", "0000-01-01T00:00:00Z", "2026-11-21T22:18:00.999999999999Z", "2026-11-21t22:18:00z"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		job := jobOf(func(j *Job) { j.Annotations = map[string]string{"vc-batch.dev/begin": text} }, "a")
		at, err := BeginOf(job)
		if refused := len(ValidateJob(job, nil)) > 0; refused != (err != nil) {
			t.Fatalf("%q is refused: %v, and cannot be read: %v", text, refused, err)
		}
		if err != nil || text == "" {
			return
		}
		job.Annotations["vc-batch.dev/begin"] = at.Format(time.RFC3339Nano)
		if again, err := BeginOf(job); err != nil || !again.Equal(at) {
			t.Fatalf("%q is %s, written again %s: %v", text, at, again, err)
		}
	})
}
