package job

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/internal/controllers/job/plan"
)

// quotaUsedUp refuses what is made, and counts it.
type quotaUsedUp struct {
	client.Client
	asked atomic.Int64
}

func (q *quotaUsedUp) Create(_ context.Context, o client.Object, _ ...client.CreateOption) error {
	q.asked.Add(1)
	return apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, o.GetName(), errors.New("exceeded quota"))
}

// TestAJobThatIsRefusedAsksForOnePodATry: the first try may ask for as many as there are writers; thousands of such jobs that try again keep nobody busy.
func TestAJobThatIsRefusedAsksForOnePodATry(t *testing.T) {
	t.Parallel()
	const writers, pods = 8, 100
	places := make([]plan.Place, pods)
	for i := range places {
		places[i].Index = int32(i)
	}
	for name, test := range map[string]struct {
		trouble *plan.Trouble
		most    int64
	}{
		"the first try":        {nil, writers},
		"after it was refused": {&plan.Trouble{Reason: failedCreate}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			api := &quotaUsedUp{}
			job := simpleJob(pods)
			r := New(Options{API: api, Writers: writers, Now: time.Now})
			a := &application{Reconciler: r, job: job, in: &plan.Input{Job: job, Trouble: test.trouble}, plan: &plan.Plan{Job: job}}
			if err := a.createPods(t.Context(), places); !apierrors.IsForbidden(err) {
				t.Errorf("%v", err)
			}
			if n := api.asked.Load(); n == 0 || n > test.most {
				t.Errorf("%d pods were asked for, want 1 to %d", n, test.most)
			}
		})
	}
}
