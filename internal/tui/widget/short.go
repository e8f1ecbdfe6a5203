package widget

import (
	"fmt"
	"time"
)

// Short writes a duration in one unit: 12s, 4m, 3h, 2d.
func Short(d time.Duration) string {
	switch d = max(d, 0); {
	case d < 2*time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}
