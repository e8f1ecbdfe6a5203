package local

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/vc-batch/vc/internal/slurm/profile"
)

func TestTheProfileSharesWhatPeopleHaveFilesIn(t *testing.T) {
	t.Parallel()
	root := fstest.MapFS{}
	for _, name := range []string{"home/mei/x", "usr/bin/sh", "etc/passwd", "data/x", ".hidden/x", "root/x", "tmp/x", "file"} {
		root[name] = &fstest.MapFile{}
	}
	text, err := profileForMachine(root)
	if err != nil {
		t.Fatal(err)
	}
	p, err := profile.ParseProfile([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, v := range p.Volumes {
		if v.HostPath == nil || v.HostPath.Path != v.MountPath {
			t.Errorf("%+v", v)
		}
		paths = append(paths, v.MountPath)
	}
	if diff := cmp.Diff("/data /home /root /tmp", strings.Join(paths, " ")); diff != "" {
		t.Error(diff)
	}
	if p.NodeSelector["vc-batch.dev/node-kind"] != "process" {
		t.Errorf("jobs would run on simulated nodes, too: %v", p.NodeSelector)
	}
	if _, err := profileForMachine(os.DirFS("/")); err != nil {
		t.Errorf("this machine: %v", err)
	}
}
