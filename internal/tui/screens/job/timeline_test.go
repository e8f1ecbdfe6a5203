package job

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/snapshot"
)

func TestATimelineShowsWhereTheTimeWent(t *testing.T) {
	t.Parallel()
	at := func(seconds int) time.Time { return noon.Add(time.Duration(seconds) * time.Second) }
	moment := func(seconds int) snapshot.Moment { return snapshot.MomentOf(at(seconds)) }
	entered := func(phase batchv1alpha1.JobPhase, seconds int) batchv1alpha1.JobCondition {
		when := metav1.NewTime(at(seconds))
		return batchv1alpha1.JobCondition{Status: phase, LastTransitionTime: &when}
	}
	pods := []*snapshot.Pod{{Created: moment(1), Bound: moment(23), Started: moment(26)}, {Created: moment(2), Bound: moment(24), Started: moment(60)}}
	cases := map[string]struct {
		conditions []batchv1alpha1.JobCondition
		pods       []*snapshot.Pod
		want       []string
	}{
		"a job that nobody looked at was submitted": {nil, nil, []string{"submitted"}},
		"bound and started late": {[]batchv1alpha1.JobCondition{entered(batchv1alpha1.Pending, 0), entered(batchv1alpha1.Running, 61)}, pods,
			[]string{"submitted", "admitted, pods created+1s", "2/2 pods have nodes+24s", "first container started+26s", "all containers started+1m0s", "running+1m1s"}},
		"some pods have no node yet": {nil, []*snapshot.Pod{pods[0], {Created: moment(2)}},
			[]string{"submitted", "admitted, pods created+1s", "1/2 pods have nodes+23s", "first container started+26s"}},
		"a suspended job": {[]batchv1alpha1.JobCondition{entered(batchv1alpha1.Running, 5), entered(batchv1alpha1.Aborted, 9)}, nil,
			[]string{"submitted", "running+5s", "suspended+9s"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			job := &snapshot.Job{Submitted: noon, Object: &batchv1alpha1.Job{Status: batchv1alpha1.JobStatus{Conditions: tc.conditions}}, Pods: tc.pods}
			var got []string
			for _, s := range jobTimeline(job) {
				got = append(got, s.text+formatOffset(job.Submitted, s.at))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
