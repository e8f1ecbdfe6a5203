package resource

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// TestAmountsOfTimeKeepTheirSize converts budgets and requests to resource-seconds, also those of a large cluster.
func TestAmountsOfTimeKeepTheirSize(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		resource, minutes, request string
		seconds, units, product    int64
	}{
		"cpu":                   {"cpu", "600", "1500m", 36_000_000, 1500, 15_000},
		"memory":                {"memory", "1Gi", "1500Mi", 61_440, 1500, 15_000},
		"memory, not whole MiB": {"memory", "1023Ki", "1025Ki", 59, 2, 20},
		"gpu":                   {"nvidia.com/gpu", "10", "4", 600, 4, 40},
		"an exabyte-minute":     {"memory", "1Ei", "1Pi", 60 << 40, 1 << 30, 10 << 30},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			amounts := AmountsFrom(map[corev1.ResourceName]resource.Quantity{corev1.ResourceName(c.resource): resource.MustParse(c.request)}, RoundUp)
			units := TimeUnits(c.resource, amounts[0].Value)
			if got := TimeFromMinutes(corev1.ResourceName(c.resource), resource.MustParse(c.minutes)); got != c.seconds || units != c.units {
				t.Errorf("%s minutes are %d, and %s are %d units; want %d and %d", c.minutes, got, c.request, units, c.seconds, c.units)
			}
			if got := MultiplyTime(units, 10); got != c.product {
				t.Errorf("10 seconds are %d, want %d", got, c.product)
			}
		})
	}
	if got := MultiplyTime(MaxSum/2, 3); got != MaxSum {
		t.Errorf("a product that is too large is %d, want %d", got, MaxSum)
	}
	if got := MinutesFromTime("memory", 60); got != 1<<20 {
		t.Errorf("60 MiB-seconds are %v byte-minutes, want %v", got, 1<<20)
	}
}
