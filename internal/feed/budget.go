package feed

import (
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/vc-batch/vc/internal/model"
)

func budgetSink(f *Feed) cache.ReflectorStore {
	return newSink(f,
		func(p *policyv1.PodDisruptionBudget) (model.Delta, bool) { return model.BudgetFrom(p), true },
		func(n types.NamespacedName, _ types.UID) model.Delta {
			return model.BudgetGone{Namespace: n.Namespace, Name: n.Name}
		})
}
