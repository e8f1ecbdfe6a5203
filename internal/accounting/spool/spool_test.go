package spool

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vc-batch/vc/internal/accounting"
)

// newRecord returns the record of an attempt of a job.
func newRecord(attempt int32) accounting.Record {
	return accounting.Record{
		Key:  accounting.Key{Cluster: "prod", JobUID: "1234", Attempt: attempt, Element: accounting.NoElement},
		User: "mei", Ended: time.Unix(1_700_000_000, 0).UTC(), Requested: accounting.Resources{accounting.CPU: 500}, Document: []byte{1, 2},
	}
}

// batchOf returns a batch with a record.
func batchOf(r accounting.Record) accounting.Batch {
	return accounting.Batch{Records: []accounting.Record{r}}
}

func open(t *testing.T, dir string, maxBytes int64) *Spool {
	t.Helper()
	s, err := Open(dir, maxBytes)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// readAll returns the attempts of all batches, oldest first, and removes the batches.
func readAll(t *testing.T, s *Spool) []int32 {
	t.Helper()
	var attempts []int32
	for {
		batch, ok, err := s.Oldest()
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return attempts
		}
		for i := range batch.Records {
			attempts = append(attempts, batch.Records[i].Attempt)
		}
		if err := s.Remove(batch); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRecordsSurviveARestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir, 1<<20)
	for attempt := range int32(3) {
		if err := s.Append(batchOf(newRecord(attempt))); err != nil {
			t.Fatal(err)
		}
	}
	s.Close()
	if err := s.Append(batchOf(newRecord(9))); !errors.Is(err, ErrClosed) {
		t.Errorf("Append after Close: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "00000000000000000007.json.tmp"), []byte("[{"), 0o600); err != nil {
		t.Fatal(err) // a batch that a crash interrupted
	}
	s = open(t, dir, 1<<20)
	defer s.Close()
	batch, _, err := s.Oldest()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]accounting.Record{newRecord(0)}, batch.Records); diff != "" {
		t.Errorf("-written +read:\n%s", diff)
	}
	if err := s.Append(batchOf(newRecord(3))); err != nil {
		t.Fatal(err)
	}
	if got := readAll(t, s); !cmp.Equal(got, []int32{0, 1, 2, 3}) {
		t.Errorf("attempts %v", got)
	}
	if stats := s.Stats(); stats.Bytes != 0 || stats.Batches != 0 || !stats.Oldest.IsZero() {
		t.Errorf("the empty spool has %+v", stats)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("files %v are left, error %v", left, err)
	}
}

func TestAFullSpoolRejectsRecordsUntilABatchIsRemoved(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir(), 600)
	defer s.Close()
	accepted := 0
	var err error
	for err == nil {
		if err = s.Append(batchOf(newRecord(int32(accepted)))); err == nil {
			accepted++
		}
	}
	if !errors.Is(err, ErrFull) || accepted == 0 || s.Stats().Bytes > 600 {
		t.Fatalf("%d records were accepted, then %v; %+v", accepted, err, s.Stats())
	}
	batch, _, err := s.Oldest()
	if err := errors.Join(err, s.Remove(batch)); err != nil {
		t.Fatal(err)
	}
	if err := s.Append(batchOf(newRecord(77))); err != nil {
		t.Errorf("after a batch was removed: %v", err)
	}
}

func TestConcurrentCallsLoseNoRecord(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir(), 1<<20)
	defer s.Close()
	changed := s.Changed()
	var calls sync.WaitGroup
	for attempt := range int32(100) {
		calls.Go(func() {
			if err := s.Append(batchOf(newRecord(attempt))); err != nil {
				t.Error(err)
			}
		})
	}
	calls.Wait()
	select {
	case <-changed:
	default:
		t.Error("the channel of Changed was not closed")
	}
	seen := map[int32]bool{}
	for _, attempt := range readAll(t, s) {
		if seen[attempt] {
			t.Errorf("attempt %d is in the spool twice", attempt)
		}
		seen[attempt] = true
	}
	if len(seen) != 100 {
		t.Errorf("%d of 100 attempts are in the spool", len(seen))
	}
}

func TestADamagedBatchIsSetAside(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const damaged = "00000000000000000001.json"
	if err := os.WriteFile(filepath.Join(dir, damaged), []byte("[{"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, dir, 1<<20)
	defer s.Close()
	if err := s.Append(batchOf(newRecord(5))); err != nil {
		t.Fatal(err)
	}
	_, _, err := s.Oldest()
	var problem *DamagedError
	if !errors.As(err, &problem) {
		t.Fatalf("error %v", err)
	}
	path, err := s.SetAside(problem.Batch)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
	if got := readAll(t, s); !cmp.Equal(got, []int32{5}) {
		t.Errorf("attempts %v", got)
	}
}

func TestAReaderWaitsForTheBatchesInTheSpool(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir(), 1<<20)
	defer s.Close()
	s.WaitUntilStored(t.Context()) // an empty spool
	if err := s.Append(batchOf(newRecord(1))); err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithCancel(t.Context())
	cancel()
	s.WaitUntilStored(short)
	waited := make(chan struct{})
	go func() {
		defer close(waited)
		s.WaitUntilStored(t.Context())
	}()
	select {
	case <-waited:
		t.Error("the reader did not wait for the batch")
	case <-time.After(20 * time.Millisecond):
	}
	readAll(t, s)
	select {
	case <-waited:
	case <-time.After(time.Minute):
		t.Error("the reader waits although the batch was stored")
	}
}

func TestABatchHasRecordsAndChangesOfNodes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	// Earlier versions wrote only records.
	text, err := json.Marshal([]accounting.Record{newRecord(1)})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "00000000000000000001.json"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, dir, 1<<20)
	defer s.Close()
	change := accounting.NodeChange{Cluster: "prod", Node: "n1", Time: newRecord(0).Ended, State: accounting.NodeDown, Capacity: accounting.Resources{accounting.CPU: 8000}}
	want := []accounting.Batch{
		batchOf(newRecord(1)),
		{Records: []accounting.Record{newRecord(2)}, NodeChanges: []accounting.NodeChange{change}},
		{NodeChanges: []accounting.NodeChange{change}},
	}
	for _, batch := range want[1:] {
		if err := s.Append(batch); err != nil {
			t.Fatal(err)
		}
	}
	for i := range want {
		batch, ok, err := s.Oldest()
		if err != nil || !ok {
			t.Fatalf("batch %d: %v, %v", i, ok, err)
		}
		if diff := cmp.Diff(want[i], batch.Batch); diff != "" {
			t.Errorf("batch %d (-want +got):\n%s", i, diff)
		}
		if err := s.Remove(batch); err != nil {
			t.Fatal(err)
		}
	}
}
