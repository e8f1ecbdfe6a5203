package resource

import (
	"math/bits"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// bytesPerTimeUnit is the number of bytes that count as one unit in amounts of memory multiplied by seconds. With bytes,
// the memory of a large cluster would exceed MaxSum within days.
const bytesPerTimeUnit = 1 << 20

// timeUnitSize returns the number of units of a resource that count as one unit in amounts multiplied by seconds.
func timeUnitSize(name string) int64 {
	isBytes := name == string(corev1.ResourceMemory) || name == string(corev1.ResourceEphemeralStorage)
	if isBytes || strings.HasPrefix(name, corev1.ResourceHugePagesPrefix) {
		return bytesPerTimeUnit
	}
	return 1
}

// TimeUnits converts an amount of a resource to the units of amounts that are multiplied by seconds: MiB for resources in
// bytes, and otherwise the units of this package. It rounds up.
func TimeUnits(name string, value int64) int64 {
	size := timeUnitSize(name)
	whole := value / size
	if value%size > 0 {
		whole++
	}
	return whole
}

// MultiplyTime multiplies an amount in the units of TimeUnits by seconds. The result is at most MaxSum.
func MultiplyTime(value, seconds int64) int64 {
	if value <= 0 || seconds <= 0 {
		return 0
	}
	high, low := bits.Mul64(uint64(value), uint64(seconds))
	if high > 0 || low > uint64(MaxSum) {
		return MaxSum
	}
	return int64(low)
}

// AddTime adds two amounts of at most MaxSum. The result is at most MaxSum.
func AddTime(a, b int64) int64 { return min(a+b, MaxSum) }

// TimeFromMinutes converts an amount of resource-minutes to resource-seconds, in the units of TimeUnits. It rounds down.
func TimeFromMinutes(name corev1.ResourceName, minutes resource.Quantity) int64 {
	const secondsPerMinute = 60
	value, size := RoundDownSum(name, minutes), timeUnitSize(string(name))
	return AddTime(MultiplyTime(value/size, secondsPerMinute), value%size*secondsPerMinute/size)
}

// MinutesFromTime converts resource-seconds in the units of TimeUnits to minutes of the units of this package.
func MinutesFromTime(name string, value int64) float64 {
	return float64(value) * float64(timeUnitSize(name)) / 60
}
