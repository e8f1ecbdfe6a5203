package deviceshare

import (
	"fmt"
	"strings"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/podshape"
	"github.com/vc-batch/vc/internal/model/resource"
)

// unset is the memory percentage with which Volcano represents a missing value.
const unset = 101

// ask is a pod's request for shared devices.
type ask struct {
	vgpu  bool // request registered cards instead of the GPU share device
	parts []part
	// The following fields restrict which cards are acceptable.
	useKinds, avoidKinds []string
	useIDs, avoidIDs     []string
	mode                 string
	apart                bool // the pod must not share a card with another pod of its gang
	problem              string
}

// part is the request of one container: a number of cards, and an amount of each card.
type part struct {
	cards   int64
	memory  int64 // MiB of each card; 0 if percent applies instead
	percent int64 // of each card's memory
	cores   int64
	whole   bool // request whole cards of the GPU share device
}

// amountsOnCard returns the amounts of a card that the part uses.
func (p *part) amountsOnCard(c *card) amounts {
	switch {
	case p.whole:
		return amounts{1, c.memory, wholeCard}
	case p.memory > 0:
		return amounts{1, p.memory, p.cores}
	}
	return amounts{1, (c.memory*p.percent + 99) / 100, p.cores}
}

// parseShapeRequest returns a shape's request for devices. It returns nil if the shape requests no device that this
// policy handles.
func (p *Policy) parseShapeRequest(s *model.Shape) *ask {
	a := &ask{}
	var share part
	for i := range s.Containers {
		c := &s.Containers[i]
		var v, g part
		if p.vgpu {
			v = parseVGPURequest(c, a)
		}
		if g = parseShareRequest(c); !p.handlesShare(g) {
			g = part{}
		}
		if c.Init || c.Sidecar {
			if v.cards+g.cards > 0 {
				a.recordProblem("init container %s requests a shared device, but device plugins support only regular containers", c.Name)
			}
			continue
		}
		a.parts = append(a.parts, v)
		a.vgpu = a.vgpu || v.cards > 0
		share.mergeRequest(g)
	}
	switch {
	case a.vgpu && share.cards > 0:
		a.recordProblem("the pod cannot request %s together with %s or %s", keys.VGPUNumber, keys.GPUMemory, keys.GPUNumber)
	case share.cards > 0:
		a.parts = []part{share}
	case !a.vgpu && a.problem == "":
		return nil
	}
	if a.vgpu {
		a.parseAnnotations(s.Notes)
	}
	return a
}

// handlesShare reports whether the policy handles a container's request for the GPU share device.
func (p *Policy) handlesShare(g part) bool {
	if g.whole {
		return p.number && g.cards > 0
	}
	return p.memory && g.cards > 0
}

func (a *ask) recordProblem(format string, args ...any) {
	if a.problem == "" {
		a.problem = fmt.Sprintf(format, args...)
	}
}

// parseVGPURequest returns a container's request for registered cards. A request without memory takes the whole memory
// of the card.
func parseVGPURequest(c *podshape.Container, a *ask) part {
	number, _ := c.DeviceAmount(keys.VGPUNumber)
	memory, _ := c.DeviceAmount(keys.VGPUMemory)
	percent, _ := c.DeviceAmount(keys.VGPUMemoryPercentage)
	cores, _ := c.DeviceAmount(keys.VGPUCores)
	switch {
	case number == 0 && memory+percent+cores > 0:
		a.recordProblem("container %s requests parts of cards, but %s is 0", c.Name, keys.VGPUNumber)
	case cores > wholeCard:
		a.recordProblem("container %s requests %s %d, but a card has only %d", c.Name, keys.VGPUCores, cores, wholeCard)
	case percent > unset:
		a.recordProblem("container %s requests %s %d, but a card has only 100", c.Name, keys.VGPUMemoryPercentage, percent)
	}
	if percent == 0 || percent >= unset {
		percent = 100
	}
	return part{cards: min(number, maxCards+1), memory: memory, percent: percent, cores: min(cores, wholeCard)}
}

// parseShareRequest returns a container's request for the GPU share device.
func parseShareRequest(c *podshape.Container) part {
	if number, _ := c.DeviceAmount(keys.GPUNumber); number > 0 {
		return part{cards: min(number, maxCards+1), whole: true}
	}
	if memory, _ := c.DeviceAmount(keys.GPUMemory); memory > 0 {
		return part{cards: 1, memory: memory}
	}
	return part{}
}

// mergeRequest merges the containers' requests for the GPU share device into one, because the annotation that stores
// the cards applies to the whole pod. A request for whole cards replaces any request for memory.
func (p *part) mergeRequest(g part) {
	switch {
	case g.cards == 0:
	case g.whole && p.whole:
		p.cards = min(p.cards+g.cards, maxCards+1)
	case g.whole:
		*p = g
	case !p.whole:
		*p = part{cards: 1, memory: min(p.memory+g.memory, resource.MaxAmount)}
	}
}

func (a *ask) parseAnnotations(notes map[string]string) {
	a.useKinds, a.avoidKinds = splitWords(notes[keys.VGPUUseType]), splitWords(notes[keys.VGPUNoUseType])
	a.useIDs, a.avoidIDs = splitWords(notes[keys.VGPUUseUUID]), splitWords(notes[keys.VGPUNoUseUUID])
	a.mode = strings.TrimSpace(notes[keys.VGPUMode])
	switch a.mode {
	case "", modeHami, modeMig:
	default:
		a.recordProblem("%s: must be %s or %s, not %q", keys.VGPUMode, modeHami, modeMig, a.mode)
	}
	switch policy := notes[keys.VGPUPodGroupPolicy]; policy {
	case "":
	case "spread":
		a.apart = true
	default:
		a.recordProblem("%s: must be spread, not %q", keys.VGPUPodGroupPolicy, policy)
	}
}

func splitWords(text string) []string {
	var out []string
	for _, w := range strings.Split(text, ",") {
		if w = strings.TrimSpace(w); w != "" {
			out = append(out, w)
		}
	}
	return out
}

// acceptsCard reports whether the pod's annotations permit it to use a card.
func (a *ask) acceptsCard(c *card) bool {
	if !a.vgpu {
		return true
	}
	kind := func(names []string) bool {
		for _, name := range names {
			if strings.Contains(strings.ToUpper(c.kind), strings.ToUpper(name)) {
				return true
			}
		}
		return false
	}
	id := func(names []string) bool {
		for _, name := range names {
			if name == c.id {
				return true
			}
		}
		return false
	}
	switch {
	case a.mode != "" && a.mode != c.mode, c.mode == modeMig:
		return false
	case len(a.useKinds) > 0 && !kind(a.useKinds), kind(a.avoidKinds):
		return false
	}
	return (len(a.useIDs) == 0 || id(a.useIDs)) && !id(a.avoidIDs)
}
