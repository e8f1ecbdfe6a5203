package deviceshare

import (
	"fmt"
	"strconv"
	"strings"
)

// piece is the part of a card that a container gets.
type piece struct {
	card    string // ID of the card
	kind    string
	amounts amounts
}

// grant holds the pieces that each container of a pod gets, in the order of containers in the pod's spec. Containers
// without a request have an empty entry, so that the positions match.
type grant [][]piece

// String formats the grant for the annotation volcano.sh/vgpu-ids-new: containers are separated by semicolons, and
// each device is formatted as uuid,type,memory,cores followed by a colon.
func (g grant) String() string {
	var b strings.Builder
	for i, pieces := range g {
		if i > 0 {
			b.WriteByte(';')
		}
		for _, p := range pieces {
			fmt.Fprintf(&b, "%s,%s,%d,%d:", p.card, p.kind, p.amounts.memory, p.amounts.cores)
		}
	}
	return b.String()
}

// parseGrant parses the annotation volcano.sh/vgpu-ids-new.
func parseGrant(text string) (grant, error) {
	if text == "" {
		return nil, fmt.Errorf("empty")
	}
	var g grant
	for _, container := range strings.Split(text, ";") {
		var pieces []piece
		for _, record := range strings.Split(container, ":") {
			if strings.TrimSpace(record) == "" {
				continue
			}
			p, err := parsePiece(record)
			if err != nil {
				return nil, err
			}
			pieces = append(pieces, p)
		}
		g = append(g, pieces)
	}
	return g, nil
}

func parsePiece(record string) (piece, error) {
	fields := strings.Split(record, ",")
	if len(fields) != 4 || fields[0] == "" {
		return piece{}, fmt.Errorf("must be uuid,type,memory,cores, not %q", record)
	}
	memory, err := parseWholeNumber("memory", fields[2])
	if err != nil {
		return piece{}, err
	}
	cores, err := parseWholeNumber("cores", fields[3])
	if err != nil {
		return piece{}, err
	}
	return piece{card: fields[0], kind: fields[1], amounts: amounts{1, memory, min(cores, wholeCard)}}, nil
}

// formatIndexes formats the grant for the annotation volcano.sh/gpu-index.
func (g grant) formatIndexes() string {
	var ids []string
	for _, pieces := range g {
		for _, p := range pieces {
			ids = append(ids, p.card)
		}
	}
	return strings.Join(ids, ",")
}

// grantFromIndexes returns the grant for a list of cards of the GPU share device.
func grantFromIndexes(text string, amounts amounts) (grant, error) {
	ids, err := parseIDs(text)
	if err != nil {
		return nil, err
	}
	if len(ids) == 0 {
		return nil, fmt.Errorf("empty")
	}
	var pieces []piece
	for _, id := range ids {
		pieces = append(pieces, piece{card: strconv.Itoa(id), amounts: amounts})
	}
	return grant{pieces}, nil
}
