package render

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
)

// FormatCores formats milli-CPU as cores: 12160, 12.5, 0.1, 1.25.
func FormatCores(milli int64) string {
	switch {
	case milli < 0:
		return "-" + FormatCores(-milli)
	case milli%1000 == 0 || milli >= 100_000:
		return strconv.FormatInt((milli+500)/1000, 10)
	case milli >= 10_000:
		return formatTrimmed(float64(milli)/1000, 1)
	}
	return formatTrimmed(float64(milli)/1000, 2)
}

// FormatMemory formats bytes in the largest unit in which the number is at least ten or a whole number: 9Gi, 1015Gi,
// 95Ti, 512Mi.
func FormatMemory(bytes int64) string {
	if bytes < 0 {
		return "-" + FormatMemory(-bytes)
	}
	units := []struct {
		shift uint
		name  string
	}{{50, "Pi"}, {40, "Ti"}, {30, "Gi"}, {20, "Mi"}, {10, "Ki"}}
	for _, unit := range units {
		size := int64(1) << unit.shift
		if bytes >= 10*size || (bytes >= size && bytes%size == 0) {
			value := float64(bytes) / float64(size)
			if value >= 100 {
				return formatTrimmed(value, 0) + unit.name
			}
			return formatTrimmed(value, 1) + unit.name
		}
	}
	return strconv.FormatInt(bytes, 10)
}

// FormatAmount formats an amount of a resource, given as milli-CPU, bytes or units.
func FormatAmount(name corev1.ResourceName, amount int64) string {
	switch name {
	case corev1.ResourceCPU:
		return FormatCores(amount)
	case corev1.ResourceMemory:
		return FormatMemory(amount)
	}
	return strconv.FormatInt(amount, 10)
}

// formatTrimmed formats a number with at most the given number of decimals, without trailing zeros.
func formatTrimmed(value float64, decimals int) string {
	text := strconv.FormatFloat(value, 'f', decimals, 64)
	if decimals == 0 {
		return text
	}
	for text[len(text)-1] == '0' {
		text = text[:len(text)-1]
	}
	if text[len(text)-1] == '.' {
		text = text[:len(text)-1]
	}
	return text
}
