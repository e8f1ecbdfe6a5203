package export

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/vc-batch/vc/internal/accounting"
	"github.com/vc-batch/vc/internal/accounting/store"
)

// august is the month of the tests.
var august = time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC)

// recordAt returns a record that ended at a time.
func recordAt(uid string, ended time.Time) accounting.Record {
	return accounting.Record{
		Key:       accounting.Key{Cluster: "east", JobUID: uid, Element: accounting.NoElement},
		Submitted: ended.Add(-2 * time.Hour), Ended: ended,
	}
}

// openStore opens a database with records.
func openStore(t *testing.T, records ...accounting.Record) accounting.Store {
	t.Helper()
	s, err := store.Open(t.Context(), "sqlite:"+t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if _, err := s.Add(t.Context(), records); err != nil {
		t.Fatal(err)
	}
	return s
}

// names returns the names of the files in a directory.
func names(t *testing.T, directory string) []string {
	t.Helper()
	entries, err := os.ReadDir(directory)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, entry := range entries {
		all = append(all, entry.Name())
	}
	return all
}

func TestAFileHasAllFieldsOfTheRecordsThatEndedInTheMonth(t *testing.T) {
	full := recordAt("full", august.AddDate(0, 0, 9))
	full.Attempt, full.Element, full.JobID, full.ExitCode, full.Pods = 2, 7, 4711, 3, 5
	full.Namespace, full.Name, full.User, full.Account, full.QOS, full.Queue = "team", "train", "zoë", "Öl", "high", "research"
	full.Outcome, full.Reason = accounting.Failed, "PodFailed"
	full.Eligible, full.Started = full.Submitted.Add(time.Minute), full.Submitted.Add(time.Hour)
	full.TimeLimit, full.CPUTime, full.PeakMemoryBytes = 3*time.Hour, 1500*time.Millisecond, 1<<40
	full.GPUTime, full.GPUMeasured = 2500*time.Millisecond, 4*time.Second
	full.NodeNames = []string{"n1", "n2"}
	full.Requested = accounting.Resources{accounting.CPU: 1500, "nvidia.com/gpu": 8}
	full.Allocated = accounting.Resources{accounting.CPU: 1500, "nvidia.com/gpu": 8, accounting.Nodes: 2}
	full.Document = []byte("objects")
	before, first := recordAt("before", august.Add(-time.Second)), recordAt("first", august)
	last, after := recordAt("last", august.AddDate(0, 1, 0).Add(-time.Second)), recordAt("after", august.AddDate(0, 1, 0))
	s, directory := openStore(t, full, before, first, last, after), filepath.Join(t.TempDir(), "new", "exports")

	result, err := Month(t.Context(), s, august.AddDate(0, 0, 12), directory)
	if diff := cmp.Diff(Result{Path: filepath.Join(directory, "records-2026-08.parquet"), Records: 3}, result); err != nil || diff != "" {
		t.Fatal(err, diff)
	}
	got, err := parquet.ReadFile[Row](result.Path)
	if err != nil {
		t.Fatal(err)
	}
	element, limit := int32(7), int64(3*3600)
	want := []Row{
		{Cluster: "east", JobUID: "first", Submitted: first.Submitted, Ended: first.Ended},
		{
			Cluster: "east", JobUID: "full", Attempt: 2, Element: &element, JobID: 4711, Namespace: "team", Name: "train",
			User: "zoë", Account: "Öl", QOS: "high", Queue: "research", Outcome: "Failed", Reason: "PodFailed", ExitCode: 3,
			Submitted: full.Submitted, Eligible: &full.Eligible, Started: &full.Started, Ended: full.Ended,
			TimeLimitSeconds: &limit, NodeNames: full.NodeNames, Pods: 5,
			Requested: map[string]int64{"cpu": 1500, "nvidia.com/gpu": 8}, Allocated: map[string]int64{"cpu": 1500, "nvidia.com/gpu": 8, "node": 2},
			CPUTimeSeconds: 1.5, PeakMemoryBytes: 1 << 40, GPUTimeSeconds: new(2.5), GPUMeasuredSeconds: new(4.0),
		},
		{Cluster: "east", JobUID: "last", Submitted: last.Submitted, Ended: last.Ended},
	}
	for i := range got { // the library returns empty lists and maps for null
		if len(got[i].NodeNames) == 0 {
			got[i].NodeNames, got[i].Requested, got[i].Allocated = nil, nil, nil
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestARepeatedExportKeepsTheFileAndOtherRecordsGetAnotherFile(t *testing.T) {
	s, directory := openStore(t, recordAt("a", august)), t.TempDir()
	for range 2 {
		if _, err := Month(t.Context(), s, august, directory); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"records-2026-08.parquet"}, names(t, directory)); diff != "" {
		t.Error(diff)
	}
	if _, err := s.Add(t.Context(), []accounting.Record{recordAt("b", august)}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		result, err := Month(t.Context(), s, august, directory)
		if err != nil || result.Records != 2 || filepath.Base(result.Path) != "records-2026-08-2.parquet" {
			t.Errorf("%+v, %v", result, err)
		}
	}
	if rows, err := parquet.ReadFile[Row](filepath.Join(directory, "records-2026-08.parquet")); err != nil || len(rows) != 1 {
		t.Errorf("the first file has %d records, %v", len(rows), err)
	}
}

func TestAMonthWithoutRecordsHasNoFile(t *testing.T) {
	s, directory := openStore(t, recordAt("a", august)), t.TempDir()
	result, err := Month(t.Context(), s, august.AddDate(0, 1, 0), directory)
	if err != nil || result != (Result{}) || len(names(t, directory)) > 0 {
		t.Errorf("%+v, %v, files %q", result, err, names(t, directory))
	}
}

func TestAFailedExportLeavesNoFile(t *testing.T) {
	s, directory := openStore(t, recordAt("a", august)), t.TempDir()
	if _, err := Month(t.Context(), brokenStore{s}, august, directory); err == nil || !strings.Contains(err.Error(), "export month 2026-08: the disk is broken") {
		t.Errorf("error %v", err)
	}
	if found := names(t, directory); len(found) > 0 {
		t.Errorf("files %q", found)
	}
	file := filepath.Join(directory, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Month(t.Context(), s, august, file); err == nil || !strings.Contains(err.Error(), "not a directory") {
		t.Errorf("error %v", err)
	}
}

// brokenStore returns a record and then an error.
type brokenStore struct{ accounting.Store }

func (brokenStore) Records(context.Context, accounting.Query) iter.Seq2[*accounting.Record, error] {
	return func(yield func(*accounting.Record, error) bool) {
		r := recordAt("a", august)
		if yield(&r, nil) {
			yield(nil, errors.New("the disk is broken"))
		}
	}
}
