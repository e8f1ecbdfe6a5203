package deviceshare

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/model"
)

// The modes in which a card is shared.
const (
	modeHami = "hami-core"
	modeMig  = "mig"
)

const (
	wholeCard = 100     // percent of a card's cores
	maxCards  = 1 << 10 // of a node; more are not believed
)

// card is one GPU and what of it is in use.
type card struct {
	id      string // uuid; of a card of the GPU share device its number
	kind    string // such as NVIDIA-Tesla V100
	mode    string
	slots   int64 // how many containers may share it
	memory  int64 // MiB
	healthy bool

	used     amounts // by containers that are there, leaving ones included
	leaving  amounts // the part of used that is about to end
	promised amounts // to tasks that wait for what is leaving
	holders  []holder
}

// amounts are parts of a card.
type amounts struct{ slots, memory, cores int64 }

func (a *amounts) add(b amounts, sign int64) {
	a.slots += sign * b.slots
	a.memory += sign * b.memory
	a.cores += sign * b.cores
}

// holder is a task that has parts of a card.
type holder struct {
	task     *model.Task
	amounts  amounts
	promised bool
	leaving  bool
}

// held is what counts as taken. Now: what is there, and what will be there, as
// promises must be kept; later: what will be there only.
func (c *card) held(later bool) amounts {
	future := c.used
	future.add(c.leaving, -1)
	future.add(c.promised, 1)
	if later {
		return future
	}
	return amounts{max(c.used.slots, future.slots), max(c.used.memory, future.memory), max(c.used.cores, future.cores)}
}

// parseRegister reads a node's list of cards: uuid,count,memory,type,health,mode
// each, ended by colons. Records that cannot be read are left out; problem tells
// of the first.
func parseRegister(text string) (cards []card, problem string) {
	for i, record := range strings.Split(text, ":") {
		if strings.TrimSpace(record) == "" {
			continue
		}
		c, err := parseCard(record)
		switch {
		case err != nil:
		case slices.ContainsFunc(cards, func(other card) bool { return other.id == c.id }):
			err = fmt.Errorf("uuid %s is there twice", c.id)
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
		return card{}, fmt.Errorf("want uuid,count,memory,type,health[,mode], have %d fields", len(fields))
	}
	for i := range fields {
		fields[i] = strings.TrimSpace(fields[i])
	}
	c := card{id: fields[0], kind: fields[3], mode: modeHami}
	var err error
	if c.slots, err = whole("count", fields[1]); err != nil {
		return card{}, err
	}
	if c.memory, err = whole("memory", fields[2]); err != nil {
		return card{}, err
	}
	if c.healthy, err = strconv.ParseBool(fields[4]); err != nil {
		return card{}, fmt.Errorf("health: want true or false, have %q", fields[4])
	}
	if len(fields) > 5 && fields[5] != "" {
		c.mode = fields[5]
	}
	if c.id == "" {
		return card{}, fmt.Errorf("uuid: missing")
	}
	return c, nil
}

// whole reads a number that is not negative and that sums of may be made of.
func whole(what, text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || n > model.MaxAmount {
		return 0, fmt.Errorf("%s: want a whole number of at least 0, have %q", what, text)
	}
	return n, nil
}

// shareCards makes the cards of the GPU share device: as many as there are, of
// one size; those that are out of order keep what runs on them and get no more.
func shareCards(info *model.NodeInfo) (cards []card, problem string) {
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
		cards = append(cards, card{id: strconv.FormatInt(i, 10), mode: modeHami, slots: model.MaxAmount, memory: memory / number, healthy: true})
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

// parseIDs reads numbers of cards: 0,2.
func parseIDs(text string) ([]int, error) {
	var ids []int
	for _, part := range strings.Split(text, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 || n >= maxCards {
			return nil, fmt.Errorf("want numbers of cards such as 0,2, have %q", text)
		}
		if !slices.Contains(ids, n) {
			ids = append(ids, n)
		}
	}
	return ids, nil
}
