package optionvalue

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// reads tests a parse function with texts and expected results. An expected result that begins with "! " is part of
// the hint of an error.
func reads[T any](t *testing.T, parse func(string) (T, error), show func(T) string, want map[string]string) {
	t.Helper()
	for text, means := range want {
		got, err := parse(text)
		if hint, isError := strings.CutPrefix(means, "! "); isError {
			var bad *Bad
			if !errors.As(err, &bad) || !strings.Contains(bad.Hint, hint) {
				t.Errorf("%q is read as %s, %v; want an error with %q", text, show(got), err, hint)
			}
			continue
		}
		if err != nil || show(got) != means {
			t.Errorf("%q is read as %s, %v; want %s", text, show(got), err, means)
		}
	}
}

func TestTimes(t *testing.T) {
	t.Parallel()
	reads(t, ParseTime, Minutes.String, map[string]string{
		"90": "1:30:00", "1:30": "2:00", "2:00": "2:00", "1:30:00": "1:30:00", "0:0:1": "1:00", "2-12": "2-12:00:00", "1-0": "1-00:00:00", "1-2:30": "1-02:30:00",
		"1-2:30:01": "1-02:31:00", "0": "UNLIMITED", "-1": "UNLIMITED", "infinite": "UNLIMITED", "UNLIMITED": "UNLIMITED", "00:00": "UNLIMITED", "1440": "1-00:00:00",
		"2h": "! 2h is not in Slurm's time format; use 2:00:00, or 120 (minutes)", "90s": "! 90s is not in Slurm's time format; use 0:02:00, or 2 (minutes)", "1d12h": "! use 36:00:00, or 2160 (minutes)",
		"": "! use minutes", "a": "! use minutes", "1:2:3:4": "! use minutes", "-5": "! use minutes", "1--2": "! use minutes", "1-": "! use minutes", ":5": "! use minutes",
		"99999999999999": "! use minutes",
	})
}

func TestMemory(t *testing.T) {
	t.Parallel()
	reads(t, ParseMemory, func(m MiB) string { return fmt.Sprint(int64(m)) }, map[string]string{
		"4096": "4096", "4G": "4096", "4g": "4096", "4GB": "4096", "1T": "1048576", "512M": "512", "1K": "1", "1025k": "2", "0": "0", "200G": "204800",
		"4Gi": `! "4Gi" is Kubernetes notation; use 4G (in Slurm, G means 1024 MiB)`, "4GiB": "! use 4G", "1.5G": "! use 1536M", "4B": "! whole number", "-1": "! whole number", "": "! whole number",
		"G": "! whole number", "9999999999999T": "! too large",
	})
}

func TestCounts(t *testing.T) {
	t.Parallel()
	reads(t, ParseCount, Count.String, map[string]string{
		"4": "4", "2-8": "2-8", "1k": "1024", "1-1k": "1-1024", "3-3": "3", "1m": "1048576",
		"0": "! use a number such as", "": "! use a number such as", "8-2": "! use 2-8", "1,3,5": "! lists", "1-15:4": "! lists", "x": "! use a number such as", "4g": "! use a number such as", "1-2-3": "! use a number such as",
	})
}

func TestArrays(t *testing.T) {
	t.Parallel()
	reads(t, ParseArray, Array.String, map[string]string{
		"0-15": "0-15", "1,3,5-7": "1,3,5-7", "0-15:4": "0,4,8,12", "0-15:4%2": "0,4,8,12%2", "[0-3]": "0-3", "[1-3%2]": "1-3%2", "1,1,2": "1-2", "5": "5", "0-10000": "0-10000", "3%0": "3",
		"": "! indices and ranges", "a": "! is not a number", "3-1": "! backwards", "0-3:0": "! step 0", "10001": "! less than 10001", "[1": "! missing closing bracket", "1-3%x": "! how many tasks can run", "%3": "! indices and ranges",
		"1-2 ": "! indices and ranges", "-1": "! is not a number", "1;2": "! is not a number",
	})
}

func TestGenericResources(t *testing.T) {
	t.Parallel()
	show := func(all []Gres) string {
		words := make([]string, len(all))
		for i, g := range all {
			words[i] = g.String()
		}
		return strings.Join(words, ",")
	}
	reads(t, ParseGres, show, map[string]string{
		"gpu": "gpu:1", "gpu:2": "gpu:2", "gpu:a100:8": "gpu:a100:8", "gpu:a100": "gpu:a100:1", "gpu:1,nic:2": "gpu:1,nic:2", "none": "", "": "", "shard:1k": "shard:1024", "gres:gpu:2": "gpu:2", "gres/gpu:2": "gpu:2",
		"gpu:": "! list of NAME", "gpu:a100:x": "! list of NAME", "gpu:a:b:2": "! list of NAME", ":2": "! list of NAME", "gpu,": "! list of NAME", "g pu": "! list of NAME",
	})
	reads(t, ParseGPUs, show, map[string]string{"4": "gpu:4", "a100:2": "gpu:a100:2", "a100:2,h100:1": "gpu:a100:2,gpu:h100:1", "": "! use NUMBER", "a100": "! use NUMBER", "x:y": "! use NUMBER"})
	tres := func(text string) (string, error) {
		cpus, gpus, err := ParseTRES(text)
		return fmt.Sprint(cpus, " ", show(gpus)), err
	}
	reads(t, tres, func(text string) string { return text }, map[string]string{
		"cpu=4": "4 ", "cpu:4,gres/gpu:a100:2": "4 gpu:a100:2", "gres/gpu=2": "0 gpu:2", "gres/gpu:a100=2": "0 gpu:a100:2", "gres/gpu": "0 gpu:1", "mem=4": "! cpu=N and", "cpu=x": "! whole number",
	})
}

func TestSignals(t *testing.T) {
	t.Parallel()
	reads(t, ParseSignal, Signal.String, map[string]string{
		"USR1": "USR1@60", "SIGUSR1@90": "USR1@90", "B:USR2@30": "B:USR2@30", "10@5": "USR1@5", "usr1": "USR1@60", "B:TERM": "B:TERM@60", "64": "64@60",
		"R:USR1": "! reservation", "X:USR1": "! [B:]SIGNAL", "FOO": "! use a number or one of", "USR1@x": "! seconds", "USR1@65536": "! seconds", "0": "! use a number or one of", "65": "! use a number or one of",
	})
}

func TestDates(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 14, 30, 0, 0, time.FixedZone("CET", 3600))
	show := func(at time.Time) string { return at.Format("2006-01-02T15:04:05") }
	coming := func(text string) (time.Time, error) { return ParseDate(text, now, Coming) }
	reads(t, coming, show, map[string]string{
		"now": "2026-11-21T14:30:00", "now+1hour": "2026-11-21T15:30:00", "now+90": "2026-11-21T14:31:30", "now+2days": "2026-11-23T14:30:00", "now + 1 week": "2026-11-28T14:30:00", "now-1hour": "2026-11-21T13:30:00",
		"16:00": "2026-11-21T16:00:00", "14:00": "2026-11-22T14:00:00", "4:15pm": "2026-11-21T16:15:00", "4:15 PM": "2026-11-21T16:15:00", "12:00am": "2026-11-22T00:00:00", "23:59:58": "2026-11-21T23:59:58",
		"today": "2026-11-21T00:00:00", "tomorrow": "2026-11-22T00:00:00", "midnight": "2026-11-22T00:00:00", "noon": "2026-11-22T12:00:00", "fika": "2026-11-21T15:00:00", "teatime": "2026-11-21T16:00:00",
		"elevenses": "2026-11-22T11:00:00", "noon tomorrow": "2026-11-22T12:00:00", "tomorrow 8:00": "2026-11-22T08:00:00",
		"2026-12-24": "2026-12-24T00:00:00", "2026-12-24T18:00": "2026-12-24T18:00:00", "2026-12-24T18:00:30": "2026-12-24T18:00:30", "12/24": "2026-12-24T00:00:00", "1224": "2026-12-24T00:00:00", "122427": "2027-12-24T00:00:00",
		"12/24/27": "2027-12-24T00:00:00", "01/05": "2027-01-05T00:00:00", "16:00 12/24": "2026-12-24T16:00:00", "12/24-16:00": "2026-12-24T16:00:00", "12/24/27-06:07:08": "2027-12-24T06:07:08", "12/24-": "! HH:MM", "11/21": "2026-11-21T00:00:00",
		"": "! HH:MM", "yesterday-ish": "! HH:MM", "25:00": "! HH:MM", "now+x": "! now+NUMBER", "now+1fortnight": "! now+NUMBER", "13/40": "! HH:MM", "2026-02-30": "! the date does not exist", "16:00 17:00": "! HH:MM", "nowadays": "! HH:MM",
		"13:00pm": "! HH:MM",
	})
	past := func(text string) (time.Time, error) { return ParseDate(text, now, Past) }
	reads(t, past, show, map[string]string{
		"16:00": "2026-11-20T16:00:00", "14:00": "2026-11-21T14:00:00", "12/24": "2025-12-24T00:00:00", "2026-11-19T21:00": "2026-11-19T21:00:00", "midnight": "2026-11-21T00:00:00",
	})
}

func TestJobs(t *testing.T) {
	t.Parallel()
	reads(t, ParseJob, Job.String, map[string]string{
		"42": "42", "42_7": "42_7", "42_[1-3,9]": "42_[1-3,9]", "42_[7]": "42_7", "42.0": "42.0", "42.batch": "42.batch", "42_7.0": "42_7.0", "train": "train", "train_3": "train_3", "3d-model": "3d-model", "run-sh-x7k2p": "run-sh-x7k2p",
		"0": "0", "": "! specify a job number", "42_": "! specify a job number", "42_[": "! specify a job number", "42_x": "! specify a job number", "A": "! specify a job number", "42_1-3": "! specify a job number", "042": "042", "42.": "! specify a job number",
	})
	jobs, err := ParseJobs("1, 2_[3,5],train")
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, job := range jobs {
		texts = append(texts, job.String())
	}
	if diff := cmp.Diff([]string{"1", "2_[3,5]", "train"}, texts); diff != "" {
		t.Error(diff)
	}
}

func TestConditionsOnFeatures(t *testing.T) {
	t.Parallel()
	reads(t, ParseFeatures, Features.String, map[string]string{
		"a100": "a100", "a&b": "a&b", "a|b": "a|b", "a|b&c": "(a&c)|(b&c)", "a&b|c": "(a&b)|c", "a|(b&c)": "a|(b&c)", "(a|b)&(c|d)": "(a&c)|(a&d)|(b&c)|(b&d)", "a,b": "a&b", "a&a": "a",
		"a*2": "! counts", "[a|b]": "! matching groups", "a&": "! join features", "": "! join features", "(a": "! missing closing parenthesis", "a)": "! join features", "a b": "! join features", "a(b)": "! join features",
		"!a": "! join features",
	})
}

func TestSwitches(t *testing.T) {
	t.Parallel()
	reads(t, ParseSwitches, func(s Switches) string { return fmt.Sprint(s.Count, " ", s.Wait) }, map[string]string{
		"1": "1 UNLIMITED", "2@30": "2 30:00", "x": "! whole number", "1@2h": "! Slurm's time format",
	})
}
