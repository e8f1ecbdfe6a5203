package quota

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/model/resource"
)

// Quota is a ResourceQuota, which limits the total resources of a namespace's pods. Resources have the names that
// quotas use, such as cpu, requests.memory, limits.cpu and pods.
type Quota struct {
	Namespace, Name string
	// Scopes select the pods to which the quota applies. A pod must match all of them. Without scopes, the quota
	// applies to all pods.
	Scopes []Scope
	// Hard and Used are sorted by name. Each amount has the unit of the underlying resource.
	Hard, Used []resource.Amount
}

// From converts a ResourceQuota.
func From(q *corev1.ResourceQuota) Quota {
	return Quota{
		Namespace: q.Namespace, Name: q.Name, Scopes: quotaScopesFrom(q),
		Hard: Amounts(q.Spec.Hard, resource.RoundDownSum), Used: Amounts(q.Status.Used, resource.RoundUpSum),
	}
}

// Amounts converts those amounts in a list that limit pods, sorted by name.
func Amounts(list corev1.ResourceList, convert resource.Rounding) []resource.Amount {
	var out []resource.Amount
	for name, q := range list {
		if base, ok := PodResource(name); ok {
			out = append(out, resource.Amount{Name: name, Value: convert(base, q)})
		}
	}
	slices.SortFunc(out, resource.CompareByName)
	return out
}

// PodResource returns the resource that a name in a quota limits. ok is false if the name does not concern pods.
func PodResource(name corev1.ResourceName) (base corev1.ResourceName, ok bool) {
	text := string(name)
	for _, prefix := range [2]string{"requests.", "limits."} {
		if rest, cut := strings.CutPrefix(text, prefix); cut {
			text = rest
		}
	}
	if text == "count/pods" {
		text = string(corev1.ResourcePods)
	}
	if strings.HasPrefix(text, "count/") || strings.Contains(text, ".storageclass.storage.k8s.io/") || !schedulingv1beta1.IsNodeResource(corev1.ResourceName(text)) {
		return "", false
	}
	return corev1.ResourceName(text), true
}

// ParseName returns the resource that a name in a quota limits, and whether the name concerns limits rather than
// requests.
func ParseName(name string) (resource string, limits bool) {
	base, _ := PodResource(corev1.ResourceName(name))
	return string(base), strings.HasPrefix(name, "limits.")
}
