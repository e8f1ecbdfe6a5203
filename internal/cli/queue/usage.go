package queue

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

func amountsText(list corev1.ResourceList) string {
	var parts []string
	for name, amount := range list {
		parts = append(parts, string(name)+"="+amount.String())
	}
	slices.Sort(parts)
	return cmp.Or(strings.Join(parts, ","), "-")
}
