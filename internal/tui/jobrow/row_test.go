package jobrow

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/snapshot"
	"github.com/vc-batch/vc/test/propertytest"
)

var now = time.Date(2026, 11, 21, 21, 53, 39, 0, time.UTC)

func array(status *batchv1alpha1.ArrayStatus) *snapshot.Job {
	object := &batchv1alpha1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: "sweep", UID: "u", Labels: map[string]string{keys.JobID: "922"}, Annotations: map[string]string{keys.Array: "0-9", keys.ArrayLimit: "8"}},
		Spec:       batchv1alpha1.JobSpec{Tasks: []batchv1alpha1.TaskSpec{{Name: "e", Replicas: 10}}},
		Status:     batchv1alpha1.JobStatus{Array: status, State: batchv1alpha1.JobState{Phase: batchv1alpha1.Running}},
	}
	snap, err := snapshot.Of(now, object)
	if err != nil {
		panic(err)
	}
	return snap.Jobs[0]
}

func TestAnArrayUnfoldsIntoPartsThatStandAlike(t *testing.T) {
	t.Parallel()
	job := array(&batchv1alpha1.ArrayStatus{Running: "1-2", Succeeded: "0"})
	if got := (Row{Job: job}).NumberAndElements(); got != "922_[0-9%8]" {
		t.Errorf("folded it is %s", got)
	}
	var parts []string
	for _, row := range RowsOfJobs([]*snapshot.Job{job}, now, func(*snapshot.Job) bool { return true }) {
		parts = append(parts, row.NumberAndElements()+" "+row.SlurmStateCode())
	}
	if diff := cmp.Diff([]string{"922_[3-9%8] PD", "922_[1-2] R", "922_0 CD"}, parts); diff != "" {
		t.Error(diff)
	}
}

func TestStartIsWhatIsKnownOfIt(t *testing.T) {
	t.Parallel()
	job := func(change func(*snapshot.Job)) *snapshot.Job {
		j := &snapshot.Job{State: "PD", Object: &batchv1alpha1.Job{}}
		change(j)
		return j
	}
	cases := map[string]struct {
		job  *snapshot.Job
		want string
	}{
		"a job that runs has started":          {job(func(j *snapshot.Job) { j.State = "R" }), ""},
		"nobody knows":                         {job(func(*snapshot.Job) {}), "-"},
		"the scheduler's estimate has a tilde": {job(func(j *snapshot.Job) { j.EstimatedStart = now.Add(24 * time.Minute) }), "~22:17"},
		"another day is named":                 {job(func(j *snapshot.Job) { j.EstimatedStart = now.Add(72 * time.Hour) }), "~Nov 24"},
		"a begin time is the user's wish": {job(func(j *snapshot.Job) {
			j.Object.Annotations = map[string]string{keys.Begin: now.Add(time.Hour).Format(time.RFC3339)}
		}), "at 22:53"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := EstimatedStartText(tc.job, now); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestAQueueStandsForThoseAboveIt(t *testing.T) {
	t.Parallel()
	queue := func(name, parent string) *schedulingv1beta1.Queue {
		return &schedulingv1beta1.Queue{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)}, Spec: schedulingv1beta1.QueueSpec{Parent: parent}}
	}
	snap, err := snapshot.Of(now, queue("root", ""), queue("research", "root"), queue("nlp", "research"), queue("prod", "root"))
	if err != nil {
		t.Fatal(err)
	}
	filter, err := FilterFields(snap, now).Parse("queue:research")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"nlp": true, "research": true, "prod": false, "gone": false} {
		row := Row{Job: &snapshot.Job{Queue: name, Object: &batchv1alpha1.Job{}}}
		if filter.Match(row) != want {
			t.Errorf("a job of %s: %v", name, !want)
		}
	}
}

func TestTheOrderAtFirstIsOne(t *testing.T) {
	t.Parallel()
	propertytest.Check(t, 100, func(t *rapid.T) {
		rows := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Row {
			return Row{Job: &snapshot.Job{
				UID: types.UID(rapid.StringMatching("[a-z]{6}").Draw(t, "uid")), Queue: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "queue"),
				State: rapid.SampledFrom([]string{"PD", "R", "CD", "F"}).Draw(t, "state"), Priority: rapid.Int32Range(0, 2).Draw(t, "priority"), Position: rapid.Int32Range(0, 2).Draw(t, "position"),
			}}
		}), 2, 12).Draw(t, "rows")
		sorted := slices.Clone(rows)
		slices.SortFunc(sorted, CompareDefault)
		slices.Reverse(rows)
		slices.SortFunc(rows, CompareDefault)
		for i := range rows {
			if UniqueID(rows[i]) != UniqueID(sorted[i]) {
				t.Fatalf("the order depends on where rows came from: %s and %s", UniqueID(rows[i]), UniqueID(sorted[i]))
			}
		}
		ended := slices.IndexFunc(rows, Row.HasEnded)
		if ended >= 0 && slices.ContainsFunc(rows[ended:], func(r Row) bool { return !r.HasEnded() }) {
			t.Fatal("what has ended stands before what has not")
		}
	})
}

func TestStatesHaveALookOfTheirOwn(t *testing.T) {
	t.Parallel()
	looks := map[string]string{}
	for _, code := range strings.Fields("R PD CD F S") {
		look := string(rune(StateStyle(code)))
		if looks[look] != "" {
			t.Errorf("%s looks like %s", code, looks[look])
		}
		looks[look] = code
	}
}
