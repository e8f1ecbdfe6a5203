package listrow

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	corev1 "k8s.io/api/core/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/slurm/state"
	"github.com/vc-batch/vc/test/propertytest"
)

// drawArray returns an array in any phase; the elements that its status lists as running have pods in any state.
func drawArray(t *rapid.T) *Source {
	const size = 12
	job := &batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Name: "sweep", Labels: map[string]string{keys.JobID: "42"}, Annotations: map[string]string{keys.Array: "0-11"}},
		Spec: batchv1alpha1.JobSpec{Tasks: []batchv1alpha1.TaskSpec{{Name: "head", Replicas: size}}}}
	job.Status.State.Phase = rapid.SampledFrom([]batchv1alpha1.JobPhase{batchv1alpha1.Pending, batchv1alpha1.Running, batchv1alpha1.Aborted, batchv1alpha1.Completing, batchv1alpha1.Terminated}).Draw(t, "phase")
	sets := make([]batchv1alpha1.Indices, 5) // pending, running, succeeded, failed, cancelled
	s := &Source{Job: job, PodsRead: rapid.Bool().Draw(t, "pods are read")}
	for i := range int32(size) {
		where := rapid.IntRange(0, 4).Draw(t, "set")
		sets[where] = append(sets[where], batchv1alpha1.Run{First: i, Last: i})
		if where != 1 {
			continue
		}
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{keys.ArrayIndex: batchv1alpha1.FormatJobID(int64(i))}}}
		pod.Spec.NodeName = rapid.SampledFrom([]string{"", "n1"}).Draw(t, "node")
		pod.Status.Phase = rapid.SampledFrom([]corev1.PodPhase{corev1.PodPending, corev1.PodRunning}).Draw(t, "pod")
		s.Pods = append(s.Pods, pod)
	}
	job.Status.Array = &batchv1alpha1.ArrayStatus{Running: sets[1].Union(nil).String(), Succeeded: sets[2].Union(nil).String(), Failed: sets[3].Union(nil).String(), Cancelled: sets[4].Union(nil).String()}
	return s
}

// In every state of an array each element is in exactly one row, at most one row is pending, and folded rows show the
// same values as separate rows of their elements.
func TestEveryElementIsInOneRow(t *testing.T) {
	t.Parallel()
	propertytest.Check(t, 2_000, func(t *rapid.T) {
		s := drawArray(t)
		codes := map[int32]state.Code{}
		for _, row := range RowsOf(s, true) {
			for element := range row.Elements.All() {
				if _, twice := codes[element]; twice || row.Elements.Count() != 1 {
					t.Fatalf("element %d is in several rows, or a row has %s", element, row.Elements)
				}
				codes[element] = row.State.Code
			}
		}
		if len(codes) != 12 {
			t.Fatalf("%d of 12 elements have rows", len(codes))
		}
		for _, row := range RowsOf(s, true) {
			if row.State.Code == state.Configuring && s.PodsRead && row.Sum.Bound == 0 {
				t.Fatalf("element %s is said to be configuring its nodes and has none", row.Elements)
			}
		}
		folds, seen := map[state.Code]int{}, 0
		for _, row := range RowsOf(s, false) {
			if row.State.Code.IsIdle() {
				folds[row.State.Code]++
			}
			for element := range row.Elements.All() {
				seen++
				if codes[element] != row.State.Code {
					t.Fatalf("element %d is %s in %s, and %s by itself", element, row.State.Code, row.DisplayID(0), codes[element])
				}
			}
			if first, ok := row.Elements.At(0); !ok || row.Position != int(first) {
				t.Fatalf("%s stands at %d", row.DisplayID(0), row.Position)
			}
		}
		if seen != 12 || folds[state.Pending] > 1 || folds[state.Suspended] > 1 {
			t.Fatalf("%d elements, folded rows %v", seen, folds)
		}
	})
}

func TestRowsWithoutAPlaceComeLast(t *testing.T) {
	t.Parallel()
	at := func(place int32) *Row {
		return &Row{Source: &Source{Job: &batchv1alpha1.Job{}, Group: &schedulingv1beta1.PodGroup{Status: schedulingv1beta1.PodGroupStatus{
			Explanation: &schedulingv1beta1.Explanation{Queue: &schedulingv1beta1.ExplainedQueue{Position: place}}}}}}
	}
	rows := []*Row{at(0), at(2), at(0), at(1)}
	slices.SortStableFunc(rows, CompareByPlace)
	for i, want := range []int{1, 2, 0, 0} {
		if got := rows[i].QueuePlace(); got != want {
			t.Errorf("row %d has place %d, want %d", i, got, want)
		}
	}
}

func TestNamesOfFiles(t *testing.T) {
	t.Parallel()
	job := &batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Name: "sweep-x", Labels: map[string]string{keys.JobID: "42"}, Annotations: map[string]string{keys.User: "mei", keys.JobTitle: "sweep"}}}
	plain := &Row{Source: &Source{Job: job}}
	element := &Row{Source: &Source{Job: job}, Elements: batchv1alpha1.Indices{{First: 7, Last: 7}}, Position: 3, Sum: &state.Pods{Nodes: []string{"n1"}}}
	two := &batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Name: "wide-x", Annotations: map[string]string{keys.Array: "4,5,6,7"}}, Spec: batchv1alpha1.JobSpec{Tasks: []batchv1alpha1.TaskSpec{{
		Name: "head", Replicas: 8, PartitionPolicy: &batchv1alpha1.PartitionPolicySpec{TotalPartitions: 4, PartitionSize: 2}}}}}
	wide := &Row{Source: &Source{Job: two}, Elements: batchv1alpha1.Indices{{First: 7, Last: 7}}, Position: 3}
	folded := &Row{Source: &Source{Job: job}, Elements: batchv1alpha1.Indices{{First: 7, Last: 9}}, Folded: true}
	for name, c := range map[string]struct {
		row           *Row
		pattern, want string
	}{
		"a job":                          {plain, "/x/%x-%j-%u.out", "/x/sweep-42-mei.out"},
		"an element":                     {element, "%A_%a-%j-%N", "42_7-45-sweep-x-head-3"},
		"elements told together":         {folded, "%A_%a", "%A_%a"},
		"the host is the pod":            {plain, "%j-%N", "42-sweep-x-head-0"},
		"of an element of several pods":  {wide, "%N", "wide-x-head-6"},
		"a pattern that cannot be met":   {plain, "%a", "%a"},
		"a pattern that is none":         {plain, `\%j`, "%j"},
		"no file":                        {plain, "", ""},
		"a number with noughts in front": {plain, "%6j", "000042"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := c.row.ExpandFile(c.pattern); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
