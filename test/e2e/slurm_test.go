package e2e

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
)

// slurmUser is a user who calls only Slurm's commands.
type slurmUser struct {
	*cluster
	dir string
	ids map[string]bool // of submitted jobs
}

// slurm runs one of Slurm's commands.
func (u *slurmUser) slurm(words ...string) result {
	u.t.Helper()
	return u.runIn(context.Background(), u.dir, "", "vcctl", append([]string{"slurm"}, words...)...)
}

// says runs a command that must succeed.
func (u *slurmUser) says(words ...string) string {
	u.t.Helper()
	r := u.slurm(words...)
	if r.code != 0 {
		u.t.Fatalf("%s: exit %d\n%s%s", strings.Join(words, " "), r.code, r.stdout, r.stderr)
	}
	return strings.TrimSpace(r.stdout)
}

// submit submits a script and returns the job's number.
func (u *slurmUser) submit(script string, options ...string) string {
	u.t.Helper()
	file := filepath.Join(u.dir, fmt.Sprintf("script-%d.sh", time.Now().UnixNano()))
	if err := os.WriteFile(file, []byte("#!/bin/bash\n"+script), 0o755); err != nil {
		u.t.Fatal(err)
	}
	id := u.says(append(append([]string{"sbatch", "--parsable"}, options...), file)...)
	if _, err := strconv.Atoi(id); err != nil {
		u.t.Fatalf("sbatch gives the number %q", id)
	}
	if u.ids[id] {
		u.t.Fatalf("two jobs have the number %s", id)
	}
	if u.ids == nil {
		u.ids = map[string]bool{}
	}
	u.ids[id] = true
	return id
}

// state returns a job's state and exit code according to sacct.
func (u *slurmUser) state(id string) string {
	u.t.Helper()
	return u.says("sacct", "-X", "-n", "-P", "-o", "State,ExitCode", "-j", id)
}

// becomes waits until sacct prints this state.
func (u *slurmUser) becomes(id, want string) {
	u.t.Helper()
	u.eventually(90*time.Second, "job "+id+" is "+want, func() error {
		if got := u.state(id); got != want {
			return fmt.Errorf("sacct says %q", got)
		}
		return nil
	})
}

// output returns the log of a job's first pod.
func (u *slurmUser) output(id string) string {
	u.t.Helper()
	job := u.numbered(id)
	return u.logs(job.Namespace, job.Name+"-head-0")
}

func (u *slurmUser) numbered(id string) *batchv1alpha1.Job {
	u.t.Helper()
	var list batchv1alpha1.JobList
	if err := u.List(context.Background(), &list); err != nil {
		u.t.Fatal(err)
	}
	for i := range list.Items {
		if n, ok := batchv1alpha1.JobID(&list.Items[i]); ok && batchv1alpha1.FormatJobID(n) == id {
			return &list.Items[i]
		}
	}
	u.t.Fatalf("there is no job %s", id)
	return nil
}

// TestSlurmOnProcessNodes contains the real runs of issue 7. All jobs are submitted first, and then each is checked.
func TestSlurmOnProcessNodes(t *testing.T) {
	u := &slurmUser{cluster: startCluster(t, "--process-nodes=4", "--node-cpu=16", "--node-memory=64Gi"), dir: t.TempDir()}
	checks := []func() func(){u.table, u.steps, u.chains, u.oneElement, u.signalBeforeLimit, u.timeLimit, u.elementsOverTheirLimit, u.wideArray, u.ownCodes, u.elastic, u.requeue, u.eviction, u.mpirun, u.manyTasks, u.chaining, u.requeueFromAStep, u.copies, u.attach, u.changes}
	var ends []func()
	for _, begin := range checks {
		ends = append(ends, begin())
	}
	u.array()
	u.commandFromOutside()
	u.onATerminal()
	for _, end := range ends {
		end()
	}
}

// steps tests a script with a step that runs once, and with srun on four pods.
func (u *slurmUser) steps() func() {
	id := u.submit(`echo "prepare on $(hostname)"
scontrol show hostnames "$SLURM_JOB_NODELIST"
srun sh -c 'echo "rank $SLURM_PROCID of $SLURM_NTASKS on $(hostname) node $SLURM_NODEID of $SLURMD_NODENAME"'
srun -N2 -n2 -r2 hostname
echo typed | srun -l -w "$(scontrol show hostnames | sed -n 2p)" cat
srun sh -c 'exit $SLURM_PROCID'; echo "code $?"
`, "-N4", "-t", "5", "-J", "quad")
	return func() {
		u.becomes(id, "COMPLETED|0:0")
		job := u.numbered(id)
		hosts := []string{job.Name + "-head-0", job.Name + "-node-0", job.Name + "-node-1", job.Name + "-node-2"}
		lines := strings.Split(strings.TrimSpace(u.output(id)), "\n")
		want := append([]string{"prepare on " + hosts[0]}, hosts...)
		if len(lines) < 9 || !slices.Equal(lines[:5], want) {
			u.t.Fatalf("the script says\n%s", strings.Join(lines, "\n"))
		}
		ranks := lines[5:9]
		slices.Sort(ranks)
		nodes := map[string]bool{}
		for i, line := range ranks {
			begin := fmt.Sprintf("rank %d of 4 on %s node %d of node-", i, hosts[i], i)
			if !strings.HasPrefix(line, begin) {
				u.t.Errorf("%q, want %s…", line, begin)
			}
			nodes[line[len(begin):]] = true
		}
		if len(nodes) != 4 {
			u.t.Errorf("-N4 runs on %d nodes", len(nodes))
		}
		rest := strings.Join(lines[9:], "\n")
		for _, part := range []string{hosts[2], hosts[3], "0: typed", "code 3"} {
			if !strings.Contains(rest, part) {
				u.t.Errorf("no %q in\n%s", part, rest)
			}
		}
		if steps := u.says("sacct", "-n", "-P", "-o", "JobID,State,ExitCode,NTasks", "-j", id); !strings.Contains(steps, id+".0|COMPLETED|0:0|4") || !strings.Contains(steps, id+".3|FAILED|3:0|4") {
			u.t.Errorf("sacct says\n%s", steps)
		}
	}
}

// array tests a hundred elements, ten at once, some of which fail.
func (u *slurmUser) array() {
	id := u.submit("echo element $SLURM_ARRAY_TASK_ID of $SLURM_ARRAY_TASK_COUNT in $SLURM_ARRAY_JOB_ID\n[ $((SLURM_ARRAY_TASK_ID % 20)) != 7 ]\n", "--array=0-99%10", "-J", "hundred")
	name, most := u.numbered(id).Name, 0
	u.waitUntilNoneIsLeft("elements", func() int {
		most = max(most, u.alive(name))
		left := u.says("squeue", "-h", "-r", "-j", id)
		if left == "" {
			return 0
		}
		return len(strings.Split(left, "\n"))
	})
	if most == 0 || most > 10 {
		u.t.Errorf("%d elements ran at once", most)
	}
	states := map[string]int{}
	for line := range strings.SplitSeq(u.says("sacct", "-X", "-n", "-P", "-o", "State,ExitCode", "-j", id), "\n") {
		states[line]++
	}
	if states["COMPLETED|0:0"] != 95 || states["FAILED|1:0"] != 5 || len(states) != 2 {
		u.t.Errorf("sacct says %v", states)
	}
	if got := strings.TrimSpace(u.logs("default", name+"-head-41")); got != "element 41 of 100 in "+id {
		u.t.Errorf("element 41 says %q", got)
	}
}

// chains tests afterok, afternotok, and a dependency that can never be satisfied.
func (u *slurmUser) chains() func() {
	good, bad := u.submit("exit 0\n"), u.submit("exit 3\n")
	afterGood := u.submit("echo after good\n", "-d", "afterok:"+good)
	afterBad := u.submit("echo after bad\n", "-d", "afternotok:"+bad)
	both := u.submit("echo last\n", "-d", "afterok:"+afterGood+":"+afterBad)
	never := u.submit("echo never\n", "-d", "afterok:"+bad)
	killed := u.submit("echo never\n", "-d", "afterok:"+bad, "--kill-on-invalid-dep=yes")
	return func() {
		for id, want := range map[string]string{good: "COMPLETED|0:0", bad: "FAILED|3:0", afterGood: "COMPLETED|0:0", afterBad: "COMPLETED|0:0", both: "COMPLETED|0:0"} {
			u.becomes(id, want)
		}
		u.eventually(20*time.Second, "the others never start", func() error {
			if got := u.says("squeue", "-h", "-o", "%t %R", "-j", never); got != "PD (DependencyNeverSatisfied)" {
				return errors.New(got)
			}
			if got := u.state(killed); got != "CANCELLED|0:0" {
				return errors.New(got)
			}
			return nil
		})
		u.says("scancel", never)
	}
}

// oneElement tests that scancel of one element does not affect the others.
func (u *slurmUser) oneElement() func() {
	id := u.submit("sleep ${SLURM_ARRAY_TASK_ID}00 & wait\n", "--array=0-2")
	u.eventually(60*time.Second, "elements run", func() error {
		if got := u.says("squeue", "-h", "-r", "-t", "R", "-o", "%i", "-j", id); !strings.Contains(got, id+"_1") || !strings.Contains(got, id+"_2") {
			return errors.New(got)
		}
		return nil
	})
	u.says("scancel", id+"_1")
	return func() {
		u.eventually(60*time.Second, "one element is cancelled", func() error {
			got := u.says("sacct", "-X", "-n", "-P", "-o", "JobID,State", "-j", id)
			if !strings.Contains(got, id+"_0|COMPLETED") || !strings.Contains(got, id+"_1|CANCELLED by ") || !strings.Contains(got, id+"_2|RUNNING") {
				return errors.New(got)
			}
			return nil
		})
		u.says("scancel", id)
	}
}

// signalBeforeLimit tests that a trap receives the signal five seconds before the time limit, and the script ends by
// itself.
func (u *slurmUser) signalBeforeLimit() func() {
	id := u.submit("trap 'echo caught, $(($SLURM_JOB_END_TIME - $(date +%s))) left; exit 0' USR1\nsleep 300 & wait $!\n", "-t", "1", "--signal=B:USR1@5")
	return func() {
		u.becomes(id, "COMPLETED|0:0")
		var left int
		if n, err := fmt.Sscanf(u.output(id), "caught, %d left\n", &left); n != 1 || err != nil || left < 1 || left > 5 {
			u.t.Errorf("%q", u.output(id))
		}
	}
}

// timeLimit tests that a job that reaches its limit is TIMEOUT, that the signal of --signal arrives the given time
// before, and that the output file names the reason of the end.
func (u *slurmUser) timeLimit() func() {
	file := filepath.Join(u.dir, "limit.out")
	id := u.submit("trap 'echo signal $(($SLURM_JOB_END_TIME - $(date +%s)))' USR1\nwhile :; do sleep 0.2; done\n", "-t", "1", "--signal=B:USR1@40", "-o", file)
	return func() {
		u.becomes(id, "TIMEOUT|0:0")
		text, err := os.ReadFile(file)
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		if err != nil || len(lines) != 2 || !strings.HasPrefix(lines[1], "slurmstepd: error: *** JOB "+id+" ON ") || !strings.HasSuffix(lines[1], " DUE TO TIME LIMIT ***") {
			u.t.Fatalf("the file has %q (%v)", text, err)
		}
		var left int
		if n, err := fmt.Sscanf(lines[0], "signal %d", &left); n != 1 || err != nil || left < 35 || left > 40 {
			u.t.Errorf("the signal of 40 seconds before the end came with %q", lines[0])
		}
	}
}

// elementsOverTheirLimit tests that elements that reach their limit are TIMEOUT, also after their pods are deleted.
func (u *slurmUser) elementsOverTheirLimit() func() {
	id := u.submit("sleep 300\n", "--array=3-4", "-t", "1")
	return func() {
		over := func() {
			for _, element := range []string{"_3", "_4"} {
				u.becomes(id+element, "TIMEOUT|0:0")
			}
		}
		over()
		job := u.numbered(id)
		for _, pod := range []string{"-head-0", "-head-1"} {
			if err := u.kube.CoreV1().Pods(job.Namespace).Delete(context.Background(), job.Name+pod, metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))}); err != nil {
				u.t.Error(err)
			}
		}
		u.eventually(60*time.Second, "the pods are gone", func() error {
			left, err := u.kube.CoreV1().Pods(job.Namespace).List(context.Background(), metav1.ListOptions{LabelSelector: keys.JobName + "=" + job.Name})
			if err != nil || len(left.Items) > 0 {
				return fmt.Errorf("%d pods (%v)", len(left.Items), err)
			}
			return nil
		})
		over()
	}
}

// wideArray tests elements of two pods each. They end with their scripts, one of which fails, and one of which requests
// a requeue first.
func (u *slurmUser) wideArray() func() {
	again := "if [ $SLURM_ARRAY_TASK_ID = 1 ] && [ -z \"$SLURM_RESTART_COUNT\" ]; then scontrol requeue $SLURM_JOB_ID; sleep 300; fi\n"
	id := u.submit(again+"srun sh -c 'echo $SLURM_ARRAY_TASK_ID.$SLURM_PROCID of $SLURM_NTASKS'\nexit $((SLURM_ARRAY_TASK_ID == 2 ? 3 : 0))\n", "--array=0-3%2", "-N2")
	after := u.submit("echo after the array\n", "-d", "afterany:"+id)
	return func() {
		for element, want := range []string{"COMPLETED|0:0", "COMPLETED|0:0", "FAILED|3:0", "COMPLETED|0:0"} {
			u.becomes(fmt.Sprintf("%s_%d", id, element), want)
			name := fmt.Sprintf("%s-head-%d", u.numbered(id).Name, 2*element)
			if got := sortedLines(u.logs("default", name)); !slices.Equal(got, []string{fmt.Sprintf("%d.0 of 2", element), fmt.Sprintf("%d.1 of 2", element)}) {
				u.t.Errorf("element %d says %q", element, got)
			}
		}
		u.becomes(after, "COMPLETED|0:0")
	}
}

// elastic tests that a job of two to six nodes starts on the four existing nodes, and that pods without a node do not
// prevent its end.
func (u *slurmUser) elastic() func() {
	id := u.submit("echo $SLURM_JOB_NUM_NODES; srun hostname | sort -u | wc -l\n", "-N2-6")
	return func() {
		u.becomes(id, "COMPLETED|0:0")
		if got := u.output(id); !slices.Contains([]string{"2\n2\n", "3\n3\n", "4\n4\n"}, got) {
			u.t.Errorf("%q", got)
		}
	}
}

// ownCodes tests that exit codes with a special meaning between launcher and controller are ordinary failures if a
// script exits with them.
func (u *slurmUser) ownCodes() func() {
	again, cancelled := u.submit("exit 234\n"), u.submit("exit 235\n")
	return func() {
		u.becomes(again, "FAILED|234:0")
		u.becomes(cancelled, "FAILED|235:0")
		if restarts := u.says("sacct", "-X", "-n", "-P", "-o", "Restarts", "-j", again); restarts != "0" {
			u.t.Errorf("a script that exits with 234 ran again %s times", restarts)
		}
	}
}

// requeue tests that a script can requeue its own job from inside, without permissions in the cluster.
func (u *slurmUser) requeue() func() {
	id := u.submit("if [ -z \"$SLURM_RESTART_COUNT\" ]; then scontrol requeue $SLURM_JOB_ID; sleep 300; fi\necho again $SLURM_RESTART_COUNT\n")
	return func() {
		u.becomes(id, "COMPLETED|0:0")
		if got := u.output(id); got != "again 1\n" {
			u.t.Errorf("%q", got)
		}
	}
}

// eviction tests that a job with an evicted pod runs again with a restart count.
func (u *slurmUser) eviction() func() {
	id := u.submit("echo run $SLURM_RESTART_COUNT\n[ -n \"$SLURM_RESTART_COUNT\" ] || sleep 300\n", "-N2")
	job := u.numbered(id)
	head := job.Name + "-head-0"
	u.eventually(60*time.Second, "the job runs", func() error {
		if out, err := u.kube.CoreV1().Pods(job.Namespace).GetLogs(head, &corev1.PodLogOptions{}).DoRaw(context.Background()); err != nil || string(out) != "run\n" {
			return fmt.Errorf("%q %v", out, err)
		}
		return nil
	})
	eviction := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: head, Namespace: job.Namespace}, DeleteOptions: &metav1.DeleteOptions{GracePeriodSeconds: new(int64(1))}}
	if err := u.kube.CoreV1().Pods(job.Namespace).EvictV1(context.Background(), eviction); err != nil {
		u.t.Fatal(err)
	}
	return func() {
		u.becomes(id, "COMPLETED|0:0")
		if got := u.output(id); got != "run 1\n" {
			u.t.Errorf("%q", got)
		}
	}
}

// taskRounds is the number of consecutive steps of 64 tasks in the search for lost output.
var taskRounds = flag.Int("slurm.task-rounds", 5, "how many steps of 64 tasks on 4 nodes TestSlurmOnProcessNodes runs")

// manyTasks tests that steps with many tasks on several nodes lose neither output lines nor exit codes.
func (u *slurmUser) manyTasks() func() {
	id := u.submit(fmt.Sprintf("for i in $(seq %d); do srun -O -n64 hostname >lines-$SLURM_JOB_ID; echo \"$? $(wc -l <lines-$SLURM_JOB_ID)\"; done | sort | uniq -c | awk '{print $1, $2, $3}'\n", *taskRounds), "-N4", "-D", u.dir)
	return func() {
		u.becomes(id, "COMPLETED|0:0")
		if got, want := u.output(id), fmt.Sprintf("%d 0 64\n", *taskRounds); got != want {
			u.t.Errorf("steps, exit code, lines: %q, want %q", got, want)
		}
	}
}

// chaining tests that jobs can submit their successors from inside, with their own script names, and can read the
// cluster's state.
func (u *slurmUser) chaining() func() {
	file := filepath.Join(u.dir, "chain.out")
	options := "#SBATCH -o " + file + "\n#SBATCH --open-mode=append\n"
	u.submit(options + `echo "run ${N:-1}${USER:+ of a user}: $(squeue -h -o %t -j $SLURM_JOB_ID) $(squeue -h -o %i | grep -cx $SLURM_JOB_ID) $(sacct -n -X -P -o State -j $SLURM_JOB_ID) $(scontrol show node | grep -c NodeName) $(sinfo -h -o %D) $(sbatch --test-only "$0" 2>&1 | grep -c "Job 0 to start")" 2>&1
case ${N:-1} in
1) N=2 sbatch --dependency=afterany:$SLURM_JOB_ID "$0" >/dev/null ;;
2) trap 'N=3 sbatch ${BASH_SOURCE[0]} >/dev/null; exit 0' USR1; kill -USR1 $$; sleep 60 ;;
esac
`)
	return func() {
		want := ""
		for n := range 3 {
			want += fmt.Sprintf("run %d of a user: R 1 RUNNING 4 4 1\n", n+1)
		}
		u.eventually(90*time.Second, "the third job of the chain has run", func() error {
			if text, err := os.ReadFile(file); err != nil || string(text) != want {
				return fmt.Errorf("the jobs say %q (%v), want %q", text, err, want)
			}
			return nil
		})
	}
}

// requeueFromAStep tests that the command that requeues its own job returns before the job ends. Programs that save
// their state rely on that.
func (u *slurmUser) requeueFromAStep() func() {
	file := filepath.Join(u.dir, "requeue.out")
	id := u.submit("[ -n \"$SLURM_RESTART_COUNT\" ] || srun sh -c 'scontrol requeue $SLURM_JOB_ID; echo returned $?; sleep 60'\necho run ${SLURM_RESTART_COUNT:-0}\n", "-o", file, "--open-mode=append")
	return func() {
		u.becomes(id, "COMPLETED|0:0")
		text, err := os.ReadFile(file)
		if err != nil || !strings.HasPrefix(string(text), "returned 0\n") || !strings.HasSuffix(string(text), "run 1\n") {
			u.t.Errorf("%q %v", text, err)
		}
	}
}

// mpirun tests that MPI's own launcher reaches the other pods through the hostfile and the agents, without sshd.
func (u *slurmUser) mpirun() func() {
	if _, err := exec.LookPath("mpirun"); err != nil {
		return func() {
			u.t.Run("mpirun", func(t *testing.T) { t.Skip("SKIPPED: mpirun is not installed (Debian: openmpi-bin)") })
		}
	}
	id := u.submit("pgrep -x sshd; [ $? = 1 ] && echo no daemon of ssh\nmpirun sh -c 'echo rank $OMPI_COMM_WORLD_RANK of $OMPI_COMM_WORLD_SIZE on $(hostname)'\n", "-N2", "-n4")
	return func() {
		u.becomes(id, "COMPLETED|0:0")
		name, got := u.numbered(id).Name, u.output(id)
		for rank, host := range []string{"-head-0", "-head-0", "-node-0", "-node-0"} {
			if line := fmt.Sprintf("rank %d of 4 on %s%s\n", rank, name, host); !strings.Contains(got, line) {
				u.t.Errorf("no %q in\n%s", line, got)
			}
		}
		if !strings.HasPrefix(got, "no daemon of ssh\n") { // pgrep found one, or is not installed
			u.t.Error(got)
		}
	}
}

// commandFromOutside tests that srun creates an allocation and exits with the code of the tasks.
func (u *slurmUser) commandFromOutside() {
	r := u.run("typed\n", "vcctl", "slurm", "srun", "-N2", "-l", "sh", "-c", "cat; exit $((SLURM_PROCID*4))")
	if lines := sortedLines(r.stdout); r.code != 4 || !slices.Equal(lines, []string{"0: typed", "1: typed"}) || !strings.Contains(r.stderr, "task 1: Exited with exit code 4") {
		u.t.Errorf("exit %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	if r := u.slurm("srun", "-n1", "sh", "-c", "kill -9 $$"); r.code != 137 {
		u.t.Errorf("exit %d %s", r.code, r.stderr)
	}
	if r := u.slurm("srun", "-N2", "-t", "1", "--test-only", "true"); r.code != 0 || !strings.Contains(r.stderr, "to start at") {
		u.t.Errorf("exit %d\n%s%s", r.code, r.stdout, r.stderr)
	}
}

func sortedLines(text string) []string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	slices.Sort(lines)
	return lines
}
