package profile

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/slurm/optionvalue"
)

func TestTheStricterLimitOfTheProfileAndTheQueueApplies(t *testing.T) {
	t.Parallel()
	const none = optionvalue.Unlimited
	// queue returns the limits of a queue; 0 means no limit.
	queue := func(longest, usual time.Duration, nodes, pods int64) (l schedulingv1beta1.EffectiveJobLimits) {
		l.MaxRunTime.Value, l.DefaultRunTime.Value, l.MaxNodes.Value, l.MaxPods.Value = longest, usual, nodes, pods
		return l
	}
	day := 24 * time.Hour
	for name, test := range map[string]struct {
		profile string
		queue   schedulingv1beta1.EffectiveJobLimits
		want    Limits
	}{
		"no limits":                              {"{}", queue(0, 0, 0, 0), Limits{none, none, 0, 0, false}},
		"limits of the queue":                    {"{}", queue(day, time.Hour, 4, 9), Limits{1440, 60, 4, 9, true}},
		"as many pods as nodes":                  {"{}", queue(0, 0, 9, 4), Limits{none, none, 4, 4, false}},
		"limits of the profile":                  {"{partitions: {gpu: {maxTime: 2-0, defaultTime: '30', maxNodes: 3}}}", queue(0, 0, 0, 0), Limits{2880, 30, 3, 0, false}},
		"a stricter profile":                     {"{partitions: {gpu: {maxTime: '60', defaultTime: '30', maxNodes: 3}}}", queue(day, day, 4, 9), Limits{60, 30, 3, 9, true}},
		"a looser profile":                       {"{partitions: {gpu: {maxTime: 2-0, defaultTime: 2-0, maxNodes: 5}}}", queue(day, time.Hour, 4, 0), Limits{1440, 1440, 4, 0, true}},
		"limits of the site":                     {"{maxTime: '60', defaultTime: '30'}", queue(day, day, 0, 0), Limits{60, 30, 0, 0, true}},
		"the partition's limits before the site": {"{maxTime: '60', defaultTime: '30', partitions: {gpu: {maxTime: '90', defaultTime: '45'}}}", queue(day, day, 0, 0), Limits{90, 45, 0, 0, true}},
		"a partition without the site's limit":   {"{maxTime: '60', partitions: {gpu: {maxTime: UNLIMITED}}}", queue(day, day, 0, 0), Limits{1440, 1440, 0, 0, true}},
		"a default above another maximum":        {"{defaultTime: '60', partitions: {gpu: {maxTime: '30'}}}", queue(0, 0, 0, 0), Limits{30, 30, 0, 0, false}},
		"seconds are rounded down":               {"{}", queue(119*time.Second, 30*time.Second, 0, 0), Limits{1, 1, 0, 0, true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := ParseProfile([]byte(test.profile))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, p.LimitsOf("gpu", test.queue)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
