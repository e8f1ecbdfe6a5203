package cycle

import (
	"testing"

	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/scheduler/framework"
)

func TestTheHeadOfAQueueIsNamedAsUsersKnowIt(t *testing.T) {
	t.Parallel()
	waiting := &framework.Job{Gang: &model.Gang{Namespace: "nlp", Name: "next"}}
	for want, head := range map[string]*model.Gang{
		"job headf":         {Namespace: "nlp", Name: "headf-91af7aac", Job: "headf"},
		"job cv/headf":      {Namespace: "cv", Name: "headf-91af7aac", Job: "headf"},
		"PodGroup spark":    {Namespace: "nlp", Name: "spark"},
		"PodGroup cv/spark": {Namespace: "cv", Name: "spark"},
	} {
		if got := headName(waiting, &framework.Job{Gang: head}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
