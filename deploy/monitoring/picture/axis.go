package main

import (
	"math"
	"strconv"

	"github.com/vc-batch/vc/deploy/monitoring"
)

// axis is the vertical axis of a chart.
type axis struct {
	low, high float64
	ticks     []tick
}

// tick is a value of an axis with its label.
type tick struct {
	value float64
	label string
}

// scale converts a value to the unit in which an axis shows it.
type scale struct {
	factor float64
	suffix string
}

// maxTicks is the maximum number of intervals between the ticks of an axis.
const maxTicks = 5

// newAxis returns an axis for the values of the lines. It contains 0 and ends at a round value.
func newAxis(unit monitoring.Unit, lines []line) axis {
	if unit == monitoring.OnOrOff {
		return axis{low: 0, high: 1.1, ticks: []tick{{0, "Off"}, {1, "On"}}}
	}
	low, high := 0.0, 0.0
	for _, l := range lines {
		for _, v := range l.values {
			if isNumber(v) {
				low, high = min(low, v), max(high, v)
			}
		}
	}
	if low == high {
		high = 1
	}
	s := scaleOf(unit, max(high, -low))
	distance := roundUp((high - low) / s.factor / maxTicks)
	if unit == monitoring.Count {
		distance = max(distance, 1)
	}
	first, last := math.Floor(low/s.factor/distance), math.Ceil(high/s.factor/distance)
	a := axis{low: first * distance * s.factor, high: last * distance * s.factor}
	for i := first; i <= last; i++ {
		shown := i * distance
		a.ticks = append(a.ticks, tick{shown * s.factor, strconv.FormatFloat(shown, 'g', 5, 64) + s.suffix})
	}
	return a
}

// roundUp returns the smallest number of the form 1, 2 or 5 times a power of ten that is not smaller than v.
func roundUp(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, digit := range []float64{1, 2, 5} {
		if v <= digit*power*(1+1e-9) {
			return digit * power
		}
	}
	return 10 * power
}

// scaleOf returns the scale for values up to the largest one, as Grafana chooses it.
func scaleOf(unit monitoring.Unit, largest float64) scale {
	switch unit {
	case monitoring.Seconds:
		return firstNotAbove(largest, []scale{{3600, " h"}, {60, " min"}, {1, " s"}, {1e-3, " ms"}, {1e-6, " µs"}})
	case monitoring.Bytes:
		return firstNotAbove(largest, []scale{{1 << 40, " TiB"}, {1 << 30, " GiB"}, {1 << 20, " MiB"}, {1 << 10, " KiB"}, {1, " B"}})
	case monitoring.Fraction:
		return scale{0.01, " %"}
	case monitoring.PerSecond:
		return scale{1, " /s"}
	case monitoring.CPUs:
		return scale{1, " cores"}
	}
	return scale{1, ""}
}

// firstNotAbove returns the first scale in which the value is at least 1, or the last one.
func firstNotAbove(value float64, scales []scale) scale {
	for _, s := range scales {
		if value >= s.factor {
			return s
		}
	}
	return scales[len(scales)-1]
}
