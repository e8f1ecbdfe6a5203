package predicates

import (
	"fmt"
	"time"

	"github.com/vc-batch/vc/internal/scheduler/config"
	"github.com/vc-batch/vc/internal/scheduler/framework"
)

// Kubernetes' defaults for how long a bind waits for its volumes, and for how long the search for devices on a single
// node may take.
const (
	bindTimeoutSeconds   = 600
	deviceTimeoutSeconds = 10
)

// parseAttaching parses the arguments for volumes and devices.
func parseAttaching(arguments config.Arguments, warn func(string)) framework.Attaching {
	on := func(key string) bool { return arguments.Bool("predicate."+key+"Enable", true, warn) }
	a := framework.Attaching{
		Limits: on("NodeVolumeLimits"), Zones: on("VolumeZone"), Binding: on("VolumeBinding"), Devices: on("DynamicResourceAllocation"),
		Weight:        max(arguments.Float("volumebinding.weight", 1, warn), 0),
		BindTimeout:   parseSeconds(arguments, "volumebinding.bindTimeoutSeconds", bindTimeoutSeconds, warn),
		DeviceTimeout: parseSeconds(arguments, "dynamicresources.filterTimeoutSeconds", deviceTimeoutSeconds, warn),
	}
	parseCurve(&a, arguments["volumebinding.shape"], func(text string) {
		a.Points = 0
		if warn != nil {
			warn("argument volumebinding.shape: " + text + "; volumes do not affect node scores")
		}
	})
	return a
}

// parseSeconds parses a non-negative number of seconds.
func parseSeconds(arguments config.Arguments, key string, fallback int, warn func(string)) time.Duration {
	n := arguments.Int(key, fallback, warn)
	const most = 24 * 60 * 60
	if n < 0 || n > most {
		if warn != nil {
			warn(fmt.Sprintf("argument %s: must be from 0 to %d seconds, not %d; %d is used", key, most, n, fallback))
		}
		n = fallback
	}
	return time.Duration(n) * time.Second
}

// parseCurve parses a list of {utilization, score} pairs, like the shape in kube-scheduler's configuration:
// utilization increases from 0 to 100, and score is between 0 and 10.
func parseCurve(a *framework.Attaching, value any, bad func(string)) {
	if value == nil {
		return
	}
	list, ok := value.([]any)
	if !ok || len(list) == 0 {
		bad(fmt.Sprintf("must be a list of {utilization: 0-100, score: 0-10}, not %v", value))
		return
	}
	for _, item := range list {
		point, _ := item.(map[string]any)
		p, good := parseCurvePoint(point)
		switch {
		case !good:
			bad(fmt.Sprintf("must be {utilization: 0-100, score: 0-10}, not %v", item))
			return
		case a.Points > 0 && p.Utilization <= a.Curve[a.Points-1].Utilization:
			bad(fmt.Sprintf("utilization %d is not greater than the previous value %d", p.Utilization, a.Curve[a.Points-1].Utilization))
			return
		case !a.AddPoint(p):
			bad("too many points")
			return
		}
	}
}

func parseCurvePoint(point map[string]any) (framework.CurvePoint, bool) {
	u, okU := parseNumber(point["utilization"])
	s, okS := parseNumber(point["score"])
	areNumbers := okU && okS && len(point) == 2
	areInRange := min(u, s) >= 0 && u <= 100 && s <= 10
	return framework.CurvePoint{Utilization: int32(u), Score: int32(s)}, areNumbers && areInRange
}

// parseNumber returns a whole number from a YAML value. It returns false for any other value.
func parseNumber(value any) (int, bool) {
	switch v := value.(type) {
	case int:
		return v, true
	case int64:
		return int(v), true
	case float64:
		return int(v), v == float64(int(v))
	}
	return 0, false
}
