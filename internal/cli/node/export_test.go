package node

import "time"

// Tests retry the eviction of a protected pod quickly.
func init() { evictionRetry = 10 * time.Millisecond }
