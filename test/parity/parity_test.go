package parity

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// only is a pattern for the names of the scripts to run.
var only = flag.String("scripts", "*", "run only the scripts whose names match this pattern")

// scriptPatience is how long one script may run.
const scriptPatience = 100 * time.Second

// Slurm runs one script at a time, because some fields of a job depend on the processors that other jobs use at that
// moment. On vc they do not, and scripts spend most of their time waiting.
const (
	slurmAtOnce = 1
	vcAtOnce    = 3
)

func TestVCPrintsWhatSlurmPrints(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a real Slurm and a real cluster (-short)")
	}
	slurmCluster := startSlurm(t)
	ours := startVC(t)
	scripts, err := filepath.Glob(filepath.Join("testdata", "scripts", *only+".sh"))
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts match %s: %v", *only, err)
	}
	var slurm, vc map[string]fields
	var wait sync.WaitGroup
	wait.Go(func() { slurm = runScripts(slurmCluster.stage, slurmAtOnce, scripts, slurmCluster.accounting) })
	wait.Go(func() { vc = runScripts(ours, vcAtOnce, scripts, slurmCluster.accounting) })
	wait.Wait()
	known := readDifferences(t)
	for _, script := range slices.Sorted(maps.Keys(slurm)) {
		compare(t, script, slurm[script], vc[script], known)
	}
	for _, d := range known {
		if _, ran := slurm[d.script]; ran && !d.used {
			t.Logf("no such difference this time; if it is gone for good, remove the row: %s", d)
		}
	}
}

// needsAccounting marks scripts that call sacct.
const needsAccounting = "# needs: accounting"

// runScripts runs the scripts on one side, atOnce at a time, and returns the fields of each.
func runScripts(s *stage, atOnce int, scripts []string, accounting bool) map[string]fields {
	all := map[string]fields{}
	var mu sync.Mutex
	var wait sync.WaitGroup
	room := make(chan struct{}, atOnce)
	for _, script := range scripts {
		text, err := os.ReadFile(script)
		if err != nil {
			s.t.Error(err)
			continue
		}
		name := strings.TrimSuffix(filepath.Base(script), ".sh")
		if strings.Contains(string(text), needsAccounting) && !accounting {
			s.t.Logf("%s: skipped: slurmdbd or MariaDB is not installed", name)
			continue
		}
		wait.Go(func() {
			room <- struct{}{}
			defer func() { <-room }()
			found := s.script(name, string(text))
			mu.Lock()
			defer mu.Unlock()
			all[name] = found
		})
	}
	wait.Wait()
	return all
}

// prelude begins every script.
const prelude = `
section() { printf '\n== %s %s\n' "$1" "$2"; }
# job NAME NUMBER: what is printed as NAME on both sides
job() { printf '\n@ %s %s\n' "$1" "$2"; }
# try COMMAND...: its output, its errors without hints, notes and the usage, and its exit code
try() {
	"$@" >try.out 2>try.err; rc=$?
	cat try.out; grep -v ': hint: \|: note: \|^Try "\|^Usage: ' try.err | sed 's/^/! /'
	echo "rc $rc"
}
# await COMMAND: until it succeeds
await() { for i in $(seq 300); do eval "$1" && return; sleep 0.2; done; echo "never: $1"; }
# settled: until no job uses a node, so that the next job finds the same processors on both sides and in every run
settled() { await "test \$(sinfo -h -N -t idle -o %N | sort -u | wc -l) = 4"; }
# ended JOB: until the job has ended
ended() { await "scontrol show job $1 | grep -q 'JobState=\(COMPLETED\|FAILED\|CANCELLED\|OUT_OF_MEMORY\|TIMEOUT\)'"; }
`

// script runs one script in a directory of its own.
func (s *stage) script(name, text string) fields {
	dir := filepath.Join(s.dir, "work", name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		s.t.Error(err)
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), scriptPatience)
	defer cancel()
	r := s.run(ctx, dir, "bash", "-c", prelude+text)
	if r.code != 0 {
		s.t.Errorf("%s: exit %d\n%s%s\n%s", name, r.code, r.stdout, r.stderr, s.logs())
	}
	return parse(plain(r.stdout, dir, hostname(s.t)))
}

var (
	moment   = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d`)
	declared = regexp.MustCompile(`(?m)^@ (\S+) (\S+)\n`)
)

// plain replaces values that differ in every run: directories, hosts, times, and the job numbers that the script
// declared. Times are replaced first, because a job number can equal the year.
func plain(text, dir, host string) string {
	text = moment.ReplaceAllString(text, "TIME")
	for _, m := range declared.FindAllStringSubmatch(text, -1) {
		text = regexp.MustCompile(`\b`+regexp.QuoteMeta(m[2])+`(\b|_)`).ReplaceAllString(text, m[1]+"$1")
	}
	text = declared.ReplaceAllString(text, "")
	text = strings.ReplaceAll(text, dir, "DIR")
	return regexp.MustCompile(`\b`+regexp.QuoteMeta(host)+`\b`).ReplaceAllString(text, "HOST")
}

// fields maps a section and name to a value.
type fields map[string]string

// parse reads the sections of an output: numbered lines; variables, written NAME=value and separated by blanks or line
// ends; and tables with a title line and | between columns, whose first column names the row.
func parse(text string) fields {
	found := fields{}
	kind, section := "", ""
	var titles []string
	count := 0
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if head, is := strings.CutPrefix(line, "== "); is {
			kind, section, _ = strings.Cut(head, " ")
			titles, count = nil, 0
			continue
		}
		if strings.TrimSpace(line) == "" {
			continue
		}
		switch kind {
		case "vars":
			for word := range strings.FieldsSeq(line) {
				if name, value, ok := strings.Cut(word, "="); ok {
					found[section+"/"+name] = value
				}
			}
		case "table":
			cells := strings.Split(line, "|")
			if titles == nil {
				titles = cells
				found[section+"/titles"] = line
				continue
			}
			for i := range min(len(cells), len(titles)) {
				found[section+"/"+cells[0]+"/"+titles[i]] = cells[i]
			}
		default:
			count++
			found[fmt.Sprintf("%s/%d", section, count)] = line
		}
	}
	return found
}

// missing is the value of a field that one side does not print.
const missing = "(none)"

// compare reports the differences of one script that the table of differences does not explain.
func compare(t *testing.T, script string, slurm, vc fields, known []*difference) {
	t.Helper()
	names := slices.Sorted(maps.Keys(slurm))
	for name := range vc {
		if _, both := slurm[name]; !both {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	if len(slurm) == 0 {
		t.Errorf("%s: Slurm printed nothing", script)
	}
	for _, name := range names {
		one, other := valueOf(slurm, name), valueOf(vc, name)
		if one == other {
			continue
		}
		found := difference{script: script, field: name, slurm: one, vc: other}
		at := slices.IndexFunc(known, func(d *difference) bool { return d.explains(found) })
		if at < 0 {
			t.Errorf("a difference without a reason: %s", &found)
			continue
		}
		known[at].used = true
	}
}

func valueOf(all fields, name string) string {
	if value, ok := all[name]; ok {
		return value
	}
	return missing
}

// difference is a row of the table: the values of a field in Slurm and vc, and the reason.
type difference struct {
	script, field, slurm, vc, reason string
	used                             bool
}

func (d *difference) String() string {
	return strings.Join([]string{d.script, d.field, d.slurm, d.vc, d.reason}, " ¦ ")
}

// explains reports whether a row matches a difference. A * in a row matches any text.
func (d *difference) explains(found difference) bool {
	return like(d.script, found.script) && like(d.field, found.field) && like(d.slurm, found.slurm) && like(d.vc, found.vc)
}

func like(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return regexp.MustCompile(`^` + strings.Join(parts, `.*`) + `$`).MatchString(text)
}

func readDifferences(t *testing.T) []*difference {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "differences.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var all []*difference
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		columns := strings.Split(line, " ¦ ")
		if len(columns) != 5 || columns[4] == "" {
			t.Fatalf("testdata/differences.txt: %q has not five columns, the last of them a reason", line)
		}
		all = append(all, &difference{script: columns[0], field: columns[1], slurm: columns[2], vc: columns[3], reason: columns[4]})
	}
	return all
}
