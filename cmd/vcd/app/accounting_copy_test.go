package app

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vc-batch/vc/internal/accounting"
	"github.com/vc-batch/vc/internal/accounting/store"
)

// runVcd runs vcd with arguments, and returns its output.
func runVcd(t *testing.T, arguments ...string) (string, error) {
	t.Helper()
	cmd := newCommand()
	var out bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	cmd.SetArgs(arguments)
	err := cmd.ExecuteContext(t.Context())
	return out.String(), err
}

// TestABackupIsMadeWhileJobsAreRecordedAndRestored copies a database that is open, and restores the copy twice.
func TestABackupIsMadeWhileJobsAreRecordedAndRestored(t *testing.T) {
	directory := t.TempDir()
	from, to, file := "sqlite:"+filepath.Join(directory, "from"), "sqlite:"+filepath.Join(directory, "to"), filepath.Join(directory, "copy.zst")
	recording, err := store.Open(t.Context(), from)
	if err != nil {
		t.Fatal(err)
	}
	defer recording.Close()
	at := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	if _, err := recording.Add(t.Context(), []accounting.Record{{
		Key:  accounting.Key{Cluster: "prod", JobUID: "a", Element: accounting.NoElement},
		User: "mei", Submitted: at, Eligible: at, Started: at, Ended: at,
	}}); err != nil {
		t.Fatal(err)
	}
	if _, err := runVcd(t, "accounting", "backup", "--accounting-store", from, file); err != nil {
		t.Fatal(err)
	}
	t.Setenv(storeVariable, to)
	if _, err := runVcd(t, "accounting", "restore", file); err != nil {
		t.Fatal(err)
	}
	restored, err := store.OpenForReading(t.Context(), to)
	if err != nil {
		t.Fatal(err)
	}
	defer restored.Close()
	var users []string
	for record, err := range restored.Records(t.Context(), accounting.Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		users = append(users, record.User)
	}
	if diff := cmp.Diff([]string{"mei"}, users); diff != "" {
		t.Errorf("users (-want +got):\n%s", diff)
	}
	if _, err := restored.Add(t.Context(), []accounting.Record{{Key: accounting.Key{JobUID: "b"}, Submitted: at, Ended: at}}); err == nil {
		t.Error("a store for reading stores records")
	}
	for arguments, want := range map[string]string{
		"backup " + file:               "file exists",
		"restore " + file:              "the database is not empty: it has records of 1 months, first 2026-11",
		"restore " + file + ".missing": "no such file",
		"backup --accounting-store sqlite:" + directory + "/missing": "does not exist: specify the directory that vcd accounting uses",
		"backup a b":                          `unexpected argument "b"`,
		"backup --accounting-store mysql://x": "use sqlite:DIRECTORY or postgres://",
	} {
		if _, err := runVcd(t, append([]string{"accounting"}, strings.Fields(arguments)...)...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", arguments, err, want)
		}
	}
	t.Setenv(storeVariable, from)
	if _, err := runVcd(t, "accounting", "restore", os.DevNull); err == nil || !strings.Contains(err.Error(), "another process uses it") {
		t.Errorf("a database in use is restored: %v", err)
	}
}
