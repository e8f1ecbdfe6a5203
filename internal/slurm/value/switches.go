package value

import "strings"

// Switches is how many leaf switches a job may span, and how long it may wait for so few.
type Switches struct {
	Count int64
	// Wait is how long to insist; Unlimited for ever.
	Wait Minutes
}

// ParseSwitches reads count[@time].
func ParseSwitches(text string) (Switches, error) {
	count, wait, timed := strings.Cut(text, "@")
	s := Switches{Wait: Unlimited}
	var err error
	if s.Count, err = ParseNumber(count); err != nil {
		return s, err
	}
	if timed {
		s.Wait, err = ParseTime(wait)
	}
	return s, err
}
