package node

import "time"

// Tests do not wait long before a protected pod is tried again.
func init() { evictionRetry = 10 * time.Millisecond }
