package numa

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// maxCPU limits the CPU numbers that are accepted.
const maxCPU = 1 << 13

// CPUSet is an immutable set of CPU numbers. The zero value is empty.
type CPUSet struct{ words []uint64 }

// ParseCPUs parses the kernel's list format, such as 0-3,8.
func ParseCPUs(text string) (CPUSet, error) {
	var s CPUSet
	for _, part := range strings.Split(strings.TrimSpace(text), ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		first, last, isRange := strings.Cut(part, "-")
		low, err := parseCPUNumber(first)
		if err != nil {
			return CPUSet{}, err
		}
		high := low
		if isRange {
			if high, err = parseCPUNumber(last); err != nil {
				return CPUSet{}, err
			}
		}
		if high < low {
			return CPUSet{}, fmt.Errorf("cpus %q: the range is descending", part)
		}
		for cpu := low; cpu <= high; cpu++ {
			s.add(cpu)
		}
	}
	return s, nil
}

func parseCPUNumber(text string) (int, error) {
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil || n < 0 || n >= maxCPU {
		return 0, fmt.Errorf("cpu %q: use a number from 0 to %d", text, maxCPU-1)
	}
	return n, nil
}

// CPUs returns the set of the given numbers. It ignores numbers that are out of range.
func CPUs(numbers ...int) CPUSet {
	var s CPUSet
	for _, n := range numbers {
		if n >= 0 && n < maxCPU {
			s.add(n)
		}
	}
	return s
}

func (s *CPUSet) add(cpu int) {
	for len(s.words) <= cpu/64 {
		s.words = append(s.words, 0)
	}
	s.words[cpu/64] |= 1 << (cpu % 64)
}

func (s CPUSet) wordOrZero(i int) uint64 {
	if i < len(s.words) {
		return s.words[i]
	}
	return 0
}

func (s CPUSet) mergeWords(o CPUSet, f func(a, b uint64) uint64) CPUSet {
	out := CPUSet{words: make([]uint64, max(len(s.words), len(o.words)))}
	for i := range out.words {
		out.words[i] = f(s.wordOrZero(i), o.wordOrZero(i))
	}
	return out
}

// Union returns the CPUs that are in either set.
func (s CPUSet) Union(o CPUSet) CPUSet {
	return s.mergeWords(o, func(a, b uint64) uint64 { return a | b })
}

// Minus returns the CPUs of s that are not in o.
func (s CPUSet) Minus(o CPUSet) CPUSet {
	return s.mergeWords(o, func(a, b uint64) uint64 { return a &^ b })
}

// And returns the CPUs that are in both sets.
func (s CPUSet) And(o CPUSet) CPUSet {
	return s.mergeWords(o, func(a, b uint64) uint64 { return a & b })
}

// Has reports whether a CPU is in the set.
func (s CPUSet) Has(cpu int) bool { return cpu >= 0 && s.wordOrZero(cpu/64)&(1<<(cpu%64)) != 0 }

// Len returns the number of CPUs in the set.
func (s CPUSet) Len() int {
	n := 0
	for _, w := range s.words {
		n += bits.OnesCount64(w)
	}
	return n
}

// IsEmpty reports whether the set is empty.
func (s CPUSet) IsEmpty() bool {
	for _, w := range s.words {
		if w != 0 {
			return false
		}
	}
	return true
}

// Equal reports whether both sets contain the same CPUs.
func (s CPUSet) Equal(o CPUSet) bool { return s.Minus(o).IsEmpty() && o.Minus(s).IsEmpty() }

// List returns the numbers in ascending order.
func (s CPUSet) List() []int {
	var out []int
	for i, w := range s.words {
		for ; w != 0; w &= w - 1 {
			out = append(out, i*64+bits.TrailingZeros64(w))
		}
	}
	return out
}

// String returns the set in the kernel's list format.
func (s CPUSet) String() string {
	var b strings.Builder
	list := s.List()
	for i := 0; i < len(list); {
		k := i
		for k+1 < len(list) && list[k+1] == list[k]+1 {
			k++
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(list[i]))
		if k > i {
			b.WriteString("-" + strconv.Itoa(list[k]))
		}
		i = k + 1
	}
	return b.String()
}
