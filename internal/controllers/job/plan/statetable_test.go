package plan

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	busv1alpha1 "github.com/vc-batch/vc/api/bus/v1alpha1"
)

var rewrite = flag.Bool("rewrite", false, "rewrite testdata/states.txt; read the difference before you commit it")

// partly is the phase Restarting of a job of which only a part, the pod w-0, is being restarted.
const partly batchv1alpha1.JobPhase = "Restarting-"

// inPhase returns a job of three pods in a phase: one runs if the phase permits, one has succeeded, one has failed.
func inPhase(phase batchv1alpha1.JobPhase) *story {
	part := phase == partly
	if part {
		phase = batchv1alpha1.Restarting
	}
	s := given(phase)
	s.Job.Spec.Tasks[0].Replicas = 3
	s.Job.Spec.Tasks[0].PartitionPolicy = &batchv1alpha1.PartitionPolicySpec{TotalPartitions: 3, PartitionSize: 1}
	s.Job.Status.Version, s.Job.Status.RetryCount = 1, 1
	if phase == "" {
		s.Job.Status = batchv1alpha1.JobStatus{}
	}
	s.group("Running")
	old := func(*corev1.Pod) {}
	switch phase {
	case batchv1alpha1.Restarting:
		if part {
			storeTargets(&s.Job.Status, []string{"pod/w/0"})
		} else {
			old = ofVersion(0)
		}
	case batchv1alpha1.Aborted, batchv1alpha1.Completed, batchv1alpha1.Failed, batchv1alpha1.Terminated:
		s.PodGroup = nil
		return s.pod("w", 1, corev1.PodSucceeded).pod("w", 2, corev1.PodFailed, ended(1, 0)).counted()
	}
	return s.pod("w", 0, corev1.PodRunning, old).pod("w", 1, corev1.PodSucceeded, old).pod("w", 2, corev1.PodFailed, old, ended(1, 0)).counted()
}

// stateRow describes the writes of a plan for an action in a phase, requested by a command of a user or by a policy
// about the failed pod.
func stateRow(phase batchv1alpha1.JobPhase, by string, action busv1alpha1.Action) string {
	s := inPhase(phase)
	if by == "command" {
		s.command(action)
	} else {
		s.policy(busv1alpha1.PodFailedEvent, action)
	}
	p := Compute(s.Input)
	name := string(phase)
	if name == "" {
		name = "New"
	}
	did := strings.Join(lazyAside(digest(&p)), "; ")
	return strings.TrimRight(fmt.Sprintf("%-11s %-7s %-16s %s", name, by, action, did), " ")
}

// constants returns the values of the string constants of a type, in the order of the source.
func constants(t *testing.T, file, ofType string) []string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", "..", "..", "..", "api", file), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var values []string
	ast.Inspect(parsed, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if name, ok := spec.Type.(*ast.Ident); ok && name.Name == ofType {
			value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			values = append(values, value)
		}
		return true
	})
	if len(values) == 0 {
		t.Fatalf("no constants of type %s in %s", ofType, file)
	}
	return values
}

// ofQueues lists actions that apply only to queues.
var ofQueues = map[string]bool{"SyncQueue": true, "OpenQueue": true, "CloseQueue": true}

// TestWhatEveryActionDoesInEveryPhase compares the whole plan with testdata/states.txt, for every phase and every
// action of the API, requested by a command and by a policy. It fails for a new phase or action without a row.
func TestWhatEveryActionDoesInEveryPhase(t *testing.T) {
	t.Parallel()
	var rows []string
	for _, phase := range append([]string{"", string(partly)}, constants(t, "batch/v1alpha1/types.go", "JobPhase")...) {
		for _, by := range []string{"command", "policy"} {
			for _, action := range constants(t, "bus/v1alpha1/types.go", "Action") {
				if !ofQueues[action] {
					rows = append(rows, stateRow(batchv1alpha1.JobPhase(phase), by, busv1alpha1.Action(action)))
				}
			}
		}
	}
	if want := 12 * 2 * 10; len(rows) != want {
		t.Errorf("%d rows, want %d", len(rows), want)
	}
	file := filepath.Join("testdata", "states.txt")
	written, err := os.ReadFile(file)
	if err != nil && !*rewrite {
		t.Fatal(err)
	}
	var want []string
	comment, table, _ := strings.Cut(string(written), "\n\n")
	if table != "" {
		want = strings.Split(strings.TrimSuffix(table, "\n"), "\n")
	}
	if *rewrite {
		if err := os.WriteFile(file, []byte(comment+"\n\n"+strings.Join(rows, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}
