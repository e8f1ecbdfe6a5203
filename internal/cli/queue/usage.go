package queue

import (
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
	return dashIfEmpty(strings.Join(parts, ","))
}

func dashIfEmpty(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
