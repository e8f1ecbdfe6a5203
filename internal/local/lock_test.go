package local

import (
	"errors"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestFind(t *testing.T) {
	record := Record{PID: os.Getpid(), Started: time.Unix(1000, 0).UTC(), Ready: true, Server: "https://127.0.0.1:1"}

	t.Run("a record of a killed process is no running cluster, even when its pid lives", func(t *testing.T) {
		d := newDir(t)
		if err := d.writeRecord(record); err != nil {
			t.Fatal(err)
		}
		if _, running, err := FindRecord(d); running || err != nil {
			t.Errorf("running %v, %v", running, err)
		}
		status, err := ReadClusterStatus(t.Context(), d)
		if err != nil || status.State != stateStopped || status.Note == "" {
			t.Errorf("status %+v, %v: want stopped with a note", status, err)
		}
		stopped, err := StopCluster(t.Context(), d, false)
		if diff := cmp.Diff(Stopped{}, stopped); diff != "" || err != nil {
			t.Errorf("down: %s%v", diff, err)
		}
		if status, _ := ReadClusterStatus(t.Context(), d); status.Note != "" {
			t.Errorf("down left the record: %s", status.Note)
		}
	})
	t.Run("who holds the lock is found with its record", func(t *testing.T) {
		d := newDir(t)
		held, err := takeLock(d)
		if err != nil {
			t.Fatal(err)
		}
		defer held.releaseLock()
		if found, running, err := FindRecord(d); !running || err != nil || found.PID != 0 {
			t.Errorf("before the record: %+v, %v, %v", found, running, err)
		}
		if err := d.writeRecord(record); err != nil {
			t.Fatal(err)
		}
		found, running, err := FindRecord(d)
		if diff := cmp.Diff(record, found); diff != "" || !running || err != nil {
			t.Errorf("running %v, %v (-want +got)\n%s", running, err, diff)
		}
		if _, err := takeLock(d); !errors.Is(err, errLocked) {
			t.Errorf("a second lock: %v", err)
		}
	})
	t.Run("the lock goes with its holder", func(t *testing.T) {
		d := newDir(t)
		held, err := takeLock(d)
		if err != nil {
			t.Fatal(err)
		}
		held.releaseLock()
		if _, running, err := FindRecord(d); running || err != nil {
			t.Errorf("running %v, %v", running, err)
		}
	})
	t.Run("where nothing ever ran nothing runs", func(t *testing.T) {
		status, err := ReadClusterStatus(t.Context(), Dir(t.TempDir()+"/none"))
		if err != nil || status.State != stateAbsent {
			t.Errorf("%+v, %v", status, err)
		}
	})
}

func TestSettingsOfTheLastRun(t *testing.T) {
	kept := Settings{Port: 4711, Components: ComponentsAPI, SimulatedStart: time.Second, Complete: true}
	cases := map[string]struct {
		change func(*Settings)
		again  bool
	}{
		"a run that came up is gone on with":      {func(*Settings) {}, true},
		"a run that never came up is forgotten":   {func(s *Settings) { s.Complete = false }, false},
		"an ephemeral one that was killed too":    {func(s *Settings) { s.Ephemeral = true }, false},
		"an ephemeral one that never came up too": {func(s *Settings) { s.Ephemeral, s.Complete = true, false }, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			d := newDir(t)
			saved := kept
			saved.Dir = d
			c.change(&saved)
			if err := saved.saveSettings(); err != nil {
				t.Fatal(err)
			}
			want := Settings{Dir: d, Components: ComponentsAll}
			if c.again {
				want = saved
			}
			got, again, err := LoadSettings(d)
			if diff := cmp.Diff(want, got); diff != "" || again != c.again || err != nil {
				t.Errorf("again %v, %v (-want +got)\n%s", again, err, diff)
			}
			if refused := CheckEphemeral(d) != nil; refused != c.again {
				t.Errorf("--ephemeral refused: %v, want %v", refused, c.again)
			}
		})
	}
	t.Run("a damaged file is an error with a way out", func(t *testing.T) {
		d := newDir(t)
		write(t, string(d), "settings.json", "{")
		_, _, err := LoadSettings(d)
		wantError(t, err, "settings.json is damaged")
	})
}

func TestForeignKubeconfigIsNotChanged(t *testing.T) {
	foreign := "apiVersion: v1\nkind: Config\nclusters: [{name: work, cluster: {server: https://work}}]\n"
	ours := "apiVersion: v1\nkind: Config\nclusters: [{name: vc-local, cluster: {server: https://x}}]\nusers: [{name: vc-local-admin, user: {}}]\n"
	cases := map[string]struct{ content, want string }{
		"one of another cluster is refused": {foreign, "vc-local did not create"},
		"a file of another kind is refused": {"dear diary", "is not a kubeconfig that vc-local created"},
		"ours is written anew":              {ours, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, "config", c.content)
			wantError(t, CheckKubeconfig(dir+"/config"), c.want)
		})
	}
	if err := CheckKubeconfig(t.TempDir() + "/none"); err != nil {
		t.Errorf("a file that does not exist: %v", err)
	}
}

func newDir(t *testing.T) Dir {
	t.Helper()
	d := Dir(t.TempDir() + "/state")
	if err := d.Create(); err != nil {
		t.Fatal(err)
	}
	return d
}
