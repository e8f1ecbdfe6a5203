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
	cmd := NewCommand()
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
	damaged := filepath.Join(directory, "damaged.zst")
	if err := os.WriteFile(damaged, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	for arguments, want := range map[string]struct{ says, hint string }{
		"backup " + file:               {"file exists", "choose another file, or remove this one"},
		"backup /nowhere/file":         {"no such file", "choose a file in an existing directory"},
		"restore " + file:              {"the database is not empty: it has records of 2026-11", "restore into another directory, or into a new PostgreSQL database"},
		"restore " + file + ".missing": {"no such file", "specify a file that vcd accounting backup has written"},
		"restore " + damaged + " --accounting-store sqlite:" + directory + "/other": {"it is not a copy of an accounting database", "restore another backup, or make this one again with vcd accounting backup"},
		"backup --accounting-store sqlite:" + directory + "/missing":                {"/missing does not exist", "specify the directory that vcd accounting uses"},
		"backup a b":                          {`unexpected argument "b"`, "see vcd accounting backup --help"},
		"backup --accounting-store mysql://x": {`"mysql://x" has an unknown form`, "use sqlite:DIRECTORY or postgres://USER@HOST:PORT/DATABASE"},
		"backup --accounting-store postgres://vc@127.0.0.1:1/vc": {"the database is not available", "check that the database is running, and that this user may connect and write to it"},
		"export --output " + directory:                           {"--month is required", "use the form YYYY-MM, for example 2026-08"},
		"export --month 2026-13 --output " + directory:           {`--month "2026-13" is not a month`, "use the form YYYY-MM, for example 2026-08"},
		"export --month 2026-11":                                 {"--output is required", "specify the directory of the file"},
		"export --month 2026-10 --output " + directory:           {"month 2026-10 has no records", "the database has records from 2026-11 to 2026-11"},
		"export 2026-10":                                         {`unexpected argument "2026-10"`, "see vcd accounting export --help"},
	} {
		_, err := runVcd(t, append([]string{"accounting"}, strings.Fields(arguments)...)...)
		if err == nil || !strings.Contains(err.Error(), want.says) {
			t.Errorf("%s: error %v, want %q", arguments, err, want.says)
		}
		if hint := errorHint(err); hint != want.hint {
			t.Errorf("%s: hint %q, want %q", arguments, hint, want.hint)
		}
	}
	output := filepath.Join(directory, "export")
	if printed, err := runVcd(t, "accounting", "export", "--month", "2026-11", "--output", output); err != nil || printed != filepath.Join(output, "records-2026-11.parquet")+"\n" {
		t.Errorf("export prints %q, %v", printed, err)
	}
	if _, err := os.Stat(filepath.Join(output, "records-2026-11.parquet")); err != nil {
		t.Error(err)
	}
	t.Setenv(storeVariable, from)
	if _, err := runVcd(t, "accounting", "restore", os.DevNull); err == nil || !strings.Contains(err.Error(), "another process uses it") {
		t.Errorf("a database in use is restored: %v", err)
	}
}
