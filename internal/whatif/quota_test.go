package whatif

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	insightv1alpha1 "github.com/vc-batch/vc/api/insight/v1alpha1"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler"
	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/test/make"
)

func TestAPlanCountsQuotasThatNoPolicyNames(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		hard, used string
		verdict    insightv1alpha1.Verdict
		reason     string
	}{
		"the quota has room":           {hard: "2", used: "0", verdict: insightv1alpha1.VerdictStarts},
		"the quota is in use":          {hard: "2", used: "1", verdict: insightv1alpha1.VerdictWaits, reason: "OverQuota"},
		"the quota can never have it":  {hard: "1", used: "0", verdict: insightv1alpha1.VerdictNever, reason: "OverQuota"},
		"the quota is for nothing yet": {hard: "0", used: "0", verdict: insightv1alpha1.VerdictNever, reason: "OverQuota"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, queues := busy(1, 0)
			c.Apply(model.NodeFrom(make.Node("idle").CPU("8").Memory("64Gi").Obj()))
			quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "tight"}}
			quota.Spec.Hard = corev1.ResourceList{corev1.ResourceRequestsCPU: quantity(t, test.hard)}
			quota.Status.Used = corev1.ResourceList{corev1.ResourceRequestsCPU: quantity(t, test.used)}
			c.Apply(model.QuotaFrom(quota))
			thinker, err := scheduler.New(config.Default())
			if err != nil {
				t.Fatal(err)
			}
			answer := simulationOf(t, queues, "b", "1", 2).RunAllSlices(make.Epoch, thinker, c).Answers[0]
			reason := ""
			if answer.Explanation != nil {
				reason = answer.Explanation.Reason
			}
			if answer.Verdict != test.verdict || reason != test.reason {
				t.Errorf("got %s %s (%s), want %s %s", answer.Verdict, reason, answer.Message, test.verdict, test.reason)
			}
		})
	}
}
