package model

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"
)

// Account is whose use of the cluster is remembered: a queue's, and in a queue a
// namespace's or a user's. The fields that do not matter are empty.
type Account struct{ Queue, Namespace, User string }

// Usage is how much of the cluster an account has used: seconds of the whole
// cluster, old ones counting less. Until At it had used Value; since then it
// holds Rate of the cluster, 0 to 1, the greatest part of any resource.
type Usage struct {
	Value float64
	At    time.Time
	Rate  float64
}

// Now is the use up to a time, where what is halfLife old counts half.
//
// With decay d = 2^(-t/halfLife) it is Value·d + Rate·halfLife/ln 2·(1-d): the
// integral of the rate under the decay.
func (u Usage) Now(now time.Time, halfLife time.Duration) float64 {
	since := now.Sub(u.At)
	if since <= 0 || halfLife <= 0 {
		return u.Value
	}
	decay := math.Exp2(-float64(since) / float64(halfLife))
	return u.Value*decay + u.Rate*halfLife.Seconds()/math.Ln2*(1-decay)
}

// UsageEntry is one account's use. One without value and rate is forgotten.
type UsageEntry struct {
	Account Account
	Usage   Usage
}

// UsageSet tells what was written down earlier, such as before a restart.
type UsageSet struct{ Entries []UsageEntry }

func (d UsageSet) apply(c *Cluster) {
	c.AssumeUsage(d.Entries)
	c.UsageGen = c.next()
}

// AssumeUsage notes what accounts have used.
func (c *Cluster) AssumeUsage(entries []UsageEntry) {
	if c.Usage == nil && len(entries) > 0 {
		c.Usage = map[Account]Usage{}
	}
	for _, e := range entries {
		_, known := c.Usage[e.Account]
		if stays := e.Usage.Value != 0 || e.Usage.Rate != 0; known != stays {
			c.UsageGen = c.next()
		}
		if e.Usage.Value == 0 && e.Usage.Rate == 0 {
			delete(c.Usage, e.Account)
			continue
		}
		c.Usage[e.Account] = e.Usage
	}
}

// SortUsage lists entries, those that used and hold most first, then by name.
func SortUsage(of map[Account]Usage) []UsageEntry {
	out := make([]UsageEntry, 0, len(of))
	for a, u := range of {
		out = append(out, UsageEntry{a, u})
	}
	slices.SortFunc(out, func(a, b UsageEntry) int {
		return cmp.Or(cmp.Compare(b.Usage.Value+b.Usage.Rate, a.Usage.Value+a.Usage.Rate), a.Account.Compare(b.Account))
	})
	return out
}

// Compare orders accounts by queue, namespace and user.
func (a Account) Compare(b Account) int {
	return cmp.Or(strings.Compare(a.Queue, b.Queue), strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.User, b.User))
}
