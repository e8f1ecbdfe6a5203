package clusterdata_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/joblist/jobsummary"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
	"github.com/vc-batch/vc/test/slurmtest"
)

// objectsOf returns the objects of a kind that a server stores.
func objectsOf[T any](t *testing.T, server *clitest.Server, path string) []*T {
	t.Helper()
	var all []*T
	for _, object := range server.ObjectsBelow(path) {
		text, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		one := new(T)
		if err := json.Unmarshal(text, one); err != nil {
			t.Fatal(err)
		}
		all = append(all, one)
	}
	return all
}

// daemon answers as vcd does for the objects of a server. It cuts the answer off after a number of bytes; a negative
// number means the whole answer.
func daemon(t *testing.T, server *clitest.Server, namespace string, cut int) http.Handler {
	jobs, groups := "/apis/batch.volcano.sh/v1alpha1/jobs", "/apis/scheduling.volcano.sh/v1beta1/podgroups"
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		wanted := r.URL.Query().Get(jobsummary.Pods)
		q := jobsummary.Query{Namespace: namespace, Pods: wanted != "", Ended: wanted == jobsummary.PodsAll}
		all := slices.DeleteFunc(objectsOf[batchv1alpha1.Job](t, server, jobs), func(job *batchv1alpha1.Job) bool { return namespace != "" && job.Namespace != namespace })
		var stream []byte
		for _, entry := range jobsummary.JoinEntries(q, all, objectsOf[schedulingv1beta1.PodGroup](t, server, groups), objectsOf[corev1.Pod](t, server, "/api/v1/pods")) {
			parts, err := jobsummary.EncodeParts(entry)
			if err != nil {
				t.Error(err)
			}
			stream = jobsummary.AppendEntry(stream, parts...)
		}
		stream = jobsummary.AppendEnd(stream, len(all))
		if cut >= 0 {
			stream = stream[:cut]
		}
		w.Header().Set("Content-Type", jobsummary.ContentType)
		_, _ = w.Write(stream)
	})
}

// lists are commands that list jobs without naming them.
var lists = []string{
	"squeue", "squeue -l", "squeue --start", "squeue -r", "squeue -t all -r", "squeue -s", "squeue -t all --json", "squeue --namespace nlp -t all",
	"squeue -h -t all -o %all", "squeue -t CA,timeout,f,s,CD -S i", "squeue -w r05n[08-09] -h", "squeue -o %i|%j|%u", "squeue -u mei -t all -o %i|%t|%r|%R|%S|%e|%l|%C|%m|%o|%Z",
	"squeue -t all -O JobID,exit_code", "sacct", "sacct -a", "sacct -X -a -S 06:00 -s F,CA,TO", "sacct -a -l -P", "sacct -a --array -X", "sacct -a --json", "sacct -a -N r05n08 -o JobID,State,ExitCode,MaxRSS,TotalCPU,NodeList",
	"sacct --namespace nlp -a -b",
}

// With all options, squeue and sacct print the same from the daemon's answer as from the API server, and do not list
// jobs when the daemon answers.
func TestListsSayTheSameOfWhatTheDaemonTells(t *testing.T) {
	t.Parallel()
	for _, words := range lists {
		t.Run(words, func(t *testing.T) {
			t.Parallel()
			run := golden.Run{Argv: append([]string{"slurm"}, strings.Fields(words)...), Env: map[string]string{"USER": "mei"}}
			start := func() *clitest.Server {
				server := clitest.Start(t, golden.ClusterObjects()...)
				slurmtest.AddJobs(server)
				return server
			}
			want := run.RunAgainst(t, start())
			server := start()
			server.HandlePath(jobsummary.ListPathFor(""), daemon(t, server, "", -1))
			server.HandlePath(jobsummary.ListPathFor("nlp"), daemon(t, server, "nlp", -1))
			if got := run.RunAgainst(t, server); got != want || want.Code != 0 || want.Out == "" {
				t.Errorf("exit %d\n%s%s\nread itself: exit %d\n%s%s", got.Code, got.Out, got.Err, want.Code, want.Out, want.Err)
			}
			for _, request := range server.Requests() {
				if strings.Contains(request, "v1alpha1/jobs") || strings.Contains(request, "podgroups") || strings.Contains(request, "/api/v1/pods") {
					t.Errorf("was read besides: %s", request)
				}
			}
		})
	}
}

// The number of an element is found in the daemon's answer. The array itself is read from the API server, without a
// list of all jobs.
func TestTheNumberOfAnElementIsLookedForInWhatTheDaemonTells(t *testing.T) {
	t.Parallel()
	for words, code := range map[string]int{"squeue -h -r -j 46 -o %i|%A": 0, "squeue -h -t all -j 999999": 1} {
		run := golden.Run{Argv: append([]string{"slurm"}, strings.Fields(words)...), Env: map[string]string{"USER": "mei"}}
		server := clitest.Start(t, golden.ClusterObjects()...)
		slurmtest.AddJobs(server)
		want := run.RunAgainst(t, server)
		before := len(server.Requests())
		server.HandlePath(jobsummary.ListPathFor(""), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !r.URL.Query().Has(jobsummary.Arrays) {
				t.Errorf("%s: arrays alone are enough: %s", words, r.URL)
			}
			daemon(t, server, "", -1).ServeHTTP(w, r)
		}))
		if got := run.RunAgainst(t, server); got != want || want.Code != code {
			t.Errorf("%s: exit %d\n%s%s\nread itself: exit %d\n%s%s", words, got.Code, got.Out, got.Err, want.Code, want.Out, want.Err)
		}
		lists := 0
		for _, request := range server.Requests()[before:] {
			if strings.HasSuffix(request, "v1alpha1/jobs") {
				lists++
			}
		}
		if lists != 1 {
			t.Errorf("%s: jobs were listed %d times, want once, by their numbers", words, lists)
		}
	}
}

// If the daemon does not answer, or its answer is incomplete, lists are read from the API server without a note.
func TestListsReadThemselvesWhatTheDaemonDoesNotTell(t *testing.T) {
	t.Parallel()
	for name, ill := range map[string]func(*clitest.Server){
		"it is not there": func(*clitest.Server) {},
		"nothing is in memory yet": func(s *clitest.Server) {
			s.RejectRequests("GET", jobsummary.ListPathFor(""), 503, metav1.StatusReasonServiceUnavailable, "no")
		},
		"too many ask it": func(s *clitest.Server) {
			s.HandlePath(jobsummary.ListPathFor(""), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Retry-After", "1")
				http.Error(w, "as many lists are under way as there may be", http.StatusTooManyRequests)
			}))
		},
		"the user may not ask it": func(s *clitest.Server) {
			s.RejectRequests("GET", jobsummary.ListPathFor(""), 403, metav1.StatusReasonForbidden, "no")
		},
		"another version of it": func(s *clitest.Server) {
			s.RejectRequests("GET", jobsummary.ListPathFor(""), 406, metav1.StatusReasonNotAcceptable, "no")
		},
		"it tells nothing":      func(s *clitest.Server) { s.HandlePath(jobsummary.ListPathFor(""), daemon(t, s, "", 0)) },
		"it ends in the middle": func(s *clitest.Server) { s.HandlePath(jobsummary.ListPathFor(""), daemon(t, s, "", 5000)) },
		"it breaks off the connection": func(s *clitest.Server) {
			s.HandlePath(jobsummary.ListPathFor(""), http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
		},
	} {
		for _, words := range []string{"squeue -t all -O JobID,StateCompact,ReasonList,exit_code", "sacct -a -P -o JobID,State,ExitCode,MaxRSS"} {
			t.Run(name+": "+words, func(t *testing.T) {
				t.Parallel()
				run := golden.Run{Argv: append([]string{"slurm"}, strings.Fields(words)...), Env: map[string]string{"USER": "mei"}}
				server := clitest.Start(t, golden.ClusterObjects()...)
				slurmtest.AddJobs(server)
				want := run.RunAgainst(t, server)
				ill(server)
				if got := run.RunAgainst(t, server); got != want || want.Code != 0 || want.Err != "" {
					t.Errorf("exit %d\n%s%s\nwithout it: exit %d\n%s%s", got.Code, got.Out, got.Err, want.Code, want.Out, want.Err)
				}
			})
		}
	}
}

// If the daemon sends a job again because it changed, data of its earlier version is dropped.
func TestAJobThatIsToldAgainIsAsItWasToldLast(t *testing.T) {
	t.Parallel()
	run := golden.Run{Argv: strings.Fields("slurm squeue -h -t all -o %i|%t|%R"), Env: map[string]string{"USER": "mei"}}
	ask := func(before bool) golden.Result {
		server := clitest.Start(t, golden.ClusterObjects()...)
		slurmtest.AddJobs(server)
		jobs, groups := objectsOf[batchv1alpha1.Job](t, server, "/apis/batch.volcano.sh/v1alpha1/jobs"), objectsOf[schedulingv1beta1.PodGroup](t, server, "/apis/scheduling.volcano.sh/v1beta1/podgroups")
		var entries []jobsummary.Entry
		if before {
			entries = jobsummary.JoinEntries(jobsummary.Query{Pods: true, Ended: true}, jobs, groups, objectsOf[corev1.Pod](t, server, "/api/v1/pods"))
		}
		for _, job := range jobs {
			entries = append(entries, jobsummary.Entry{Job: job})
		}
		var stream []byte
		for _, entry := range entries {
			parts, err := jobsummary.EncodeParts(entry)
			if err != nil {
				t.Fatal(err)
			}
			stream = jobsummary.AppendEntry(stream, parts...)
		}
		stream = jobsummary.AppendEnd(stream, len(entries))
		server.HandlePath(jobsummary.ListPathFor(""), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", jobsummary.ContentType)
			_, _ = w.Write(stream)
		}))
		return run.RunAgainst(t, server)
	}
	if got, want := ask(true), ask(false); got != want || want.Code != 0 || want.Out == "" {
		t.Errorf("exit %d\n%s%s\ntold once: exit %d\n%s%s", got.Code, got.Out, got.Err, want.Code, want.Out, want.Err)
	}
}

// marks returns the annotations of all jobs of a server, and the Commands for these jobs.
func marks(t *testing.T, server *clitest.Server) []string {
	t.Helper()
	var all []string
	for _, job := range objectsOf[batchv1alpha1.Job](t, server, "/apis/batch.volcano.sh/v1alpha1/jobs") {
		text, err := json.Marshal(job.Annotations)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, job.Namespace+"/"+job.Name+" "+string(text))
	}
	for _, command := range server.CreatedObjects("Command") {
		all = append(all, command["action"].(string)+" "+command["target"].(map[string]any)["name"].(string))
	}
	slices.Sort(all)
	return all
}

// With filters, scancel finds the same jobs and elements in the daemon's answer as in its own lists, and does not list
// jobs. For arrays it reads the resource version, which the daemon does not send.
func TestScancelFindsTheSameInWhatTheDaemonTells(t *testing.T) {
	t.Parallel()
	for _, words := range []string{
		"scancel -v -u ann -t PENDING", "scancel -v --me", "scancel -n sweep -t RUNNING", "scancel --me -t PD -v", "scancel -n sweep -w r05n08", "scancel --me -p research", "scancel -A none",
		"scancel --purge -n held", "scancel --namespace nlp -u ann -v", "scancel -u nobody",
	} {
		t.Run(words, func(t *testing.T) {
			t.Parallel()
			run := golden.Run{Argv: append([]string{"slurm"}, strings.Fields(words)...), Env: map[string]string{"USER": "mei"}}
			start := func() *clitest.Server {
				server := clitest.Start(t, golden.ClusterObjects()...)
				slurmtest.AddJobs(server)
				return server
			}
			alone, server := start(), start()
			server.HandlePath(jobsummary.ListPathFor(""), daemon(t, server, "", -1))
			server.HandlePath(jobsummary.ListPathFor("nlp"), daemon(t, server, "nlp", -1))
			want, got := run.RunAgainst(t, alone), run.RunAgainst(t, server)
			if got != want || want.Code != 0 {
				t.Errorf("exit %d\n%s%s\nread itself: exit %d\n%s%s", got.Code, got.Out, got.Err, want.Code, want.Out, want.Err)
			}
			if diff := cmp.Diff(marks(t, alone), marks(t, server)); diff != "" {
				t.Errorf("(-read itself +told)\n%s", diff)
			}
			bodies := server.Bodies()
			for i, request := range server.Requests() {
				if strings.HasPrefix(request, "GET") && strings.HasSuffix(request, "/jobs") {
					t.Errorf("was read besides: %s", request)
				}
				if strings.Contains(bodies[i], keys.ArrayCancelled) && !strings.Contains(bodies[i], `"resourceVersion":"`) || strings.Contains(bodies[i], `"resourceVersion":""`) {
					t.Errorf("whatever others do meanwhile is undone: %s", bodies[i])
				}
			}
		})
	}
}

// Signals and steps need whole pods, which the daemon does not send. So scancel reads pods and jobs from the API
// server.
func TestSignalsAreSentByWhatIsRead(t *testing.T) {
	t.Parallel()
	server := clitest.Start(t, golden.ClusterObjects()...)
	slurmtest.AddJobs(server)
	server.HandlePath(jobsummary.ListPathFor(""), http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the daemon was asked") }))
	golden.Run{Argv: strings.Fields("slurm scancel -s USR1 --me -t PD"), Env: map[string]string{"USER": "mei"}}.RunAgainst(t, server)
}
