package local

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDirIsCheckedBeforeItIsUsed(t *testing.T) {
	cases := map[string]struct {
		prepare func(t *testing.T, path string)
		want    string // part of the error; empty means no error
	}{
		"a directory that does not exist is fine": {prepare: func(*testing.T, string) {}},
		"an empty directory is fine":              {prepare: func(t *testing.T, path string) { mkdir(t, path) }},
		"our own directory is fine":               {prepare: func(t *testing.T, path string) { write(t, path, "version", stateVersion+"\n") }},
		"somebody's files are refused":            {prepare: func(t *testing.T, path string) { write(t, path, "thesis.tex", "") }, want: `contains files that do not belong to vc-local (for example "thesis.tex")`},
		"another version is refused by name": {
			prepare: func(t *testing.T, path string) { write(t, path, "version", "vc-local state 0, kubernetes 1.30") },
			want:    `has version "vc-local state 0, kubernetes 1.30", but this vc-local requires "` + stateVersion + `"`,
		},
		"a version file of another program is refused": {
			prepare: func(t *testing.T, path string) { write(t, path, "version", "13") },
			want:    `is not a vc-local version file (it contains "13")`,
		},
		"a file is refused": {
			prepare: func(t *testing.T, path string) { write(t, filepath.Dir(path), filepath.Base(path), "") },
			want:    "is not a directory",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "state")
			c.prepare(t, path)
			err := Dir(path).Check()
			wantError(t, err, c.want)
			if c.want == "" {
				if err := Dir(path).Create(); err != nil {
					t.Errorf("Create: %v", err)
				}
				if err := Dir(path).Create(); err != nil {
					t.Errorf("Create once more: %v", err)
				}
			}
		})
	}
}

func TestADirectoryOfAnotherUserIsRejected(t *testing.T) {
	t.Parallel()
	d := Dir(t.TempDir())
	if err := d.checkOwner(os.Geteuid()); err != nil {
		t.Errorf("one's own: %v", err)
	}
	if err := d.checkOwner(os.Geteuid() + 1); err == nil || !strings.Contains(err.Error(), "belongs to user") {
		t.Errorf("another user's: %v", err)
	}
	if err := Dir(d.pathInDir("absent")).checkOwner(os.Geteuid() + 1); err != nil {
		t.Errorf("one that does not exist yet: %v", err)
	}
	if os.Geteuid() != 0 {
		return // only root can give a directory away
	}
	if err := os.Chown(string(d), 65534, 65534); err != nil {
		t.Fatal(err)
	}
	if err := d.Create(); err == nil || !strings.Contains(err.Error(), "belongs to user 65534, but you are user 0") {
		t.Errorf("root takes an empty directory of another user: %v", err)
	}
}

func TestOnlyOurDirectoryIsRemoved(t *testing.T) {
	t.Run("somebody's directory stays whole, purge or not", func(t *testing.T) {
		path := t.TempDir()
		write(t, path, "thesis.tex", "years of work")
		stopped, err := StopCluster(t.Context(), Dir(path), true)
		if err != nil || stopped.Purged {
			t.Errorf("got %+v, %v", stopped, err)
		}
		if _, err := os.Stat(filepath.Join(path, "thesis.tex")); err != nil {
			t.Error(err)
		}
	})
	t.Run("ours of another version is kept by down and removed by purge", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "state")
		write(t, path, "version", "vc-local state 0, kubernetes 1.30")
		write(t, path, "etcd", "data")
		_, err := StopCluster(t.Context(), Dir(path), false)
		wantError(t, err, "has version")
		stopped, err := StopCluster(t.Context(), Dir(path), true)
		if err != nil || !stopped.Purged {
			t.Errorf("got %+v, %v", stopped, err)
		}
		if _, err := os.Stat(path); !os.IsNotExist(err) {
			t.Errorf("the directory is still there: %v", err)
		}
	})
}

func TestDefaultDirFollowsXDG(t *testing.T) {
	t.Setenv("HOME", "/home/mei")
	t.Setenv("XDG_STATE_HOME", "")
	if d, err := DefaultDir(); err != nil || d != "/home/mei/.local/state/vc-local" {
		t.Errorf("without XDG_STATE_HOME: %s, %v", d, err)
	}
	t.Setenv("XDG_STATE_HOME", "/state")
	if d, err := DefaultDir(); err != nil || d != "/state/vc-local" {
		t.Errorf("with XDG_STATE_HOME: %s, %v", d, err)
	}
}

func mkdir(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(path, 0o700); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, dir, name, content string) {
	t.Helper()
	mkdir(t, dir)
	if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// wantError checks that the error contains want. If want is empty, it checks that there is no error.
func wantError(t *testing.T, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Errorf("got error %q, want none", err)
	case want != "" && err == nil:
		t.Errorf("got no error, want %q", want)
	case want != "" && !strings.Contains(err.Error(), want):
		t.Errorf("got error %q, want %q in it", err, want)
	}
}

// Without --dir, commands use the cluster whose kubeconfig KUBECONFIG names.
func TestTheRunningClusterIsFoundByKUBECONFIG(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	standard, err := DefaultDir()
	if err != nil {
		t.Fatal(err)
	}
	ours, foreign := Dir(t.TempDir()), Dir(t.TempDir())
	if err := os.WriteFile(ours.versionFile(), []byte(stateVersion), 0o600); err != nil {
		t.Fatal(err)
	}
	for kubeconfig, want := range map[string]Dir{
		"":                         standard,
		ours.KubeconfigPath():      ours,
		foreign.KubeconfigPath():   standard,
		ours.pathInDir("admin.kc"): standard,
		ours.KubeconfigPath() + string(os.PathListSeparator) + foreign.KubeconfigPath(): standard,
	} {
		t.Setenv("KUBECONFIG", kubeconfig)
		if got, err := RunningDir(""); err != nil || got != want {
			t.Errorf("KUBECONFIG=%q: %s, %v; want %s", kubeconfig, got, err, want)
		}
		if got, err := RunningDir(string(foreign)); err != nil || got != foreign {
			t.Errorf("--dir: %s, %v; want %s", got, err, foreign)
		}
	}
}
