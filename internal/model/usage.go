package model

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"
)

// Account identifies whose usage of the cluster is recorded: a queue or, inside a queue, a namespace or a user. With
// Account, it is a user in an account of the tree of accounts, in all queues. Fields that do not apply are empty.
type Account struct {
	Queue, Namespace, User string
	Account                string `json:",omitempty"`
}

// Usage is an account's past usage of the cluster, in seconds of the whole cluster. Older usage counts less. Value is
// the usage up to At. Since At, the account has been using the fraction Rate of the cluster, from 0 to 1, which is
// its largest fraction of any resource.
type Usage struct {
	Value float64
	At    time.Time
	Rate  float64
}

// ValueAtTime returns the usage up to the time now. Usage that is one halfLife old counts half.
//
// With the decay d = 2^(-t/halfLife), it is Value·d + Rate·halfLife/ln 2·(1-d), the integral of the rate under the
// decay.
func (u Usage) ValueAtTime(now time.Time, halfLife time.Duration) float64 {
	since := now.Sub(u.At)
	if since <= 0 || halfLife <= 0 {
		return u.Value
	}
	decay := math.Exp2(-float64(since) / float64(halfLife))
	return u.Value*decay + u.Rate*halfLife.Seconds()/math.Ln2*(1-decay)
}

// UsageEntry is the usage of one account. An entry without value and rate deletes the account.
type UsageEntry struct {
	Account Account
	Usage   Usage
}

// UsageSet loads usage that was saved earlier, for example before a restart.
type UsageSet struct{ Entries []UsageEntry }

func (d UsageSet) apply(c *Cluster) {
	c.AssumeUsage(d.Entries)
	c.UsageGen = c.nextGeneration()
}

// AssumeUsage records the usage of accounts, and deletes the accounts whose entries have no value and rate.
func (c *Cluster) AssumeUsage(entries []UsageEntry) {
	if c.Usage == nil && len(entries) > 0 {
		c.Usage = map[Account]Usage{}
	}
	for _, e := range entries {
		_, known := c.Usage[e.Account]
		if stays := e.Usage.Value != 0 || e.Usage.Rate != 0; known != stays {
			c.UsageGen = c.nextGeneration()
		}
		if e.Usage.Value == 0 && e.Usage.Rate == 0 {
			delete(c.Usage, e.Account)
			continue
		}
		c.Usage[e.Account] = e.Usage
	}
}

// SortUsage returns the entries sorted by decreasing Value+Rate, then by account.
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

// Compare orders accounts by queue, namespace, user and account.
func (a Account) Compare(b Account) int {
	return cmp.Or(strings.Compare(a.Queue, b.Queue), strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.User, b.User), strings.Compare(a.Account, b.Account))
}
