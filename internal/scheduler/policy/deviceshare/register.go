package deviceshare

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/internal/model/resource"
)

// Sharing modes of a card.
const (
	modeHami = "hami-core"
	modeMig  = "mig"
)

const (
	wholeCard = 100     // percent of a card's cores
	maxCards  = 1 << 10 // maximum number of cards per node
)

// card is a GPU and its usage.
type card struct {
	id      string // UUID, or the number of a card of the GPU share device
	kind    string // for example NVIDIA-Tesla V100
	mode    string
	slots   int64 // number of containers that may share the card
	memory  int64 // MiB
	healthy bool

	used     amounts // used by placed containers, including leaving ones
	leaving  amounts // the part of used that will soon be free
	promised amounts // promised to tasks that are waiting for leaving tasks
	holders  []holder
}

// amounts holds used or requested amounts of a card.
type amounts struct{ slots, memory, cores int64 }

func (a *amounts) add(b amounts, sign int64) {
	a.slots += sign * b.slots
	a.memory += sign * b.memory
	a.cores += sign * b.cores
}

// holder is a task that uses a part of a card.
type holder struct {
	task     *model.Task
	amounts  amounts
	promised bool
	leaving  bool
}

// heldAmounts returns the amounts that count as used. If later is true, they are the future amounts, which exclude
// leaving tasks and include promised ones. Otherwise, they are the maximum of the current and the future amounts, so
// that promises can be kept.
func (c *card) heldAmounts(later bool) amounts {
	future := c.used
	future.add(c.leaving, -1)
	future.add(c.promised, 1)
	if later {
		return future
	}
	return amounts{max(c.used.slots, future.slots), max(c.used.memory, future.memory), max(c.used.cores, future.cores)}
}

// parseRegister parses the annotation in which a node lists its cards. Each record has the form
// uuid,count,memory,type,health,mode followed by a colon. Invalid records are skipped, and problem describes the
// first of them.
func parseRegister(text string) (cards []card, problem string) {
	for i, record := range strings.Split(text, ":") {
		if strings.TrimSpace(record) == "" {
			continue
		}
		c, err := parseCard(record)
		switch {
		case err != nil:
		case slices.ContainsFunc(cards, func(other card) bool { return other.id == c.id }):
			err = fmt.Errorf("uuid %s is listed twice", c.id)
		case len(cards) == maxCards:
			err = fmt.Errorf("more than %d cards", maxCards)
		default:
			cards = append(cards, c)
			continue
		}
		if problem == "" {
			problem = fmt.Sprintf("%s: record %d: %v", keys.VGPURegister, i, err)
		}
	}
	return cards, problem
}

func parseCard(record string) (card, error) {
	fields := strings.Split(record, ",")
	if len(fields) < 5 {
		return card{}, fmt.Errorf("must have the form uuid,count,memory,type,health[,mode]; found %d fields", len(fields))
	}
	for i := range fields {
		fields[i] = strings.TrimSpace(fields[i])
	}
	c := card{id: fields[0], kind: fields[3], mode: modeHami}
	var err error
	if c.slots, err = parseWholeNumber("count", fields[1]); err != nil {
		return card{}, err
	}
	if c.memory, err = parseWholeNumber("memory", fields[2]); err != nil {
		return card{}, err
	}
	if c.healthy, err = strconv.ParseBool(fields[4]); err != nil {
		return card{}, fmt.Errorf("health: must be true or false, not %q", fields[4])
	}
	if len(fields) > 5 && fields[5] != "" {
		c.mode = fields[5]
	}
	if c.id == "" {
		return card{}, fmt.Errorf("uuid: missing")
	}
	return c, nil
}

// parseWholeNumber parses a whole number that is not negative and not too large to be summed up.
func parseWholeNumber(what, text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || n > resource.MaxAmount {
		return 0, fmt.Errorf("%s: must be a whole number of at least 0, not %q", what, text)
	}
	return n, nil
}

// cardsForShare returns the cards of the GPU share device. All cards of a node have the same size. Unhealthy cards keep
// their pods but get no new ones.
func cardsForShare(info *model.NodeInfo) (cards []card, problem string) {
	var number, memory int64
	for _, a := range info.Devices {
		switch a.Name {
		case keys.GPUNumber:
			number = a.Value
		case keys.GPUMemory:
			memory = a.Value
		}
	}
	switch {
	case number == 0:
		return nil, ""
	case number > maxCards:
		return nil, fmt.Sprintf("%s: more than %d cards", keys.GPUNumber, maxCards)
	}
	for i := range number {
		cards = append(cards, card{id: strconv.FormatInt(i, 10), mode: modeHami, slots: resource.MaxAmount, memory: memory / number, healthy: true})
	}
	broken, err := parseIDs(info.Annotations[keys.GPUUnhealthyIDs])
	if err != nil {
		return cards, fmt.Sprintf("%s: %v", keys.GPUUnhealthyIDs, err)
	}
	for _, id := range broken {
		if id < len(cards) {
			cards[id].healthy = false
		}
	}
	return cards, ""
}

// parseIDs parses card numbers such as 0,2.
func parseIDs(text string) ([]int, error) {
	var ids []int
	for _, part := range strings.Split(text, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 || n >= maxCards {
			return nil, fmt.Errorf("must be card numbers such as 0,2, not %q", text)
		}
		if !slices.Contains(ids, n) {
			ids = append(ids, n)
		}
	}
	return ids, nil
}
