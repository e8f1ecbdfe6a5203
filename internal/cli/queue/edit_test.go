package queue_test

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
)

// storedQueue returns a check that a field of the queue research has the value.
func storedQueue(want string, path ...string) func(*testing.T, *clitest.Server) {
	return func(t *testing.T, server *clitest.Server) {
		t.Helper()
		for _, queue := range server.ObjectsBelow(queuePath) {
			if golden.FieldText(queue, "metadata", "name") != "research" {
				continue
			}
			if got := golden.FieldText(queue, path...); got != want {
				t.Errorf("%s is %s, want %s", strings.Join(path, "."), got, want)
			}
		}
	}
}

// changedByAnother is an editor in which the user sets the weight of the queue research to 7, while another user changes
// the queue. again is the user's change when the editor opens the second time.
func changedByAnother(other func(*schedulingv1beta1.Queue), again func(string) string) (prepare func(*clitest.Server), editor func(string) string) {
	var server *clitest.Server
	looks := 0
	prepare = func(s *clitest.Server) { server = s }
	return prepare, func(text string) string {
		if looks++; looks > 1 {
			return again(text)
		}
		server.SetObjects(golden.NewQueue("research", 3, schedulingv1beta1.QueueStateOpen, other))
		return strings.Replace(text, "weight: 3", "weight: 7", 1)
	}
}

func unedited(text string) string { return text }

// insisting is an edit in which the user removes the comment about the change of the other user.
func insisting(text string) string {
	_, rest, _ := strings.Cut(text, "and save")
	return "# gone" + rest
}

func TestQueueEditGolden(t *testing.T) {
	left := golden.CollectEditedCopies(t)
	edit := golden.ReplaceInEditor
	weight := func(want string) func(*testing.T, *clitest.Server) { return storedQueue(want, "spec", "weight") }
	sameField, sameFieldEditor := changedByAnother(func(q *schedulingv1beta1.Queue) { q.Spec.Weight = 5 }, unedited)
	insisted, insistedEditor := changedByAnother(func(q *schedulingv1beta1.Queue) { q.Spec.Weight = 5 }, insisting)
	otherField, otherFieldEditor := changedByAnother(func(q *schedulingv1beta1.Queue) { q.Spec.Priority = 9 }, unedited)
	golden.CompareRuns(t, "edit", []golden.Run{
		{About: "a weight", Args: "queue edit research", Editor: edit("weight: 3", "weight: 7"), ShowOpened: true, Check: weight("7")},
		{About: "labels and annotations", Args: "queue edit research -o jsonpath={.metadata.labels.team}/{.metadata.annotations.note}", Check: weight("3"),
			Editor: edit("metadata:\n", "metadata:\n  labels: {team: nlp}\n  annotations: {note: ours}\n")},
		{About: "nothing", Args: "queue edit research", Editor: unedited},
		{About: "cancelled by an empty file", Args: "queue edit research", Editor: func(string) string { return "" }},
		{About: "an invalid weight, then a valid one", Args: "queue edit research", Editor: edit("weight: 3", "weight: 70000", "weight: 70000", "weight: 8"), ShowOpened: true, Check: weight("8")},
		{About: "an invalid amount, and no other edit", Args: "queue edit research", Editor: edit(`cpu: "16"`, "cpu: many"), Check: storedQueue("16", "spec", "capability", "cpu")},
		{About: "more deserved than the capability", Args: "queue edit research", Editor: edit("spec:\n", "spec:\n  deserved: {cpu: 32}\n"), ShowOpened: true, Check: weight("3")},
		{About: "a parent that does not exist", Args: "queue edit research", Editor: edit("parent: root", "parent: defualt"), Check: storedQueue("root", "spec", "parent")},
		{About: "an unknown field", Args: "queue edit research", Editor: edit("weight: 3", "wieght: 7"), Check: weight("3")},
		{About: "an unknown field, with a warning", Args: "queue edit research --validate=warn --dry-run=client -o name", Editor: edit("weight: 3", "weight: 3\n  wieght: 7"), Check: weight("3")},
		{About: "another name", Args: "queue edit research", Editor: edit("name: research", "name: other"), Check: golden.CheckStored(queuePath, 3)},
		{About: "a field that only the server sets", Args: "queue edit research", Editor: edit("metadata:\n", "metadata:\n  finalizers: [example.com/kept]\n"), ShowOpened: true},
		{About: "the status", Args: "queue edit research", Editor: edit("spec:\n", "status: {state: Closed}\nspec:\n")},
		{About: "no YAML", Args: "queue edit research", Editor: edit("weight: 3", "weight: ["), Check: weight("3")},
		{About: "another user changes the same field", Args: "queue edit research", Prepare: sameField, Editor: sameFieldEditor, Check: weight("5"), ShowOpened: true},
		{About: "another user changes the same field, and the user insists", Args: "queue edit research", Prepare: insisted, Editor: insistedEditor, Check: weight("7")},
		{About: "another user changes another field", Args: "queue edit research -o jsonpath={.spec.weight}/{.spec.priority}", Prepare: otherField, Editor: otherFieldEditor, Check: weight("7")},
		{About: "the server rejects the change", Args: "queue edit research", Editor: edit("weight: 3", "weight: 7"), Check: weight("3"), ShowOpened: true, Prepare: func(s *clitest.Server) {
			s.RejectRequests("PATCH", queuePath, 403, metav1.StatusReasonForbidden, `admission webhook "validatequeue.volcano.sh" denied the request: the weights stay`)
		}},
		{About: "the user is not allowed to", Args: "queue edit research", Editor: edit("weight: 3", "weight: 7"), Prepare: func(s *clitest.Server) {
			s.RejectRequests("PATCH", queuePath, 403, metav1.StatusReasonForbidden, "queues is forbidden")
		}},
		{About: "only checked", Args: "queue edit research --dry-run=server -o jsonpath={.spec.weight}", Editor: edit("weight: 3", "weight: 7"), Check: weight("3")},
		{About: "no name", Args: "queue edit"},
		{About: "two names", Args: "queue edit research archive"},
		{About: "an unknown dry run", Args: "queue edit research --dry-run=yes"},
	})
	for _, text := range left() {
		if !strings.Contains(text, "kind: Queue") {
			t.Errorf("a copy without the user's text: %q", text)
		}
	}
}

// TestQueueEditsAreDescribedBeforeTheyAreMade tests that an edit has the effects and questions of an update.
func TestQueueEditsAreDescribedBeforeTheyAreMade(t *testing.T) {
	left := golden.CollectEditedCopies(t)
	less := golden.Run{Args: "queue edit research", Prepare: golden.AnswerPlans(squeezed())}
	run := func(about, more string, change func(*golden.Run)) golden.Run {
		r := less
		r.About, r.Args, r.Editor = about, less.Args+more, golden.ReplaceInEditor(`cpu: "16"`, `cpu: "4"`)
		change(&r)
		return r
	}
	golden.CompareRuns(t, "edit-effects", []golden.Run{
		run("less for a queue in use, and nobody to ask", "", func(r *golden.Run) { r.Check = unchanged }),
		run("on a terminal it is asked: no", "", func(r *golden.Run) { r.Width, r.Input, r.Check = 120, "n\n", unchanged }),
		run("on a terminal it is asked: yes", "", func(r *golden.Run) { r.Width, r.Input, r.Check = 120, "y\n", limitedTo("4") }),
		run("agreed before", " --yes", func(r *golden.Run) { r.Check = limitedTo("4") }),
		run("only thought of", " --dry-run=server", func(r *golden.Run) { r.Check = limitedTo("16") }),
		run("only thought of, with nothing sent", " --dry-run=client", func(r *golden.Run) { r.Prepare, r.Check = nil, noPlan }),
		run("more is not asked about", "", func(r *golden.Run) {
			r.Editor, r.Check = golden.ReplaceInEditor("weight: 3", "weight: 9"), storedQueue("9", "spec", "weight")
		}),
	})
	if n := len(left()); n != 2 {
		t.Errorf("%d copies of the user's text are left, want one for each edit without confirmation", n)
	}
}

func limitedTo(cpu string) func(*testing.T, *clitest.Server) {
	return storedQueue(cpu, "spec", "capability", "cpu")
}

// The status of a queue in use changes often. The user is asked only once, even if the change is sent again.
func TestQueueEditAsksOncePerText(t *testing.T) {
	left := golden.CollectEditedCopies(t)
	server := clitest.Start(t, golden.ClusterObjects()...)
	golden.AnswerPlans(squeezed())(server)
	server.RejectRequests("PATCH", queuePath, 409, metav1.StatusReasonConflict, "the object has been modified")
	got := golden.Run{Args: "queue edit research", Width: 120, Input: "y\n", Editor: golden.ReplaceInEditor(`cpu: "16"`, `cpu: "4"`)}.RunAgainst(t, server)
	if n := strings.Count(got.Err, "Continue?"); n != 1 || !strings.Contains(got.Err, "other users changed the object repeatedly") {
		t.Errorf("%d questions: %s", n, got.Err)
	}
	patches := len(slices.DeleteFunc(server.Requests(), func(r string) bool { return !strings.HasPrefix(r, "PATCH ") }))
	if patches < 2 || len(left()) != 1 {
		t.Errorf("%d patches and %d copies", patches, len(left()))
	}
}
