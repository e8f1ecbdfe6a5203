package job_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
)

// replaced returns an editor that replaces texts: the first pair when it opens the first time, the second pair the
// second time.
func replaced(pairs ...string) func(string) string {
	look := 0
	return func(text string) string {
		if 2*look+1 >= len(pairs) {
			return text
		}
		look++
		return strings.Replace(text, pairs[2*look-2], pairs[2*look-1], 1)
	}
}

// several adds a second task to the job train.
func several(s *clitest.Server) {
	train := golden.NewJob("train", "research", batchv1alpha1.Running, 2*time.Hour)
	train.Spec.Tasks[0].Replicas, train.Spec.MinAvailable = 3, 4
	least := int32(3)
	train.Spec.Tasks[0].MinAvailable = &least
	master := *train.Spec.Tasks[0].DeepCopy()
	master.Name, master.Replicas, master.MinAvailable = "master", 1, nil
	train.Spec.Tasks = append(train.Spec.Tasks, master)
	s.SetObjects(train)
}

// withSlurm makes the job done a job from sbatch.
func withSlurm(s *clitest.Server) {
	done := golden.NewJob("done", "default", batchv1alpha1.Completed, 26*time.Hour)
	done.Labels, done.Annotations = map[string]string{keys.JobID: "42"}, map[string]string{keys.Slurm: "{}"}
	s.SetObjects(done)
}

// arrayed makes the job train an array of three elements in partitions of one task.
func arrayed(s *clitest.Server) {
	train := golden.NewJob("train", "research", batchv1alpha1.Running, 2*time.Hour)
	train.Annotations = map[string]string{keys.Array: "0-2"}
	train.Spec.Tasks[0].Replicas = 3
	s.SetObjects(train)
}

func partitioned(s *clitest.Server) {
	train := golden.NewJob("train", "research", batchv1alpha1.Running, 2*time.Hour)
	train.Spec.Tasks[0].Replicas = 4
	train.Spec.Tasks[0].PartitionPolicy = &batchv1alpha1.PartitionPolicySpec{TotalPartitions: 2, PartitionSize: 2}
	least := int32(2)
	train.Spec.Tasks[0].MinAvailable = &least
	s.SetObjects(train)
}

// holds checks a field of a job in the namespace nlp.
func holds(name, want string, path ...string) func(*testing.T, *clitest.Server) {
	return func(t *testing.T, s *clitest.Server) {
		t.Helper()
		for _, object := range s.ObjectsBelow(jobPath) {
			if object["metadata"].(map[string]any)["name"] == name {
				if got := golden.FieldText(object, path...); got != want {
					t.Errorf("%s of job %s is %q, want %q", strings.Join(path, "."), name, got, want)
				}
				return
			}
		}
		t.Errorf("there is no job %s", name)
	}
}

func TestJobRerunGolden(t *testing.T) {
	t.Parallel()
	named := golden.NewJob("done-2", "default", batchv1alpha1.Running, time.Hour)
	golden.CompareRuns(t, "rerun", []golden.Run{
		{About: "a job that has ended", Args: "job rerun done", Check: holds("done-2", "done", "metadata", "annotations", keys.RerunOf)},
		{About: "a job that runs", Args: "job rerun train", Check: holds("train-2", "3", "spec", "minAvailable")},
		{About: "the name is taken", Args: "job rerun done", Prepare: func(s *clitest.Server) { s.SetObjects(named) }, Check: holds("done-3", "default", "spec", "queue")},
		{About: "by the way kubectl names jobs", Args: "job rerun jobs.batch.volcano.sh/done -o name"},
		{About: "in another queue, later", Args: "job rerun done --name second --queue research --labels a=b --begin 2h --after train", Check: holds("second", "afterok:train", "metadata", "annotations", keys.Dependency)},
		{About: "held", Args: "job rerun done --hold", Check: holds("done-2", "user", "metadata", "annotations", keys.Hold)},
		{About: "what would be sent", Args: "job rerun done --dry-run=client -o yaml", Check: golden.CheckStored(jobPath, 6)},
		{About: "of a job of sbatch", Args: "job rerun done", Prepare: withSlurm},
		{About: "a queue that is not there", Args: "job rerun done --queue reserch"},
		{About: "a time that is none", Args: "job rerun done --begin soon"},
		{About: "a dependency that is none", Args: "job rerun done --after later:train"},
		{About: "two jobs", Args: "job rerun done train"},
		{About: "no job", Args: "job rerun"},
	})
}

func TestJobScaleGolden(t *testing.T) {
	t.Parallel()
	golden.CompareRuns(t, "scale", []golden.Run{
		{About: "more pods", Args: "job scale train --replicas 5", Check: holds("train", "5", "spec", "tasks", "0", "replicas")},
		{About: "the number without its flag", Args: "job scale train 5"},
		{About: "the number of a task without its flags", Args: "job scale train worker=5"},
		{About: "fewer than the job needs", Args: "job scale train --replicas 2"},
		{About: "fewer, of which fewer are needed", Args: "job scale train --replicas 2 --min-available 1", Check: holds("train", "1", "spec", "minAvailable")},
		{About: "the same pods, fewer needed", Args: "job scale train --min-available 2", Check: holds("train", "2", "spec", "minAvailable")},
		{About: "a task of several", Args: "job scale train --task worker --replicas 6 --min-available 4", Prepare: several, Check: holds("train", "5", "spec", "minAvailable")},
		{About: "no task of several", Args: "job scale train --replicas 6", Prepare: several},
		{About: "a task that is not there", Args: "job scale train --task wrker --replicas 6", Prepare: several},
		{About: "a task that needs more", Args: "job scale train --task worker --replicas 2", Prepare: several},
		{About: "more needed than there are", Args: "job scale train --min-available 7"},
		{About: "more than any job may have", Args: "job scale train --replicas 2000000"},
		{About: "less than none", Args: "job scale train --replicas=-1"},
		{About: "whole partitions", Args: "job scale train --replicas 6", Prepare: partitioned, Check: holds("train", "3", "spec", "tasks", "0", "partitionPolicy", "totalPartitions")},
		{About: "half a partition", Args: "job scale train --replicas 5", Prepare: partitioned},
		{About: "an array", Args: "job scale train --replicas 5", Prepare: arrayed},
		{About: "a job that has ended", Args: "job scale done --replicas 5"},
		{About: "another number than expected", Args: "job scale train --replicas 5 --current-replicas 4"},
		{About: "the expected number", Args: "job scale train --replicas 5 --current-replicas 3 --dry-run=client", Check: holds("train", "3", "spec", "tasks", "0", "replicas")},
		{About: "nothing to change", Args: "job scale train"},
	})
}

// inTemp gives the test its own directory for temporary files; left returns the contents of the remaining files.
func inTemp(t *testing.T) (left func() []string) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	return func() []string {
		names, err := filepath.Glob(filepath.Join(dir, "vcctl-edit-*"))
		if err != nil {
			t.Fatal(err)
		}
		var texts []string
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			texts = append(texts, string(text))
		}
		return texts
	}
}

func TestAnEditIsSentOrKept(t *testing.T) {
	for name, tc := range map[string]struct {
		editor  func(string) string
		prepare func(*clitest.Server)
		code    int
		// err is part of the standard error output, kept part of the saved copy of the text; "" means no copy.
		err, kept string
		check     func(*testing.T, *clitest.Server)
	}{
		"a change is sent": {
			editor: replaced("minAvailable: 3", "minAvailable: 2"), check: holds("train", "2", "spec", "minAvailable"),
		},
		"nothing changed": {err: "edit cancelled: nothing was changed"},
		"an empty file":   {editor: func(string) string { return "" }, err: "edit cancelled: nothing was changed"},
		"a text that cannot be read opens again": {
			editor: replaced("minAvailable: 3", "minAvailable: [", "minAvailable: [", "minAvailable: 1"), check: holds("train", "1", "spec", "minAvailable"),
		},
		"what may not change opens again": {
			editor: replaced("image: busybox", "image: other", "image: other", "image: busybox\n# nothing else"), err: "edit cancelled",
			check: holds("train", "busybox", "spec", "tasks", "0", "template", "spec", "containers", "0", "image"),
		},
		"an error that stays is told, and the text kept": {
			editor: replaced("image: busybox", "image: other"), code: 1, err: "job updates may not change fields", kept: "image: other",
			check: holds("train", "busybox", "spec", "tasks", "0", "template", "spec", "containers", "0", "image"),
		},
		"a misspelt field": {
			editor: replaced("minAvailable: 3", "minAvailble: 2"), code: 1, err: "unknown field", kept: `did you mean "minAvailable"?`,
		},
		"another name": {
			editor: replaced("name: train", "name: other"), code: 1, err: "metadata.name", kept: "name: other",
		},
		"what the server refuses opens again": {
			editor: replaced("minAvailable: 3", "minAvailable: 2"), code: 1, err: "no, says the webhook", kept: "minAvailable: 2",
			prepare: func(s *clitest.Server) {
				s.RejectRequests("PATCH", jobPath, 400, "BadRequest", `admission webhook "x" denied the request: no, says the webhook`)
			},
		},
		"the server fails": {
			editor: replaced("minAvailable: 3", "minAvailable: 2"), code: 4, err: "forbidden", kept: "minAvailable: 2",
			prepare: func(s *clitest.Server) { s.RejectRequests("PATCH", jobPath, 403, "Forbidden", "jobs is forbidden") },
		},
	} {
		t.Run(name, func(t *testing.T) {
			left := inTemp(t)
			server := clitest.Start(t, golden.ClusterObjects()...)
			if tc.prepare != nil {
				tc.prepare(server)
			}
			got := golden.Run{Args: "job edit train", Editor: tc.editor}.RunAgainst(t, server)
			if got.Code != tc.code || !strings.Contains(got.Err, tc.err) {
				t.Errorf("exit %d, want %d and %q: %s%s", got.Code, tc.code, tc.err, got.Out, got.Err)
			}
			texts := left()
			if tc.kept == "" && len(texts) > 0 || tc.kept != "" && (len(texts) != 1 || !strings.Contains(texts[0], tc.kept) || !strings.Contains(got.Err, "a copy of your text was saved to ")) {
				t.Errorf("left %q, want %q; %s", texts, tc.kept, got.Err)
			}
			if tc.check != nil {
				tc.check(t, server)
			}
		})
	}
}

// Others change the job while it is edited. Their changes stay, unless they concern the same field; then the user
// decides.
func TestAnEditMeetsAnother(t *testing.T) {
	for name, tc := range map[string]struct {
		other func(*batchv1alpha1.Job)
		// again is the user's change when the editor opens the second time.
		again func(string) string
		code  int
		want  map[string]string
	}{
		"another field": {
			other: func(job *batchv1alpha1.Job) { job.Spec.PriorityClassName = "high" },
			want:  map[string]string{"minAvailable": "2", "priorityClassName": "high"},
		},
		"only its status": {
			other: func(job *batchv1alpha1.Job) { job.Status.Running = 2 }, want: map[string]string{"minAvailable": "2"},
		},
		"the same field, and the user gives up": {
			other: func(job *batchv1alpha1.Job) { job.Spec.MinAvailable = 1 }, code: 1, want: map[string]string{"minAvailable": "1"},
		},
		"the same field, and the user insists": {
			other: func(job *batchv1alpha1.Job) { job.Spec.MinAvailable = 1 },
			again: func(text string) string {
				_, rest, _ := strings.Cut(text, "and save")
				return "# gone" + rest
			},
			want: map[string]string{"minAvailable": "2"},
		},
		"the same value": {
			other: func(job *batchv1alpha1.Job) { job.Spec.MinAvailable = 2 }, want: map[string]string{"minAvailable": "2"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			left := inTemp(t)
			server := clitest.Start(t, golden.ClusterObjects()...)
			look := 0
			got := golden.Run{Args: "job edit train", Editor: func(text string) string {
				look++
				switch {
				case look == 1:
					train := golden.NewJob("train", "research", batchv1alpha1.Running, 2*time.Hour)
					train.Spec.Tasks[0].Replicas, train.Spec.MinAvailable = 3, 3
					train.Spec.Plugins = map[string][]string{"svc": {}, "env": {}}
					tc.other(train)
					server.SetObjects(train)
					return strings.Replace(text, "minAvailable: 3", "minAvailable: 2", 1)
				case tc.again != nil:
					return tc.again(text)
				}
				return text
			}}.RunAgainst(t, server)
			if got.Code != tc.code {
				t.Errorf("exit %d, want %d: %s", got.Code, tc.code, got.Err)
			}
			for field, want := range tc.want {
				holds("train", want, "spec", field)(t, server)
			}
			if n := len(left()); n != tc.code {
				t.Errorf("%d copies are left", n)
			}
		})
	}
}
