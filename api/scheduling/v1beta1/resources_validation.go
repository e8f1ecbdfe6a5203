package v1beta1

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/vc-batch/vc/api/keys"
)

// ValidateResources checks the names of resources. It also checks that quantities are not negative and, for
// indivisible resources, are integers.
func ValidateResources(list corev1.ResourceList, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, name := range sortedKeys(list) {
		quantity := list[name]
		for _, text := range validation.IsQualifiedName(string(name)) {
			errs = append(errs, field.Invalid(path.Key(string(name)), string(name), "must be a valid resource name: "+text))
		}
		if quantity.Sign() < 0 {
			errs = append(errs, field.Invalid(path.Key(string(name)), quantity.String(), "must be greater than or equal to 0"))
		}
		if isIndivisible(name) && quantity.MilliValue()%1000 != 0 {
			errs = append(errs, field.Invalid(path.Key(string(name)), quantity.String(), "must be an integer"))
		}
	}
	return errs
}

// isIndivisible reports whether a resource is available only in whole units, as are extended resources (devices) and
// pods.
func isIndivisible(name corev1.ResourceName) bool {
	if name == corev1.ResourcePods {
		return true
	}
	domain, _, qualified := strings.Cut(string(name), "/")
	return qualified && domain != "kubernetes.io" && !strings.HasSuffix(domain, ".kubernetes.io")
}

// IsNodeResource reports whether a name is a resource that nodes can have: cpu, memory, pods, ephemeral-storage, huge
// pages and extended resources. It returns false for names that are used only by quotas (requests.cpu, limits.memory,
// count/pods).
func IsNodeResource(name corev1.ResourceName) bool {
	switch name {
	case corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourcePods, corev1.ResourceEphemeralStorage:
		return true
	case keys.VGPUMemoryPercentage: // percentages of cards of different sizes cannot be added
		return false
	}
	for _, prefix := range [...]string{"requests.", "limits.", "count/"} { // also requests.nvidia.com/gpu
		if strings.HasPrefix(string(name), prefix) {
			return false
		}
	}
	if strings.Contains(string(name), "/") {
		return true
	}
	for _, prefix := range [...]string{"hugepages-", "attachable-volumes-c"} {
		if rest, found := strings.CutPrefix(string(name), prefix); found && rest != "" {
			return true
		}
	}
	return false
}

// exceeding returns the sorted names of the resources of which a contains more than b. A resource that is missing in
// b counts as zero if missingIsZero is set, and as unlimited otherwise.
func exceeding(a, b corev1.ResourceList, missingIsZero bool) []corev1.ResourceName {
	var names []corev1.ResourceName
	for name, quantity := range a {
		limit, named := b[name]
		if !named && !missingIsZero {
			continue
		}
		if quantity.Cmp(limit) > 0 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// addTo adds the amounts in list to sum.
func addTo(sum, list corev1.ResourceList) {
	for name, quantity := range list {
		total := sum[name]
		total.Add(quantity)
		sum[name] = total
	}
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	return slices.Sorted(maps.Keys(m))
}
