package node

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/nodecapacity"
)

// devicesText returns IDLE/ALLOCATABLE for each kind of device, for example "gpu 3/8".
func devicesText(idle, has nodecapacity.Amounts, unknown bool) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(has.Devices)) {
		if unknown {
			parts = append(parts, fmt.Sprintf("%s %d", cli.ShortResource(name), has.Devices[name]))
			continue
		}
		parts = append(parts, fmt.Sprintf("%s %d/%d", cli.ShortResource(name), idle.Devices[name], has.Devices[name]))
	}
	if len(parts) == 0 {
		return "-"
	}
	return strings.Join(parts, ", ")
}
