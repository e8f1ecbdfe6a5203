package explain

import (
	"math"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/vc-batch/vc/internal/model/quota"
	"github.com/vc-batch/vc/internal/model/resource"
)

const (
	mebi = 1 << 20
	gibi = 1 << 30
)

// formatRoundedUp formats a requested, used or missing amount of a resource, rounded up.
func formatRoundedUp(name string, value float64) string {
	return formatAmount(name, value, math.Ceil)
}

// formatRoundedDown formats a limit or a free amount of a resource. It is rounded down, so that a request for the
// printed amount fits.
func formatRoundedDown(name string, value float64) string {
	return formatAmount(name, value, math.Floor)
}

// formatAmount formats an amount as an API quantity. Bytes that are not a whole number of MiB are rounded to be
// readable, for example 23.5Gi instead of 24684096Ki.
func formatAmount(name string, value float64, round func(float64) float64) string {
	if base, _ := quota.ParseName(name); base != "" { // requests.cpu and similar names
		name = base
	}
	bytes := corev1.ResourceName(name) == corev1.ResourceMemory || corev1.ResourceName(name) == corev1.ResourceEphemeralStorage
	switch units := toQuantity(math.Ceil(value - 0.001)); {
	case !bytes || units < 100*mebi || units%mebi == 0:
		q := resource.Quantity(name, units)
		return q.String()
	case units < 10*gibi:
		return strconv.FormatFloat(round(float64(units)/mebi), 'f', -1, 64) + "Mi"
	default:
		return strconv.FormatFloat(round(float64(units)/gibi*10)/10, 'f', -1, 64) + "Gi"
	}
}
