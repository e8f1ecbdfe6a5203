package scenarios

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vc-batch/vc/internal/model"
)

// quota sets the resource quota of namespace default. Without amounts, it removes the quota.
func (w *world) quota(args []string) []string {
	q := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: args[0], Namespace: "default"}}
	q.Spec.Hard, q.Status.Used = corev1.ResourceList{}, corev1.ResourceList{}
	for _, word := range args[1:] {
		key, value := pair(word)
		switch key {
		case "scope":
			q.Spec.Scopes = append(q.Spec.Scopes, corev1.ResourceQuotaScope(value))
			continue
		case "classes": // classes=NotIn:high,low
			operator, names, _ := strings.Cut(value, ":")
			term := corev1.ScopedResourceSelectorRequirement{ScopeName: corev1.ResourceQuotaScopePriorityClass, Operator: corev1.ScopeSelectorOperator(operator)}
			if names != "" {
				term.Values = strings.Split(names, ",")
			}
			q.Spec.ScopeSelector = &corev1.ScopeSelector{MatchExpressions: []corev1.ScopedResourceSelectorRequirement{term}}
			continue
		}
		to := q.Spec.Hard
		if name, used := strings.CutPrefix(key, "used:"); used {
			key, to = name, q.Status.Used
		}
		to[corev1.ResourceName(long(key))] = resource.MustParse(value)
	}
	w.quotas[args[0]] = q
	w.model.Apply(model.QuotaFrom(q))
	return []string{"quota " + args[0]}
}

// describeAccount returns what identifies an account whose usage is recorded.
func describeAccount(a model.Account) string {
	if a.Account != "" {
		return fmt.Sprintf("account=%s user=%s", a.Account, a.User)
	}
	return fmt.Sprintf("queue=%s namespace=%s user=%s", a.Queue, a.Namespace, a.User)
}

// accounts lists the usage of accounts, with a half-life of one hour.
func (w *world) accounts() []string {
	var out []string
	for _, e := range model.SortUsage(w.model.Usage) {
		a := e.Account
		out = append(out, fmt.Sprintf("%s used %.0f, holds %.2f", describeAccount(a), e.Usage.ValueAtTime(w.now, time.Hour), e.Usage.Rate))
	}
	return out
}
