package queues

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/clusterops"
	"github.com/vc-batch/vc/internal/tui/screenapi"
)

// limits holds the settings of a queue that can be edited. They are edited in the following form:
//
//	weight=4 guarantee=nvidia.com/gpu=64 deserved=nvidia.com/gpu=256 capability=-
//
// Commas separate the amounts of a limit; "-" means no limit.
type limits map[string]string

// limitNames lists the limits in the order in which they are shown for editing.
var limitNames = []string{"weight", "guarantee", "deserved", "capability"}

func limitsFromSpec(spec *schedulingv1beta1.QueueSpec) limits {
	return limits{
		"weight": strconv.Itoa(int(spec.Weight)), "guarantee": amountsText(spec.Guarantee.Resource),
		"deserved": amountsText(spec.Deserved), "capability": amountsText(spec.Capability),
	}
}

// amountsText formats a list in the format of the command line, for example cpu=8,nvidia.com/gpu=4.
func amountsText(list corev1.ResourceList) string {
	var parts []string
	for name, amount := range list {
		parts = append(parts, string(name)+"="+amount.String())
	}
	if len(parts) == 0 {
		return "-"
	}
	slices.Sort(parts)
	return strings.Join(parts, ",")
}

func (l limits) formatLimits() string {
	var parts []string
	for _, name := range limitNames {
		parts = append(parts, name+"="+l[name])
	}
	return strings.Join(parts, " ")
}

// parseLimits parses an edited line. Limits that it does not contain remain unchanged.
func parseLimits(line string) (limits, error) {
	read := limits{}
	for _, word := range strings.Fields(line) {
		name, value, _ := strings.Cut(word, "=")
		switch {
		case !slices.Contains(limitNames, name):
			return nil, fmt.Errorf("unknown limit %q; limits: %s", name, strings.Join(limitNames, ", "))
		case read[name] != "":
			return nil, fmt.Errorf("%s is set twice", name)
		case name == "weight":
			if _, err := clusterops.ParseWeight(value); err != nil {
				return nil, err
			}
			read[name] = value
		default:
			list, err := clusterops.ParseAmounts(name, value)
			if err != nil {
				return nil, err
			}
			read[name] = amountsText(list)
		}
	}
	return read, nil
}

// changesFromTo returns the changes from l to after, as an edit and in words.
func (l limits) changesFromTo(after limits) (edit screenapi.QueueEdit, words []string) {
	into := map[string]*string{"weight": &edit.Weight, "guarantee": &edit.Guarantee, "deserved": &edit.Deserved, "capability": &edit.Capability}
	for _, name := range limitNames {
		if value, named := after[name]; named && value != l[name] {
			*into[name] = value
			words = append(words, fmt.Sprintf("%-10s %s -> %s", name, l[name], value))
		}
	}
	return edit, words
}
