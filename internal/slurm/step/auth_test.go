package step

import (
	"crypto/tls"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vc-batch/vc/internal/slurm/launchconfig"
)

func identityOf(t *testing.T, digits string) *tls.Config {
	t.Helper()
	config, err := newIdentity(strings.Repeat(digits, keyBytes))
	if err != nil {
		t.Fatal(err)
	}
	return config
}

func TestOnlyWhoKnowsTheJobsKeyIsAnswered(t *testing.T) {
	t.Parallel()
	closed := make(chan struct{})
	close(closed)
	stranger := identityOf(t, "bb")
	anonymous := &tls.Config{InsecureSkipVerify: true}
	cases := map[string]struct {
		client *tls.Config
		ok     bool
	}{
		"a pod of the job":                        {identityOf(t, "aa"), true},
		"a pod of another job":                    {stranger, false},
		"somebody without any key":                {anonymous, false},
		"a pod of another job that takes anybody": {&tls.Config{Certificates: stranger.Certificates, InsecureSkipVerify: true}, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, err := tls.Listen("tcp", "127.0.0.1:0", identityOf(t, "aa"))
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			a := &agent{ready: closed, head: func(w *wire, _ *request) error { return w.sendFrame(answerFrame, 0, []byte("{}")) }}
			go a.serveConnections(l)
			connection, err := tls.Dial("tcp", l.Addr().String(), c.client)
			if err == nil {
				w := newWire(connection)
				if err = w.sendJSON(askFrame, 0, request{Job: true}); err == nil {
					err = w.receiveAnswer(nil, nil)
				}
				_ = w.Close()
			}
			if (err == nil) != c.ok {
				t.Errorf("answered: %v (%v)", err == nil, err)
			}
		})
	}
}

func TestAPodThatKnowsTheKeyTrustsNobodyElse(t *testing.T) {
	t.Parallel()
	l, err := tls.Listen("tcp", "127.0.0.1:0", identityOf(t, "bb"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go (&agent{}).serveConnections(l)
	if _, err := tls.Dial("tcp", l.Addr().String(), identityOf(t, "aa")); err == nil || !strings.Contains(err.Error(), "does not have this job's key") {
		t.Errorf("%v", err)
	}
}

func TestAKeyThatIsNone(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"", "aa", strings.Repeat("zz", keyBytes), strings.Repeat("aa", keyBytes+1)} {
		if _, err := newIdentity(key); err == nil {
			t.Errorf("%q is taken", key)
		}
	}
}

func TestMessagesThatAreTooLongAreRefused(t *testing.T) {
	t.Parallel()
	here, there := net.Pipe()
	defer here.Close()
	go func() {
		_, _ = there.Write([]byte{byte(askFrame), 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff})
		_, _ = io.Copy(io.Discard, there)
	}()
	if _, err := newWire(here).receiveFrame(); err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("%v", err)
	}
	if err := newWire(here).sendFrame(stdinFrame, 0, make([]byte, maxFrame+1)); err == nil {
		t.Error("it is sent")
	}
}

func headOf(nodes, cpus int, change ...func(*launchconfig.Spec)) *head {
	spec := &launchconfig.Spec{Nodes: nodes, CPUs: cpus}
	for _, f := range change {
		f(spec)
	}
	hosts := make([]string, nodes)
	for i := range hosts {
		hosts[i] = "n" + string(rune('0'+i))
	}
	return newHead(spec, &launchconfig.Pod{JobID: "42"}, hosts)
}

func TestStepsGetNodes(t *testing.T) {
	t.Parallel()
	eight := func(s *launchconfig.Spec) { s.Tasks = 8 }
	cases := map[string]struct {
		head  *head
		asked beginRequest
		used  []int
		nodes []int // nil if the step has to wait
		count []int
		err   string
	}{
		"all tasks of the job on all nodes":   {headOf(4, 4, eight), beginRequest{}, nil, []int{0, 1, 2, 3}, []int{2, 2, 2, 2}, ""},
		"two nodes have their part of them":   {headOf(4, 4, eight), beginRequest{Nodes: 2}, nil, []int{0, 1}, []int{2, 2}, ""},
		"one task wants one node":             {headOf(4, 4, eight), beginRequest{Tasks: 1}, nil, []int{0}, []int{1}, ""},
		"one task a node without anything":    {headOf(3, 1), beginRequest{}, nil, []int{0, 1, 2}, []int{1, 1, 1}, ""},
		"tasks a node":                        {headOf(4, 4), beginRequest{PerNode: 2}, nil, []int{0, 1, 2, 3}, []int{2, 2, 2, 2}, ""},
		"as few nodes as tasks a node say":    {headOf(4, 4), beginRequest{Tasks: 3, PerNode: 2}, nil, []int{0, 1}, []int{2, 1}, ""},
		"those that are named":                {headOf(4, 4), beginRequest{Only: []string{"n3", "n1"}}, nil, []int{1, 3}, []int{1, 1}, ""},
		"none of those":                       {headOf(3, 4), beginRequest{Not: []string{"n0"}}, nil, []int{1, 2}, []int{1, 1}, ""},
		"from the third on":                   {headOf(4, 4), beginRequest{Relative: 2}, nil, []int{2, 3}, []int{1, 1}, ""},
		"those that are free":                 {headOf(4, 2), beginRequest{Tasks: 1, CPUs: 2}, []int{2, 1, 0, 0}, []int{2}, []int{1}, ""},
		"busy nodes are waited for":           {headOf(2, 2), beginRequest{Tasks: 4}, []int{1, 0}, nil, nil, ""},
		"overlapping steps wait for nobody":   {headOf(2, 2), beginRequest{Tasks: 4, Overlap: true}, []int{2, 2}, []int{0, 1}, []int{2, 2}, ""},
		"processors of a task as for the job": {headOf(1, 4, func(s *launchconfig.Spec) { s.CPUsPerTask = 2 }), beginRequest{Tasks: 3}, nil, nil, nil, "More processors requested than permitted"},
		"more nodes than there are":           {headOf(2, 2), beginRequest{Nodes: 3}, nil, nil, nil, "Requested node configuration is not available"},
		"fewer tasks than nodes":              {headOf(3, 2), beginRequest{Nodes: 3, Tasks: 2}, nil, nil, nil, "2 tasks cannot run on 3 nodes"},
		"more tasks than fit, a node":         {headOf(2, 8), beginRequest{Nodes: 2, Tasks: 5, PerNode: 2}, nil, nil, nil, "More tasks requested than --ntasks-per-node permits"},
		"an unknown host":                     {headOf(2, 2), beginRequest{Not: []string{"x"}}, nil, nil, nil, "x is not a node of this job"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want, err := c.head.planStep(&c.asked)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), "Unable to create step for job 42: "+c.err) && !strings.Contains(err.Error(), c.err) {
					t.Errorf("%v, want %s", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			used := c.used
			if used == nil {
				used = make([]int, len(c.head.hosts))
			}
			nodes := want.chooseNodes(used, c.head.spec.CPUs, c.head.free)
			if diff := cmp.Diff(c.nodes, nodes); diff != "" {
				t.Errorf("nodes %s", diff)
			}
			if diff := cmp.Diff(c.count, want.counts); diff != "" && nodes != nil {
				t.Errorf("tasks %s", diff)
			}
		})
	}
}

func TestSSHsArgumentsAreRead(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		host    string
		command []string
	}{
		"node-1 orted -x": {"node-1", []string{"orted", "-x"}},
		"-x -p 22 -o StrictHostKeyChecking=no n1 a": {"n1", []string{"a"}},
		"-q mei@n1 -- a":       {"n1", []string{"--", "a"}},
		"-oBatchMode=yes n1 a": {"n1", []string{"a"}},
		"":                     {"", nil},
	}
	for line, want := range cases {
		host, command := rshArguments(strings.Fields(line))
		if host != want.host || !cmp.Equal(command, want.command) {
			t.Errorf("%q: %s %q", line, host, command)
		}
	}
}

func FuzzProgramsByTask(f *testing.F) {
	for _, seed := range []string{"0-3,5 a %t\n* b", "1 'a b' \"c\\\"d\" # x", "0", "* 'open", "9-1 a"} {
		f.Add(seed, 1)
	}
	f.Fuzz(func(t *testing.T, text string, rank int) {
		programs, err := parsePrograms(text)
		if err != nil {
			return
		}
		for i := range programs {
			if len(programs[i].args) == 0 {
				t.Errorf("%q: a line without a program", text)
			}
		}
		_ = commandOfTask(programs, rank)
	})
}

func TestTimesAndSignalsOfSteps(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"5": "5m0s", "1:30": "1m30s", "1:00:00": "1h0m0s", "1-2": "26h0m0s", "1-2:3": "26h3m0s", "0-0:0:1": "1s"} {
		if got, err := parseLimit(text); err != nil || got.String() != want {
			t.Errorf("%s: %v %v, want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "x", "1:2:3:4", "1h", "-1"} {
		if got, err := parseLimit(text); err == nil {
			t.Errorf("%s is taken for %s", text, got)
		}
	}
	for text, want := range map[string]launchconfig.Signal{"USR1@30": {Number: 10, Seconds: 30}, "SIGTERM": {Number: 15, Seconds: 60}, "9@0": {Number: 9}} {
		if got, err := parseSignal(text); err != nil || *got != want {
			t.Errorf("%s: %+v %v", text, got, err)
		}
	}
	for _, text := range []string{"", "NOSUCH", "USR1@x", "99", "0"} {
		if got, err := parseSignal(text); err == nil {
			t.Errorf("%s is taken for %+v", text, got)
		}
	}
}
