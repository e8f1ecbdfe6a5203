package shim

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMessagesCarryFiles(t *testing.T) {
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	uid := int64(7)
	sent := Request{Op: OpExec, ID: 3, Process: &Process{Args: []string{"a", string(make([]byte, 1<<18))}, UID: &uid}}
	go func() {
		_ = SendMessage(pair[0], sent, int(write.Fd()))
		_ = SendMessage(pair[0], Event{Kind: EventExited, Code: 5})
		_ = syscall.Close(pair[0])
	}()
	var request Request
	files, err := ReceiveMessage(pair[1], &request)
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v", files, err)
	}
	if diff := cmp.Diff(sent, request); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	_, _ = syscall.Write(files[0], []byte("x"))
	buffer := make([]byte, 1)
	if _, err := read.Read(buffer); err != nil || buffer[0] != 'x' {
		t.Errorf("the file that came is another one: %q, %v", buffer, err)
	}
	var event Event
	if files, err := ReceiveMessage(pair[1], &event); err != nil || len(files) != 0 || event.Code != 5 {
		t.Errorf("%+v, %v, %v", event, files, err)
	}
	if _, err := ReceiveMessage(pair[1], &event); err != io.EOF {
		t.Errorf("at the end: %v", err)
	}
}

func TestLookPath(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, mode os.FileMode) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	write("a/tool", 0o644)
	write("b/tool", 0o755)
	write("a/plain", 0o644)
	path := filepath.Join(dir, "a") + ":" + filepath.Join(dir, "b")
	cases := map[string]struct {
		name, want string
		err        error
	}{
		"the first that can run":           {"tool", filepath.Join(dir, "b/tool"), nil},
		"one that cannot run":              {"plain", "", syscall.EACCES},
		"one that is not there":            {"none", "", fs.ErrNotExist},
		"a path relative to the directory": {"./b/tool", filepath.Join(dir, "b/tool"), nil},
		"a path that is not there":         {"/none/at/all", "", fs.ErrNotExist},
		"a directory":                      {"./a", "", syscall.EISDIR},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := findProgram(c.name, path, dir)
			if !errors.Is(err, c.err) || (err == nil && got != c.want) {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

func TestPasswdLookup(t *testing.T) {
	text := "root:x:0:0:root:/root:/bin/bash\nbroken\nuser:x:1000:100::/home/user:/bin/sh\n"
	if home, ok := passwdLookup(text, 1000, 5); !ok || home != "/home/user" {
		t.Errorf("got %q, %v", home, ok)
	}
	if _, ok := passwdLookup(text, 1, 5); ok {
		t.Error("a user that is not there")
	}
}
