package optionvalue

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// MiB is an amount of memory in mebibytes. As a requested amount, 0 means all the memory of a node.
type MiB int64

// ToBytes returns the amount in bytes.
func (m MiB) ToBytes() int64 { return int64(m) << 20 }

// String returns the amount with the largest suffix that does not require a fraction.
func (m MiB) String() string {
	switch {
	case m != 0 && m%(1<<20) == 0:
		return fmt.Sprintf("%dT", int64(m)>>20)
	case m != 0 && m%(1<<10) == 0:
		return fmt.Sprintf("%dG", int64(m)>>10)
	}
	return fmt.Sprintf("%dM", int64(m))
}

var sizePattern = regexp.MustCompile(`^(\d{1,13})([kKmMgGtT]?)([bB]?)$`)

// ParseMemory parses an amount of memory. It consists of digits and an optional suffix K, M, G or T in upper or lower
// case, each 1024 times the previous one, optionally followed by B. Without a suffix, the unit is MiB. Amounts in K
// are rounded up to MiB.
func ParseMemory(text string) (MiB, error) {
	m := sizePattern.FindStringSubmatch(text)
	if m == nil || (m[2] == "" && m[3] != "") {
		return 0, newError(memoryHint(text))
	}
	n, err := strconv.ParseInt(m[1], 10, 64)
	if err != nil {
		return 0, newError(memoryHint(text))
	}
	switch strings.ToUpper(m[2]) {
	case "K":
		return MiB((n + 1023) / 1024), nil
	case "G":
		n, err = multiplyChecked(n, 1<<10)
	case "T":
		n, err = multiplyChecked(n, 1<<20)
	}
	if err != nil || n > 1<<42 {
		return 0, newError(fmt.Sprintf("%s is too large", text))
	}
	return MiB(n), nil
}

// maxScaled is the largest number that may be followed by a unit.
const maxScaled = 1e17

func multiplyChecked(n, factor int64) (int64, error) {
	if n > maxScaled/factor {
		return 0, newError("the number is too large")
	}
	return n * factor, nil
}

var (
	kubernetesSize = regexp.MustCompile(`^(\d+)([KMGT])i[bB]?$`)
	fractionSize   = regexp.MustCompile(`^(\d{1,6})\.(\d{1,3})([kKmMgGtT])[bB]?$`)
)

// memoryHint returns the hint for an invalid amount. It has special hints for amounts in Kubernetes' notation and
// amounts with a fraction.
func memoryHint(text string) string {
	if m := kubernetesSize.FindStringSubmatch(text); m != nil {
		return fmt.Sprintf("%q is Kubernetes notation; use %s%s (in Slurm, %s means %s)", text, m[1], m[2], m[2],
			map[string]string{"K": "1024 bytes", "M": "1024 KiB", "G": "1024 MiB", "T": "1024 GiB"}[m[2]])
	}
	if m := fractionSize.FindStringSubmatch(text); m != nil {
		amount, _ := strconv.ParseFloat(m[1]+"."+m[2], 64)
		smaller := map[string]string{"M": "K", "G": "M", "T": "G"}[strings.ToUpper(m[3])]
		if smaller != "" {
			return fmt.Sprintf("fractions are not allowed: use %d%s", int64(amount*1024+0.5), smaller)
		}
	}
	return "use a whole number with the suffix K, M, G or T, for example 4G; the default unit is MiB"
}
