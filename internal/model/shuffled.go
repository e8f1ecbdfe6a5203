package model

import "time"

// AssumeShuffled records when a policy last moved pods.
func (c *Cluster) AssumeShuffled(policy string, at time.Time) {
	if c.Shuffled == nil {
		c.Shuffled = map[string]time.Time{}
	}
	c.Shuffled[policy] = at
}
