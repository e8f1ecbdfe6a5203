package srun_test

import (
	"io"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vc-batch/vc/internal/slurm/step/process"
	"github.com/vc-batch/vc/test/steptest"
)

func TestSteps(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		script    string
		code      int
		out, errs []string // sorted lines
	}{
		"each task knows its place": {
			`srun -n3 sh -c 'echo "$SLURM_PROCID $SLURM_LOCALID $SLURM_NODEID $SLURM_GTIDS $SLURM_NTASKS $SLURM_NTASKS_PER_NODE $SLURM_STEP_ID $SLURM_STEP_NUM_TASKS $SLURM_STEP_TASKS_PER_NODE $SLURM_STEP_NODELIST $SLURMD_NODENAME"'`, 0,
			[]string{"0 0 0 0,1,2 3 3 0 3 3 t-head-0 n1", "1 1 0 0,1,2 3 3 0 3 3 t-head-0 n1", "2 2 0 0,1,2 3 3 0 3 3 t-head-0 n1"}, nil,
		},
		"steps are numbered":                               {"srun -n1 sh -c 'echo $SLURM_STEP_ID'; srun -n1 sh -c 'echo $SLURM_STEPID'", 0, []string{"0", "1"}, nil},
		"-l says which task it was":                        {"srun -n2 -l sh -c 'echo a; printf b; [ $SLURM_PROCID = 0 ] || echo e >&2'", 0, []string{"0: a", "0: b", "1: a", "1: b"}, []string{"1: e"}},
		"labels are of one width":                          {"srun -n12 -O -l echo x | sort | head -n1", 0, []string{"00: x"}, nil},
		"the highest code is srun's":                       {"srun -n3 sh -c 'exit $((SLURM_PROCID*2))'", 4, nil, []string{"srun: error: t-head-0: task 1: Exited with exit code 2", "srun: error: t-head-0: task 2: Exited with exit code 4"}},
		"tasks that fail alike are told together":          {"srun -n4 false", 1, nil, []string{"srun: error: t-head-0: tasks 0-3: Exited with exit code 1"}},
		"a signal is 128 and more":                         {"srun -n1 sh -c 'kill -9 $$'", 137, nil, []string{"srun: error: t-head-0: task 0: Killed"}},
		"a program that is not there":                      {"srun -n1 nosuch", 2, nil, []string{"slurmstepd: error: execve(): nosuch: No such file or directory", "srun: error: t-head-0: task 0: Exited with exit code 2"}},
		"a program that cannot be run":                     {"srun -n1 /etc/passwd", 13, nil, []string{"slurmstepd: error: execve(): /etc/passwd: Permission denied", "srun: error: t-head-0: task 0: Exited with exit code 13"}},
		"the name of a step":                               {"srun -n1 -J other sh -c 'echo $SLURM_JOB_NAME'; srun -n1 sh -c 'echo $SLURM_JOB_NAME'", 0, []string{"other", "test"}, nil},
		"all tasks read what srun reads":                   {"echo hello | srun -n3 cat", 0, []string{"hello", "hello", "hello"}, nil},
		"one task reads":                                   {"echo hello | srun -n3 -i1 -l cat", 0, []string{"1: hello"}, nil},
		"no task reads":                                    {"echo hello | srun -n2 -i none cat", 0, nil, nil},
		"a file is read":                                   {"echo filed >in; srun -n2 -i in cat", 0, []string{"filed", "filed"}, nil},
		"much input and much output":                       {"seq 100000 | srun -n2 sha256sum | sort -u | wc -l; seq 200000 | srun -n1 cat | sha256sum >a; seq 200000 | sha256sum >b; cmp a b && echo same", 0, []string{"1", "same"}, nil},
		"a task that does not read":                        {"seq 1000000 | srun -n1 true; echo $?", 0, []string{"0"}, nil},
		"files by task":                                    {"srun -n2 -o out-%j-%s-%t sh -c 'echo $SLURM_PROCID; echo e >&2'; cat out-42-0-0 out-42-0-1", 0, []string{"0", "1", "e", "e"}, nil},
		"output dropped":                                   {"srun -n2 -o none -e none sh -c 'echo a; echo b >&2'", 0, nil, nil},
		"one task is heard":                                {"srun -n3 -o 1 sh -c 'echo $SLURM_PROCID'", 0, []string{"1"}, nil},
		"a file that cannot be opened":                     {"srun -n1 -o /no/such/x true", 1, nil, []string{"srun: error: Could not open stdout file /no/such/x: No such file or directory"}},
		"more than there is":                               {"srun -n9 true", 1, nil, []string{"srun: error: Unable to create step for job 42: More processors requested than permitted", "srun: hint: each node of the job has 4 processors: request fewer, or use --overcommit to run more tasks than processors"}},
		"more processors than there are":                   {"srun -n2 -c3 true", 1, nil, []string{"srun: error: Unable to create step for job 42: More processors requested than permitted", "srun: hint: each node of the job has 4 processors: request fewer, or use --overcommit to run more tasks than processors"}},
		"overcommitted":                                    {"srun -n9 -O true", 0, nil, nil},
		"more nodes than there are":                        {"srun -N2 true", 1, nil, []string{"srun: error: Unable to create step for job 42: Requested node configuration is not available", "srun: hint: request at most 1"}},
		"a node of another job":                            {"srun -w other true", 1, nil, []string{"srun: error: Unable to create step for job 42: Requested node configuration is not available (other is not a node of this job)", "srun: hint: the job's nodes are t-head-0"}},
		"behind the last node":                             {"srun -r1 true", 1, nil, []string{"srun: error: Unable to create step for job 42: Requested node configuration is not available (--relative=1, but the job has 1 nodes)", "srun: hint: nodes are numbered from 0"}},
		"no command":                                       {"srun -n1", 1, nil, []string{"srun: error: No command given to execute.", "srun: hint: specify a command, for example srun -n2 hostname"}},
		"an option that is none":                           {"srun --nosuch true", 1, nil, []string{`Try "srun --help" for more information`, "srun: unrecognized option '--nosuch'"}},
		"pmix":                                             {"srun --mpi=pmix true", 1, nil, []string{"srun: error: srun cannot start MPI programs here: --mpi=pmix is not supported", "srun: hint: start MPI programs with mpirun, which finds the job's nodes automatically"}},
		"a number that is none":                            {"srun -n x true", 1, nil, []string{`srun: error: Invalid numeric value "x" for --ntasks.`, "srun: hint: specify a number of at least 1, for example --ntasks=2"}},
		"another job":                                      {"srun --jobid=43 true", 1, nil, []string{"srun: error: --jobid=43 is not the current job (42): a pod can access only its own job", "srun: hint: remove --jobid"}},
		"-K ends the others":                               {"srun -n2 -K sh -c '[ $SLURM_PROCID = 0 ] && exit 3; sleep 60'", 143, nil, []string{"srun: Terminating StepId=42.0", "srun: error: t-head-0: task 0: Exited with exit code 3", "srun: error: t-head-0: task 1: Terminated"}},
		"-W ends those that take longer":                   {"srun -n2 -W1 sh -c '[ $SLURM_PROCID = 0 ] && exit 0; sleep 60'", 143, nil, []string{"srun: First task exited 1s ago", "srun: error: t-head-0: task 1: Terminated"}},
		"programs by task":                                 {"printf '0 echo first %%t %%o\\n1-2 echo rest %%t %%o # comment\\n* echo others' >p; srun -n4 --multi-prog p", 0, []string{"first 0 0", "others", "rest 1 0", "rest 2 1"}, nil},
		"a task without a program":                         {"echo '0 true' >p; srun -n2 --multi-prog p", 1, nil, []string{"srun: error: p: no line specifies a program for task 1"}},
		"the environment comes along":                      {"export A=1 B=2; srun -n1 sh -c 'echo $A$B'; srun -n1 --export=A sh -c 'echo $A$B'; srun -n1 --export=NONE sh -c 'echo none$A$B'; srun -n1 --export=ALL,C=3 sh -c 'echo $A$B$C'", 0, []string{"1", "12", "123", "none"}, nil},
		"a directory":                                      {"mkdir d; srun -n1 -D d sh -c 'basename $(pwd)'", 0, []string{"d"}, nil},
		"a directory that is not there":                    {"srun -n1 -D /no/such pwd", 0, []string{"/tmp"}, []string{"slurmstepd: error: couldn't chdir to `/no/such': No such file or directory: going to /tmp instead"}},
		"a limit of time":                                  {"srun -n1 -t 0:01 sleep 60 2>err; echo $?; grep -o 'DUE TO TIME LIMIT' err", 0, []string{"143", "DUE TO TIME LIMIT"}, nil},
		"the version":                                      {"srun --version; scontrol -V", 0, []string{"slurm 26.11.0", "slurm 26.11.0"}, nil},
		"accelerators by task":                             {"srun -n2 --gpus-per-task=2 sh -c 'echo $CUDA_VISIBLE_DEVICES'", 0, []string{"0,1", "2,3"}, nil},
		"accelerators of the step":                         {"srun -n2 --gpus=2 sh -c 'echo $CUDA_VISIBLE_DEVICES $SLURM_STEP_GPUS $SLURM_GPUS_ON_NODE'", 0, []string{"0,1 0,1 2", "0,1 0,1 2"}, nil},
		"accelerators on each node":                        {"srun -n1 --gres=gpu:a100:3 sh -c 'echo $CUDA_VISIBLE_DEVICES'; srun -n1 --gpus-per-node=1 sh -c 'echo $CUDA_VISIBLE_DEVICES'", 0, []string{"0", "0,1,2"}, nil},
		"no accelerators":                                  {"srun -n1 --gres=none sh -c 'echo none $CUDA_VISIBLE_DEVICES'; srun -n1 --gpus=0 sh -c 'echo none $CUDA_VISIBLE_DEVICES'; srun -n1 --gres=gpu:0 sh -c 'echo none $CUDA_VISIBLE_DEVICES'", 0, []string{"none", "none", "none"}, nil},
		"accelerators that nobody asked for in particular": {"echo $CUDA_VISIBLE_DEVICES; srun -n1 sh -c 'echo $CUDA_VISIBLE_DEVICES $SLURM_STEP_GPUS'; CUDA_VISIBLE_DEVICES=2 srun -n1 sh -c 'echo $CUDA_VISIBLE_DEVICES'", 0, []string{"0,1,2,3", "0,1,2,3 0,1,2,3", "2"}, nil},
		"steps side by side have their own accelerators": {
			"one() { srun -n1 --gpus=2 sh -c 'echo $CUDA_VISIBLE_DEVICES; echo >>begun; until [ $(wc -l <begun) = 2 ]; do sleep 0.01; done'; }; one & one & wait", 0, []string{"0,1", "2,3"}, nil},
		"more accelerators than there are": {"srun -n1 --gpus=5 true", 1, nil,
			[]string{"srun: error: Unable to create step for job 42: Invalid generic resource (gres) specification: each node of the job has 4 accelerators", "srun: hint: request at most this number of accelerators per node"}},
		"what has no effect is reported with -v": {"srun -n1 --cpu-bind=cores --mem=1G --accel-bind=g true; srun -v -n1 --cpu_bind=cores --mem=1G -m cyclic true; srun -n1 --cpu-bind=none --mem=0 --exclusive -m block -p nlp true; srun -v -n1 --gres=nic:1 true; srun -n1 -X --whole --ntasks-per-socket=1 true; srun -v -n1 --whole true", 0, nil,
			[]string{"srun: warning: --cpu-bind=cores has no effect here", "srun: warning: --distribution=cyclic has no effect here", "srun: warning: --gres=nic:1 has no effect here", "srun: warning: --mem=1G has no effect here", "srun: warning: --whole has no effect here"}},
		"variables stand for options": {
			"SLURM_LABELIO=1 srun -n2 echo a; SLURM_LABELIO=0 srun -n1 echo plain; SLURM_STDOUTMODE=none srun -n1 echo lost; echo in | SLURM_STDINMODE=none srun -n1 cat; SLURM_OVERCOMMIT=1 srun -n9 echo many | sort -u; " +
				"echo old >f; SLURM_OPEN_MODE=append SLURM_STDOUTMODE=f srun -n1 echo new; cat f; SLURM_KILL_BAD_EXIT=1 srun -Q -n2 sh -c '[ $SLURM_PROCID = 0 ] && exit 3; sleep 60' || true", 0,
			[]string{"0: a", "1: a", "many", "new", "old", "plain"}, nil},
		"options win over variables":  {"SLURM_STDOUTMODE=none srun -n1 -o f echo kept; cat f; SLURM_KILL_BAD_EXIT=1 srun -Q -K0 -n2 sh -c '[ $SLURM_PROCID = 0 ] && exit 0; echo both'", 0, []string{"both", "kept"}, nil},
		"a variable that is no value": {"SLURM_WAIT=soon srun -n1 true", 1, nil, []string{`srun: error: Invalid numeric value "soon" for --wait.`, "srun: hint: specify a number of at least 0, for example --wait=2"}},
		"variables that steps do not read are told": {
			"SLURM_NTASKS=2 SLURM_MPI_TYPE=pmix srun -n1 true; SLURM_NTASKS=2 SLURM_CPU_BIND=none SLURM_EXPORT_ENV=ALL srun -N1 true; srun -n1 srun --overlap -N1 true", 0, nil,
			[]string{"srun: warning: SLURM_MPI_TYPE=pmix has no effect here", "srun: warning: SLURM_NTASKS=2 has no effect here"}},
		"several programs by a colon": {"srun -n1 true : -n1 true", 1, nil, []string{"srun: error: heterogeneous jobs are not supported; use srun --multi-prog to run several programs in a step"}},
		"the ways to MPI":             {"srun --mpi=list", 0, []string{"\tnone", "MPI plugin types are..."}, nil},
		"the own job among others":    {"squeue -h -o %i -t PD; squeue -h -o %i -u root,somebody; squeue -h -o %i -t running,PD -u mei; squeue -h -o %A --me", 0, []string{"42", "42"}, nil},
		"processors are waited for":   {"srun -n3 sh -c 'touch held; until [ -e go ]; do sleep 0.01; done' & until [ -e held ]; do sleep 0.01; done; srun -Q -n4 --overlap touch there; srun -Q -I -n2 true || echo busy; touch go; wait", 0, []string{"busy"}, []string{"srun: error: Unable to create step for job 42: Requested nodes are busy", "srun: hint: omit --immediate to wait for the nodes, or use --overlap to share processors with other steps"}},
		"names of hosts":              {"scontrol show hostnames; scontrol show hostnames 'a[1-2],b'; scontrol show hostlist a1,a2; scontrol show hostlistsorted b,a; echo c1 c2 >hosts; scontrol show hostlist $PWD/hosts", 0, []string{"a1", "a2", "a[1-2]", "a,b", "b", "c[1-2]", "t-head-0"}, nil},
		"all that is known of the own job": {"scontrol show job | sed -e 's/^ *//' -e '/^$/d' -e 's/\\(Run\\|Start\\|End\\)Time=[0-9][^ ]*[0-9]/\\1Time=NOW/g' -e \"s/($(id -u))/(UID)/\"; scontrol -o show job 42 | wc -l", 0,
			[]string{"1", "JobId=42 JobName=test", "UserId=mei(UID) GroupId=N/A MCS_label=N/A", "Nice=0 Account=(null) QOS=(null)", "JobState=RUNNING Reason=None Dependency=(null)",
				"Requeue=1 Restarts=0 BatchFlag=1 Reboot=0 ExitCode=0:0", "RunTime=NOW TimeLimit=00:10:00 TimeMin=N/A", "StartTime=NOW EndTime=NOW Deadline=N/A", "Partition=nlp AllocNode:Sid=N/A:N/A",
				"NodeList=t-head-0", "BatchHost=t-head-0", "Command=(null)", "NumNodes=1 NumCPUs=4 NumTasks=4 CPUs/Task=1", "WorkDir=DIR", "StdErr=(null)", "StdIn=/dev/null", "StdOut=(null)"}, nil},
		"long times":  {"squeue -h -o '%l %L' | tr -d 0-9; scontrol show job | grep -o 'TimeLimit=[^ ]*'", 0, []string{": :", "TimeLimit=00:10:00"}, nil},
		"the own job": {"squeue -h -j $SLURM_JOB_ID -o '%i %t %D %P %l %j %Z'; squeue -j 43", 1, []string{"42 R 1 nlp 10:00 test DIR"}, []string{"squeue: error: job 43 is not the current job (42): a job can access only itself, because its pods have no permissions in the cluster", "squeue: hint: to access other jobs, run the same command on the host where the job was submitted"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, code := steptest.Run(t, "#!/bin/bash\n"+c.script+"\n", func(p *steptest.Pod) {
				p.Spec.Tasks, p.Spec.TimeLimit, p.Spec.GPUsOnNode = 4, 600, 4
			})
			if code != c.code {
				t.Errorf("it ended with %d, want %d", code, c.code)
			}
			out := strings.ReplaceAll(p.Out.String(), p.Dir, "DIR")
			slices.Sort(c.out)
			if diff := cmp.Diff(strings.Join(c.out, "\n"), strings.Join(steptest.SortedLines(out), "\n")); diff != "" {
				t.Errorf("output (-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(strings.Join(c.errs, "\n"), strings.Join(steptest.SortedLines(p.Err.String()), "\n")); diff != "" {
				t.Errorf("errors (-want +got)\n%s", diff)
			}
		})
	}
}

func TestTasksOfAJobThatAskedForThemHaveTheirOwnAccelerators(t *testing.T) {
	t.Parallel()
	p, code := steptest.Run(t, "#!/bin/bash\nsrun -n2 sh -c 'echo $CUDA_VISIBLE_DEVICES $SLURM_GPUS_PER_TASK'\nsrun -n3 sh -c 'echo $CUDA_VISIBLE_DEVICES'\n", func(p *steptest.Pod) {
		p.Spec.Tasks, p.Spec.GPUsOnNode, p.Spec.GPUsPerTask = 4, 4, "a100:2"
	})
	if got := steptest.SortedLines(p.Out.String()); code != 0 || !slices.Equal(got, []string{"0,1 2", "0,1,2,3", "0,1,2,3", "0,1,2,3", "2,3 2"}) {
		t.Errorf("%d %v %s", code, got, p.Err.String())
	}
}

func TestMpirunStartsItsRanks(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("mpirun"); err != nil {
		t.Skip("SKIPPED: mpirun is not installed (Debian: openmpi-bin)")
	}
	p, code := steptest.Run(t, "#!/bin/bash\nmpirun -np 2 sh -c 'echo r$OMPI_COMM_WORLD_RANK'\n", func(p *steptest.Pod) { p.Spec.Tasks = 4 })
	if got := steptest.SortedLines(p.Out.String()); code != 0 || !slices.Equal(got, []string{"r0", "r1"}) {
		t.Errorf("%d %v %s", code, got, p.Err.String())
	}
}

func TestStepsShareProcessorsFirstCome(t *testing.T) {
	t.Parallel()
	p, code := steptest.Run(t, `#!/bin/bash
one() { srun -n2 sh -c 'echo begin >>log; while [ $(grep -c begin log) -lt '$1' ]; do sleep 0.01; done; echo end >>log'; }
one 4 & one 4 & wait   # both at once, or never
srun -n3 sh -c 'touch holding; until [ -e go ]; do sleep 0.01; done' &
until [ -e holding ]; do sleep 0.01; done
srun -n2 sh -c 'echo after' & 
sleep 0.3; touch go; wait
`, func(p *steptest.Pod) { p.Spec.Tasks = 4 })
	if code != 0 || p.Out.String() != "after\nafter\n" || p.Err.String() != "srun: Job 42 step creation temporarily disabled, retrying (Requested nodes are busy)\n" {
		t.Errorf("%d %s%s", code, p.Out.String(), p.Err.String())
	}
	r := p.Report()
	if len(r.Steps) != 4 || r.Steps[0].ID != 0 || r.Steps[0].Nodes != "t-head-0" || r.Steps[0].CPUs != 2 || r.Steps[3].Start < r.Steps[2].End {
		t.Errorf("%+v", r.Steps)
	}
}

func TestStepsAreRecorded(t *testing.T) {
	t.Parallel()
	p, _ := steptest.Run(t, "#!/bin/bash\nsrun -n2 -J warm sh -c 'exit $SLURM_PROCID'\nsrun -n1 sh -c 'i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done; kill -TERM $$'\nexit 0\n")
	steps := p.Report().Steps
	if len(steps) != 2 || steps[0].Name != "warm" || steps[0].Code != 1 || steps[0].Tasks != 2 || steps[1].Name != "sh" || steps[1].Signal != 15 || steps[1].Start == 0 || steps[1].End < steps[1].Start {
		t.Errorf("%+v", steps)
	}
	if steps[1].CPUMillis == 0 || steps[1].MaxRSS == 0 {
		t.Errorf("nothing is known of what the step used: %+v", steps[1])
	}
}

// terminalSession runs a program of the pod on a pseudo terminal of the test.
type terminalSession struct {
	t      *testing.T
	tty    *process.Terminal
	output chan string
	shown  string // output that sees has not consumed yet
}

func onTerminal(t *testing.T, p *steptest.Pod, args ...string) (*terminalSession, func() int) {
	t.Helper()
	tty, err := process.OpenTerminal(100, 30)
	if err != nil {
		t.Skip("no pseudo terminals here: ", err)
	}
	cmd := p.Program(args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty.Slave, tty.Slave, tty.Slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = tty.Slave.Close()
	s := &terminalSession{t: t, tty: tty, output: make(chan string, 1000)}
	go func() {
		defer close(s.output)
		buffer := make([]byte, 4096)
		for {
			n, err := tty.Master.Read(buffer)
			if err != nil {
				return
			}
			s.output <- string(buffer[:n])
		}
	}()
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait(); _ = tty.Master.Close() })
	return s, func() int { _ = cmd.Wait(); return cmd.ProcessState.ExitCode() }
}

// sees waits until the terminal shows a text.
func (s *terminalSession) sees(text string) {
	s.t.Helper()
	timeout := time.After(20 * time.Second)
	for !strings.Contains(s.shown, text) {
		select {
		case more, open := <-s.output:
			if !open {
				s.t.Fatalf("the terminal is closed; it shows %q, want %q", s.shown, text)
			}
			s.shown += more
		case <-timeout:
			s.t.Fatalf("it shows %q, want %q", s.shown, text)
		}
	}
	_, s.shown, _ = strings.Cut(s.shown, text)
}

func (s *terminalSession) types(text string) { _, _ = io.WriteString(s.tty.Master, text) }

func interactive(t *testing.T) *steptest.Pod {
	t.Helper()
	p := steptest.NewPod(t, "")
	p.Spec.Interactive, p.Spec.Tasks = true, 4
	p.Start()
	p.Until("tools/run/agent.sock")
	return p
}

func TestATaskOnATerminal(t *testing.T) {
	t.Parallel()
	s, wait := onTerminal(t, interactive(t), "session", "srun", "-n1", "--pty", "sh")
	s.types("stty size; test -t 0 && echo is a tty\n")
	s.sees("30 100")
	s.sees("is a tty")
	s.tty.SetSize(120, 50)
	s.types("sleep 0.1; stty size\n")
	s.sees("50 120")
	s.types("exit 9\n")
	if code := wait(); code != 9 {
		t.Errorf("%d", code)
	}
}

func TestOneCtrlCAsksAndTheSecondMeansIt(t *testing.T) {
	t.Parallel()
	p := interactive(t)
	s, wait := onTerminal(t, p, "session", "srun", "-n2", "sh", "-c", "trap 'echo gone; exit 4' INT; echo ready $SLURM_PROCID; touch "+p.Dir+"/r$SLURM_PROCID; while :; do sleep 0.01; done")
	p.Until("r0")
	p.Until("r1")
	s.types("\x03")
	s.sees("srun: interrupt (one more within 1 sec to abort)\r\n")
	s.sees("srun: StepId=42.0 tasks 0-1: running\r\n")
	s.types("\x03")
	s.sees("srun: sending Ctrl-C to StepId=42.0")
	s.sees("gone")
	if code := wait(); code != 4 {
		t.Errorf("%d", code)
	}
}

// Tasks and scripts have their own process ID in their environment, which their child processes inherit. A program
// that cannot be executed is still reported.
func TestTasksKnowTheirProcessNumber(t *testing.T) {
	t.Parallel()
	p, code := steptest.Run(t, `#!/bin/bash
[ $SLURM_TASK_PID = $$ ] && echo script
srun -n2 bash -c '[ $SLURM_TASK_PID = $$ ] && bash -c "[ $SLURM_TASK_PID != \$\$ ]" && echo task'
printf '#!/no/such/interpreter\n' >bad; printf 'x' >worse; chmod +x bad worse
srun -n1 ./bad; echo $?
srun -n1 ./worse; echo $?
`, func(*steptest.Pod) {})
	want := "script\ntask\ntask\n2\n13\n"
	if code != 0 || p.Out.String() != want {
		t.Errorf("code %d, %q, want %q\n%s", code, p.Out.String(), want, p.Err.String())
	}
}
