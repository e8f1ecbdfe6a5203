package model

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Quota is a ResourceQuota, which limits the total resources of a namespace's pods. Resources have the names that
// quotas use, such as cpu, requests.memory, limits.cpu and pods.
type Quota struct {
	Namespace, Name string
	// Scopes select the pods that the quota applies to: a pod must match all of them. Without scopes, the quota
	// applies to all pods.
	Scopes []QuotaScope
	// Hard and Used are sorted by name. Their units are those of the underlying resource.
	Hard, Used []Amount
}

// QuotaSet adds or replaces a ResourceQuota.
type QuotaSet struct{ Quota }

// QuotaGone removes a ResourceQuota.
type QuotaGone struct{ Namespace, Name string }

// QuotaFrom converts a ResourceQuota.
func QuotaFrom(q *corev1.ResourceQuota) QuotaSet {
	set := QuotaSet{Quota{Namespace: q.Namespace, Name: q.Name, Scopes: quotaScopesFrom(q)}}
	set.Hard = quotaAmounts(q.Spec.Hard, roundDownSum)
	set.Used = quotaAmounts(q.Status.Used, roundUpSum)
	return set
}

func quotaAmounts(list corev1.ResourceList, convert rounding) []Amount {
	var out []Amount
	for name, q := range list {
		if base, ok := quotaResource(name); ok {
			out = append(out, Amount{Name: name, Value: convert(base, q)})
		}
	}
	slices.SortFunc(out, compareByName)
	return out
}

// quotaResource returns the resource that a name in a quota limits. ok is false if the name does not concern pods.
func quotaResource(name corev1.ResourceName) (base corev1.ResourceName, ok bool) {
	text := string(name)
	for _, prefix := range [2]string{"requests.", "limits."} {
		if rest, cut := strings.CutPrefix(text, prefix); cut {
			text = rest
		}
	}
	if text == "count/pods" {
		text = string(corev1.ResourcePods)
	}
	if strings.HasPrefix(text, "count/") || strings.Contains(text, ".storageclass.storage.k8s.io/") || !isNodeResource(corev1.ResourceName(text)) {
		return "", false
	}
	return corev1.ResourceName(text), true
}

// QuotaResource returns the resource that a name in a quota limits, and whether the name concerns limits rather than
// requests.
func QuotaResource(name string) (resource string, limits bool) {
	base, _ := quotaResource(corev1.ResourceName(name))
	return string(base), strings.HasPrefix(name, "limits.")
}
