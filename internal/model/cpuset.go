package model

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// maxCPU bounds the numbers of cpus that are believed.
const maxCPU = 1 << 13

// CPUSet is a set of cpu numbers. The zero value is empty. Sets are values: no
// method changes one.
type CPUSet struct{ words []uint64 }

// ParseCPUs reads the kernel's list format: 0-3,8.
func ParseCPUs(text string) (CPUSet, error) {
	var s CPUSet
	for _, part := range strings.Split(strings.TrimSpace(text), ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		first, last, isRange := strings.Cut(part, "-")
		low, err := cpuNumber(first)
		if err != nil {
			return CPUSet{}, err
		}
		high := low
		if isRange {
			if high, err = cpuNumber(last); err != nil {
				return CPUSet{}, err
			}
		}
		if high < low {
			return CPUSet{}, fmt.Errorf("cpus %q: the range ends before it begins", part)
		}
		for cpu := low; cpu <= high; cpu++ {
			s.add(cpu)
		}
	}
	return s, nil
}

func cpuNumber(text string) (int, error) {
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil || n < 0 || n >= maxCPU {
		return 0, fmt.Errorf("cpu %q: want a number from 0 to %d", text, maxCPU-1)
	}
	return n, nil
}

// CPUs is the set of some numbers; those out of range are left out.
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

func (s CPUSet) word(i int) uint64 {
	if i < len(s.words) {
		return s.words[i]
	}
	return 0
}

func (s CPUSet) merge(o CPUSet, f func(a, b uint64) uint64) CPUSet {
	out := CPUSet{words: make([]uint64, max(len(s.words), len(o.words)))}
	for i := range out.words {
		out.words[i] = f(s.word(i), o.word(i))
	}
	return out
}

// Union has what is in either.
func (s CPUSet) Union(o CPUSet) CPUSet {
	return s.merge(o, func(a, b uint64) uint64 { return a | b })
}

// Minus has what is not in the other.
func (s CPUSet) Minus(o CPUSet) CPUSet {
	return s.merge(o, func(a, b uint64) uint64 { return a &^ b })
}

// And has what is in both.
func (s CPUSet) And(o CPUSet) CPUSet {
	return s.merge(o, func(a, b uint64) uint64 { return a & b })
}

// Has says whether a cpu is in the set.
func (s CPUSet) Has(cpu int) bool { return cpu >= 0 && s.word(cpu/64)&(1<<(cpu%64)) != 0 }

// Len is how many cpus are in the set.
func (s CPUSet) Len() int {
	n := 0
	for _, w := range s.words {
		n += bits.OnesCount64(w)
	}
	return n
}

// Empty says whether there is none.
func (s CPUSet) Empty() bool {
	for _, w := range s.words {
		if w != 0 {
			return false
		}
	}
	return true
}

// Equal says whether both have the same cpus.
func (s CPUSet) Equal(o CPUSet) bool { return s.Minus(o).Empty() && o.Minus(s).Empty() }

// List is the numbers, ascending.
func (s CPUSet) List() []int {
	var out []int
	for i, w := range s.words {
		for ; w != 0; w &= w - 1 {
			out = append(out, i*64+bits.TrailingZeros64(w))
		}
	}
	return out
}

// String is the kernel's list format.
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
