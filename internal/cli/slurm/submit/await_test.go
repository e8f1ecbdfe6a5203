package submit_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/api/reason"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
	"github.com/vc-batch/vc/test/slurmtest"
)

// ended gives jobs a final phase when they are created.
func ended(phase batchv1alpha1.JobPhase, status map[string]any, pods ...client.Object) func(*clitest.Server) {
	return func(server *clitest.Server) {
		slurmtest.AddProfile(server)
		server.SetObjects(pods...)
		server.OnCreate("Job", func(job map[string]any) {
			job["metadata"].(map[string]any)["labels"] = map[string]any{keys.JobID: "43"}
			all := map[string]any{"state": map[string]any{"phase": string(phase)}}
			for key, value := range status {
				all[key] = value
			}
			job["status"] = all
		})
	}
}

// headOf returns the first pod of the job that sbatch creates, ended.
func headOf(code int32, why string) client.Object {
	job := slurmtest.NewJob(43, "sbatch-x7k2p", "mei", "default", batchv1alpha1.Terminated, 0)
	return slurmtest.NewPod(job, "head", 0, "r05n07", corev1.PodFailed, slurmtest.WithExit(code, why, ""))
}

// --wait exits with the job's exit code, with the highest one for an array, and with 1 if a signal ended the job or if
// the exit code is unknown.
func TestWait(t *testing.T) {
	t.Parallel()
	array := func(codes map[string]any, failed string) map[string]any {
		return map[string]any{"array": map[string]any{"succeeded": "0-1", "failed": failed, "exitCodes": codes}}
	}
	for name, c := range map[string]struct {
		prepare func(*clitest.Server)
		words   []string
		want    int
	}{
		"it went well":                       {ended(batchv1alpha1.Completed, nil), nil, 0},
		"the script failed":                  {ended(batchv1alpha1.Terminated, nil, headOf(3, "Error")), nil, 3},
		"a signal":                           {ended(batchv1alpha1.Terminated, nil, headOf(137, "Error")), nil, 1},
		"its pods are gone":                  {ended(batchv1alpha1.Failed, nil), nil, 1},
		"all elements of an array":           {ended(batchv1alpha1.Completed, array(nil, "")), []string{"-a0-1"}, 0},
		"an element failed, and a worse one": {ended(batchv1alpha1.Completed, array(map[string]any{"2": "2", "7": "3"}, "2-3")), []string{"-a0-3"}, 7},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := clitest.Start(t, golden.ClusterObjects()...)
			c.prepare(server)
			got := batchRun("", slurmtest.HelloScript, append([]string{"-W"}, c.words...)...).RunAgainst(t, server)
			if got.Code != c.want || got.Out != "Submitted batch job 43\n" || got.Err != "" {
				t.Errorf("%+v, want %d", got, c.want)
			}
		})
	}
}

// later gives a job its number some time after its creation, as a controller does.
func later(t *testing.T, server *clitest.Server) {
	slurmtest.AddProfile(server)
	server.OnCreate("Job", func(map[string]any) {
		go func() { // the API server may still process the job
			for _, made := range server.ObjectsBelow("/apis/batch.volcano.sh/v1alpha1/namespaces/nlp/jobs") {
				numbered := &batchv1alpha1.Job{}
				if err := json.Unmarshal([]byte(asText(t, made)), numbered); err != nil {
					t.Error(err)
				}
				if numbered.Name != "sbatch-x7k2p" {
					continue
				}
				numbered.Labels = map[string]string{keys.JobID: "44"}
				server.SetObjects(numbered)
			}
		}()
	})
}

func TestTheNumberMayComeLater(t *testing.T) {
	t.Parallel()
	server := clitest.Start(t, golden.ClusterObjects()...)
	later(t, server)
	if got := batchRun("", slurmtest.HelloScript).RunAgainst(t, server); got != (golden.Result{Out: "Submitted batch job 44\n"}) {
		t.Errorf("%+v", got)
	}
}

// If the user may not read jobs, sbatch prints the name of the job and does not repeat its requests.
func TestWhoMayNotLookDoesNotAskWithoutEnd(t *testing.T) {
	t.Parallel()
	server := clitest.Start(t, golden.ClusterObjects()...)
	slurmtest.AddProfile(server)
	server.OnCreate("Job", func(map[string]any) {})
	server.RejectRequests("GET", "/apis/batch.volcano.sh/v1alpha1/namespaces/nlp/jobs", 403, metav1.StatusReasonForbidden, "jobs.batch.volcano.sh is forbidden")
	if got := batchRun("", slurmtest.HelloScript).RunAgainst(t, server); got.Code != 0 || got.Out != "Submitted batch job sbatch-x7k2p\n" {
		t.Errorf("%+v", got)
	}
	if asked := len(server.Requests()); asked > 60 {
		t.Errorf("%d requests in 2 s", asked)
	}
}

// If the job controller assigns no numbers, a job that any controller can run is submitted by name. Other jobs are not
// submitted.
func TestWithoutNumbers(t *testing.T) {
	t.Parallel()
	const hint = "sbatch: hint: the controller accepted the job but did not assign a number, so it is not vc's job controller\n"
	for word, want := range map[string]golden.Result{
		"-Jx":           {Out: "Submitted batch job x-x7k2p\n", Err: "sbatch: warning: the job has no number after 2s: this cluster does not assign job numbers, or vc's job controller is not running; use the job name instead\n"},
		"-a0-3":         {Out: "Submitted batch job sbatch-x7k2p\n", Err: "sbatch: warning: the job has no number after 2s: this cluster does not assign job numbers, or vc's job controller is not running; use the job name instead\n"},
		"-a0-15%4":      {Err: "sbatch: error: Batch job submission failed: this cluster's job controller cannot limit the number of running array tasks; remove %4\n" + hint, Code: 1},
		"-H":            {Err: "sbatch: error: Batch job submission failed: this cluster's job controller cannot delay jobs; remove --hold\n" + hint, Code: 1},
		"--begin=now+1": {Err: "sbatch: error: Batch job submission failed: this cluster's job controller cannot delay jobs; remove --begin\n" + hint, Code: 1},
		"-dafterok:1":   {Err: "sbatch: error: Batch job submission failed: this cluster's job controller cannot delay jobs; remove --dependency\n" + hint, Code: 1},
	} {
		t.Run(word, func(t *testing.T) {
			t.Parallel()
			server := clitest.Start(t, golden.ClusterObjects()...)
			slurmtest.AddProfile(server)
			server.OnCreate("Job", func(job map[string]any) {
				job["status"] = map[string]any{"state": map[string]any{"phase": "Pending"}}
			})
			got := batchRun("", slurmtest.HelloScript, word).RunAgainst(t, server)
			if got != want {
				t.Errorf("%+v, want %+v", got, want)
			}
			nothingWasBegun(t, server, want.Code)
		})
	}
}

const jobsOfTeam = "/apis/batch.volcano.sh/v1alpha1/namespaces/nlp/jobs"

// nothingWasBegun checks that a failed submission left no objects.
func nothingWasBegun(t *testing.T, server *clitest.Server, code int) {
	t.Helper()
	if code == 0 {
		return
	}
	if maps := server.CreatedObjects("ConfigMap"); len(maps) > 0 {
		t.Errorf("pods could start: %v", maps)
	}
	for _, job := range server.ObjectsBelow(jobsOfTeam) {
		if name, _ := job["metadata"].(map[string]any)["name"].(string); strings.HasSuffix(name, "-x7k2p") {
			t.Errorf("job %s is there", name)
		}
	}
}

// onceAsked calls a function after a number of requests for a job.
func onceAsked(t *testing.T, server *clitest.Server, times int, what func()) {
	stop, stopped := make(chan struct{}), make(chan struct{})
	t.Cleanup(func() { close(stop); <-stopped })
	go func() {
		defer close(stopped)
		for {
			asked := 0
			for _, request := range server.Requests() {
				if strings.HasPrefix(request, "GET "+jobsOfTeam+"/") {
					asked++
				}
			}
			if asked >= times {
				what()
				return
			}
			select {
			case <-stop:
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
}

// made returns the current version of the job created last.
func made(t *testing.T, server *clitest.Server) *batchv1alpha1.Job {
	t.Helper()
	job := &batchv1alpha1.Job{}
	for _, one := range server.CreatedObjects("Job") {
		if err := json.Unmarshal([]byte(asText(t, one)), job); err != nil {
			t.Error(err)
		}
	}
	return job
}

// No controller processes the job, because it restarts. sbatch waits for it and does not report that the controller
// cannot run the job.
func TestTheControllerIsAway(t *testing.T) {
	t.Parallel()
	const note = "sbatch: note: no job controller accepted the job within 2s; waiting another 5s\n"
	comes := func(change func(*batchv1alpha1.Job)) func(*testing.T, *clitest.Server) {
		return func(t *testing.T, server *clitest.Server) {
			onceAsked(t, server, 1, func() { job := made(t, server); change(job); server.SetObjects(job) })
		}
	}
	for name, c := range map[string]struct {
		prepare func(*testing.T, *clitest.Server)
		word    string
		want    golden.Result
	}{
		"it comes back": {comes(func(job *batchv1alpha1.Job) {
			job.Labels = map[string]string{keys.JobID: "44"}
		}), "-H", golden.Result{Out: "Submitted batch job 44\n", Err: note}},
		"it comes back and has no numbers to give": {comes(func(job *batchv1alpha1.Job) {
			job.Status.State = batchv1alpha1.JobState{Phase: batchv1alpha1.Pending, Reason: string(reason.JobHeldUser)}
		}), "-H", golden.Result{Out: "Submitted batch job sbatch-x7k2p\n", Err: note + "sbatch: warning: the job has no number after 2s: this cluster does not assign job numbers, or vc's job controller is not running; use the job name instead\n"}},
		"it does not come": {func(*testing.T, *clitest.Server) {}, "-dafterok:1", golden.Result{Code: 1, Err: note +
			"sbatch: error: Batch job submission failed: no job controller accepted the job within 7s\nsbatch: hint: the job was deleted before any pod ran; submit it again when vc's job controller is running\n"}},
		"the job may not be looked at": {func(_ *testing.T, server *clitest.Server) {
			server.RejectRequests("GET", jobsOfTeam, 403, metav1.StatusReasonForbidden, "jobs.batch.volcano.sh is forbidden")
		}, "-a0-15%4", golden.Result{Code: 1, Err: "sbatch: error: Batch job submission failed: cannot determine whether this cluster's job controller can limit the number of running array tasks\n" +
			"sbatch: hint: the job was deleted because you are not allowed to read jobs in namespace nlp\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := clitest.Start(t, golden.ClusterObjects()...)
			slurmtest.AddProfile(server)
			server.OnCreate("Job", func(map[string]any) {})
			c.prepare(t, server)
			if got := batchRun("", slurmtest.HelloScript, c.word).RunAgainst(t, server); got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
			nothingWasBegun(t, server, c.want.Code)
		})
	}
}

// The API server restarts while a command waits for a job. The command still reports the end of the job.
func TestTheEndIsSeenAfterTheServerWasAway(t *testing.T) {
	t.Parallel()
	const away43 = "sbatch: warning: job 43 cannot currently be read; still waiting: the server restarts\n"
	away := func(t *testing.T, server *clitest.Server, then func(*batchv1alpha1.Job)) {
		server.RejectRequests("GET", jobsOfTeam, 500, metav1.StatusReasonInternalError, "the server restarts")
		onceAsked(t, server, 2, func() {
			job := made(t, server)
			then(job)
			server.PermitRequests("GET", jobsOfTeam)
		})
	}
	for name, c := range map[string]struct {
		line, script string
		phase        batchv1alpha1.JobPhase
		code         int
		out, err     string
	}{
		"sbatch --wait":                         {"sbatch -Q -o /dev/null -W", slurmtest.HelloScript, batchv1alpha1.Completed, 0, "", away43},
		"salloc, and the job was cancelled":     {"salloc -Q", "", batchv1alpha1.Terminated, 1, "", "salloc: error: Job allocation 43 has been revoked: the state of the job is Terminated\n"},
		"srun, and the job was cancelled":       {"srun -Q hostname", "", batchv1alpha1.Terminated, 1, "", "srun: error: Job allocation 43 has been revoked: the state of the job is Terminated\n"},
		"srun, and the job was deleted":         {"srun -Q hostname", "", "", 1, "", "srun: error: Job allocation 43 has been revoked: job 43 was deleted\nsrun: hint: sacct -j 43 shows the record of the job; run the command again to retry\n"},
		"sbatch --wait, and the job is deleted": {"sbatch -Q -o /dev/null -W", slurmtest.HelloScript, "", 1, "", away43 + "sbatch: error: job 43 was deleted\nsbatch: hint: submit it again\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := clitest.Start(t, golden.ClusterObjects()...)
			slurmtest.AddProfile(server)
			away(t, server, func(job *batchv1alpha1.Job) {
				if c.phase == "" {
					server.RemoveObject(job)
					return
				}
				job.Status.State.Phase = c.phase
				server.SetObjects(job)
			})
			got := golden.Run{Argv: strings.Fields("slurm " + c.line), Input: c.script, Env: map[string]string{"PATH": "/bin"}}.RunAgainst(t, server)
			if want := (golden.Result{Out: c.out, Err: c.err, Code: c.code}); got != want {
				t.Errorf("%+v, want %+v", got, want)
			}
		})
	}
}

// Slurm's commands continue to wait while the API server is unavailable for a short time. They tell the user once when
// it becomes unavailable and once when it answers again.
func TestWaitingCommandsOutlastAnAPIServerThatIsAway(t *testing.T) {
	t.Parallel()
	waiting := slurmtest.NewJob(81, "waiting", "mei", "default", batchv1alpha1.Pending, time.Minute)
	for name, c := range map[string]struct {
		args  string
		phase batchv1alpha1.JobPhase
		code  int
		want  string
	}{
		"sbatch --wait":                 {"sbatch -o /dev/null -W --wrap true", batchv1alpha1.Completed, 0, "Submitted batch job"},
		"salloc of a job that ends":     {"salloc", batchv1alpha1.Terminated, 1, "has been revoked: the state of the job is Terminated"},
		"srun of a job that ends":       {"srun hostname", batchv1alpha1.Terminated, 1, "has been revoked: the state of the job is Terminated"},
		"scontrol wait_job that runs":   {"scontrol wait_job 81", batchv1alpha1.Running, 0, ""},
		"scontrol wait_job that failed": {"scontrol wait_job 81", batchv1alpha1.Failed, 1, "Job 81 is no longer running"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := clitest.Start(t, golden.ClusterObjects()...)
			slurmtest.AddProfile(server)
			server.SetObjects(waiting)
			out, _, done := golden.Start(t, server, append([]string{"slurm"}, strings.Fields(c.args)...)...)
			if strings.HasPrefix(c.args, "sbatch") {
				out.WaitFor(t, c.want)
			}
			server.WaitForWatch(t)
			server.StartOutage()
			out.WaitFor(t, "the API server is not responding")
			server.EndOutage()
			out.WaitFor(t, "the API server is responding again")
			job := waiting.DeepCopy()
			if !strings.HasPrefix(c.args, "scontrol") {
				job = made(t, server)
			}
			job.Status.State.Phase = c.phase
			server.SetObjects(job)
			select {
			case code := <-done:
				if code != c.code || !strings.Contains(out.String(), c.want) || strings.Count(out.String(), "is not responding") != 1 {
					t.Errorf("it ends with %d, want %d and %q:\n%s", code, c.code, c.want, out)
				}
			case <-time.After(15 * time.Second):
				t.Fatalf("it does not end:\n%s", out)
			}
		})
	}
}
