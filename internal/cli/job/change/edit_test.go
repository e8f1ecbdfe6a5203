package change_test

import (
	"strings"
	"testing"
	"time"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
)

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
			editor: golden.ReplaceInEditor("minAvailable: 3", "minAvailable: 2"), check: golden.CheckJobField("train", "2", "spec", "minAvailable"),
		},
		"nothing changed": {err: "edit cancelled: nothing was changed"},
		"an empty file":   {editor: func(string) string { return "" }, err: "edit cancelled: nothing was changed"},
		"a text that cannot be read opens again": {
			editor: golden.ReplaceInEditor("minAvailable: 3", "minAvailable: [", "minAvailable: [", "minAvailable: 1"), check: golden.CheckJobField("train", "1", "spec", "minAvailable"),
		},
		"what may not change opens again": {
			editor: golden.ReplaceInEditor("image: busybox", "image: other", "image: other", "image: busybox\n# nothing else"), err: "edit cancelled",
			check: golden.CheckJobField("train", "busybox", "spec", "tasks", "0", "template", "spec", "containers", "0", "image"),
		},
		"an error that stays is told, and the text kept": {
			editor: golden.ReplaceInEditor("image: busybox", "image: other"), code: 1, err: "job updates may not change fields", kept: "image: other",
			check: golden.CheckJobField("train", "busybox", "spec", "tasks", "0", "template", "spec", "containers", "0", "image"),
		},
		"a misspelt field": {
			editor: golden.ReplaceInEditor("minAvailable: 3", "minAvailble: 2"), code: 1, err: "unknown field", kept: `did you mean "minAvailable"?`,
		},
		"a field that only the server sets": {
			editor: golden.ReplaceInEditor("  name: train", "  finalizers: [example.com/kept]\n  name: train"), code: 1, err: "metadata.finalizers: the value cannot be changed",
			kept: "only labels, annotations and spec can be changed",
		},
		"a value of another type": {
			editor: golden.ReplaceInEditor("minAvailable: 3", "minAvailable: three"), code: 1, err: `spec.minAvailable: Invalid value: "three": must be a whole number`, kept: "minAvailable: three",
		},
		"another name": {
			editor: golden.ReplaceInEditor("name: train", "name: other"), code: 1, err: "metadata.name", kept: "name: other",
		},
		"what the server refuses opens again": {
			editor: golden.ReplaceInEditor("minAvailable: 3", "minAvailable: 2"), code: 1, err: "no, says the webhook", kept: "minAvailable: 2",
			prepare: func(s *clitest.Server) {
				s.RejectRequests("PATCH", golden.JobsPath, 400, "BadRequest", `admission webhook "x" denied the request: no, says the webhook`)
			},
		},
		"the server fails": {
			editor: golden.ReplaceInEditor("minAvailable: 3", "minAvailable: 2"), code: 4, err: "forbidden", kept: "minAvailable: 2",
			prepare: func(s *clitest.Server) {
				s.RejectRequests("PATCH", golden.JobsPath, 403, "Forbidden", "jobs is forbidden")
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			left := golden.CollectEditedCopies(t)
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
			left := golden.CollectEditedCopies(t)
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
				golden.CheckJobField("train", want, "spec", field)(t, server)
			}
			if n := len(left()); n != tc.code {
				t.Errorf("%d copies are left", n)
			}
		})
	}
}
