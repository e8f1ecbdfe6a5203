package podcommands_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vc-batch/vc/test/steptest"
)

func TestSbcastCopiesAFile(t *testing.T) {
	t.Parallel()
	p, code := steptest.Run(t, `#!/bin/bash
head -c 100000 /dev/urandom >data; chmod 751 data; touch -d 2001-02-03T04:05:06Z data
mkdir to
sbcast -v data to/copy && cmp data to/copy || exit 3
sbcast -p data to/ && cmp data to/data || exit 4
sbcast --from-stdin --stdin-mode=640 - to/piped <data && cmp data to/piped || exit 5
echo new >data
sbcast data to/copy; echo "exists $?"
sbcast -fC data to/copy && cat to/copy
SBCAST_FORCE=1 sbcast -j $SLURM_JOB_ID data to/data && cat to/data
srun -n1 true; sbcast -j 42.0 data to/step && cat to/step
`)
	if want := "exists 1\nnew\nnew\nnew\n"; code != 0 || p.Out.String() != want {
		t.Errorf("code %d %q\n%s", code, p.Out.String(), p.Err.String())
	}
	steptest.RequireParts(t, p.Err.String(), "sbcast: t-head-0: "+filepath.Join(p.Dir, "to/copy")+"\n", "sbcast: error: t-head-0: "+filepath.Join(p.Dir, "to/copy")+": file exists\nsbcast: hint: use --force to replace the existing file\n")
	for name, mode := range map[string]os.FileMode{"copy": 0o751, "piped": 0o640} {
		if info, err := os.Stat(filepath.Join(p.Dir, "to", name)); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v %v", name, info, err)
		}
	}
	if left, _ := os.ReadDir(filepath.Join(p.Dir, "to")); len(left) != 4 {
		t.Errorf("temporary files are left: %v", left)
	}
}

func TestSbcastKeepsTimesWhenAsked(t *testing.T) {
	t.Parallel()
	p, code := steptest.Run(t, "#!/bin/bash\ntouch -d 2001-02-03T04:05:06Z data; sbcast -p data kept && sbcast data fresh\n")
	for name, keeps := range map[string]bool{"kept": true, "fresh": false} {
		info, err := os.Stat(filepath.Join(p.Dir, name))
		if err != nil || info.ModTime().Equal(time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)) != keeps {
			t.Errorf("code %d, %s: %v %v\n%s", code, name, info, err, p.Err.String())
		}
	}
}

// The copy of each node's file has the name of the node. The source is removed unless --keep is set.
func TestSgatherFetchesAFile(t *testing.T) {
	t.Parallel()
	p, code := steptest.Run(t, `#!/bin/bash
echo one >part; chmod 600 part
sgather -k part all && cat all.t-head-0 && ls part
sgather part all; echo "exists $?"; ls part
sgather -fv part all; echo "replaced $?"; ls part
sgather part all; echo "missing $?"
`)
	if want := "one\npart\nexists 1\npart\nreplaced 0\nmissing 1\n"; code != 0 || p.Out.String() != want {
		t.Errorf("code %d %q\n%s", code, p.Out.String(), p.Err.String())
	}
	all := filepath.Join(p.Dir, "all.t-head-0")
	steptest.RequireParts(t, p.Err.String(), "sgather: error: t-head-0: "+all+": file exists\nsgather: hint: use --force to replace the existing file\n", "sgather: "+all+"\n",
		"sgather: error: t-head-0: "+filepath.Join(p.Dir, "part")+": No such file or directory")
	if info, err := os.Stat(all); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
}

// A directory is copied with its content, modes and links. The source is removed unless --keep is set.
func TestSgatherFetchesADirectory(t *testing.T) {
	t.Parallel()
	p, code := steptest.Run(t, `#!/bin/bash
mkdir -p tree/sub/locked && echo one >tree/sub/one && ln -s sub/one tree/link && ln -s /nowhere tree/broken && head -c 100000 /dev/zero >tree/zeros
chmod 0750 tree/sub; chmod 0640 tree/sub/one; echo two >tree/sub/locked/two; chmod 0555 tree/sub/locked; touch -d 2020-01-01 tree/sub/one tree/sub
sgather -r -k -p tree all; echo "copied $?"
diff -r --no-dereference tree all.t-head-0 && echo same
stat -c '%a' all.t-head-0/sub all.t-head-0/sub/one all.t-head-0/sub/locked | tr '\n' ' '; stat -c %y all.t-head-0/sub | cut -c1-10
sgather -r -k tree all; echo "exists $?"
echo changed >tree/sub/one; rm tree/link; chmod 0755 tree/sub/locked
sgather -rf tree all; echo "moved $?"; cat all.t-head-0/sub/one; ls -d tree all.t-head-0/link
sgather -r all.t-head-0/sub/one file; echo "a file $?"; cat file.t-head-0
mkfifo all.t-head-0/pipe; sgather -r all.t-head-0 other; echo "a pipe $?"; ls -Ad *t-head-0 .[!.]* 2>/dev/null | tr '\n' ' '
`)
	want := "copied 0\nsame\n750 640 555 2020-01-01\nexists 1\nmoved 0\nchanged\na file 0\nchanged\na pipe 1\nall.t-head-0 file.t-head-0 "
	if diff := cmp.Diff(want, p.Out.String()); diff != "" {
		t.Errorf("code %d (-want +got):\n%s%s", code, diff, p.Err.String())
	}
	steptest.RequireParts(t, p.Err.String(), "all.t-head-0: file exists\nsgather: hint: use --force to replace the existing file\n", "pipe: not a regular file")
}

func TestCopiesThatCannotBe(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		"sbcast data":            "sbcast: error: Need two file names, have 1 names",
		"sbcast nosuch to":       "sbcast: error: Can't open `nosuch`: No such file or directory",
		"sbcast /tmp to":         "sbcast: error: Can't copy `/tmp`: not a regular file",
		"sbcast data nosuch/to":  "nosuch/to: No such file or directory",
		"sbcast data /tmp":       "/tmp: is a directory",
		"sbcast -j 43 data to":   "sbcast: error: job 43 is not the current job (42)",
		"sbcast -j 42.7 data to": "sbcast: error: Invalid job id specified: job 42 has no step 7",
		"sbcast --color data to": "sbcast: unrecognized option '--color'",
		"sgather -r . to":        "sgather: error: Can't copy `",
		"sgather -r '' to":       "sgather: error: A file name is empty",
		"sgather -r / to":        "into itself",
		"sgather data":           "sgather: error: Need two file names, have 1 names",
		"sgather /tmp to":        "not a regular file",
	} {
		p, code := steptest.Run(t, "#!/bin/bash\n"+command+"\n", func(p *steptest.Pod) { p.Write("data", "x") })
		if code != 1 || !strings.Contains(p.Err.String(), want) {
			t.Errorf("%q: code %d\n%s", command, code, p.Err.String())
		}
	}
}
