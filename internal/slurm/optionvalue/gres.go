package optionvalue

import (
	"regexp"
	"strconv"
	"strings"
)

// Gres is an amount of a generic resource.
type Gres struct {
	Name, Type string
	Count      int64
}

// String returns the amount in the format that ParseGres accepts.
func (g Gres) String() string {
	text := g.Name
	if g.Type != "" {
		text += ":" + g.Type
	}
	return text + ":" + strconv.FormatInt(g.Count, 10)
}

var gresWord = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*$`)

// ParseGres parses a list of name[[:type]:count]. The default count is 1. The word none stands for an empty list.
func ParseGres(text string) ([]Gres, error) {
	if strings.EqualFold(text, "none") || text == "" {
		return nil, nil
	}
	var all []Gres
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimPrefix(strings.TrimPrefix(part, "gres/"), "gres:")
		g, err := parseOneGres(part)
		if err != nil {
			return nil, err
		}
		all = append(all, g)
	}
	return all, nil
}

func parseOneGres(part string) (Gres, error) {
	const hint = "use a comma-separated list of NAME, NAME:COUNT or NAME:TYPE:COUNT, for example gpu:2 or gpu:a100:4"
	words := strings.Split(part, ":")
	g := Gres{Name: words[0], Count: 1}
	if !gresWord.MatchString(g.Name) || len(words) > 3 {
		return g, newError(hint)
	}
	last := words[len(words)-1]
	startsWithDigit := last != "" && last[0] >= '0' && last[0] <= '9'
	if len(words) > 1 && startsWithDigit {
		n, err := ParseScaled(last)
		if err != nil {
			return g, newError(hint)
		}
		g.Count, words = n, words[:len(words)-1]
	}
	switch {
	case len(words) == 2 && gresWord.MatchString(words[1]):
		g.Type = words[1]
	case len(words) > 1:
		return g, newError(hint)
	}
	return g, nil
}

// ParseGPUs parses the value of --gpus: [type:]count, or type:count,type:count.
func ParseGPUs(text string) ([]Gres, error) {
	var all []Gres
	for part := range strings.SplitSeq(text, ",") {
		g, err := parseOneGres("gpu:" + part)
		isTypeOnly := g.Type != "" && !strings.Contains(part, ":")
		if err != nil || part == "" || isTypeOnly {
			return nil, newError("use NUMBER or TYPE:NUMBER, for example 4 or a100:4")
		}
		all = append(all, g)
	}
	return all, nil
}

// ParseTRES parses the value of --tres-per-task, such as cpu=4,gres/gpu=2 or cpu:4,gres/gpu:a100:2. It rejects all
// other resources.
func ParseTRES(text string) (cpus int64, gpus []Gres, err error) {
	for part := range strings.SplitSeq(text, ",") {
		name, rest, _ := strings.Cut(strings.Replace(part, "=", ":", 1), ":")
		switch name {
		case "cpu":
			if cpus, err = ParseNumber(rest); err != nil {
				return 0, nil, err
			}
		case "gres/gpu":
			g, err := parseOneGres(strings.TrimSuffix("gpu:"+strings.ReplaceAll(rest, "=", ":"), ":"))
			if err != nil {
				return 0, nil, err
			}
			gpus = append(gpus, g)
		default:
			return 0, nil, newError("use cpu=N and gres/gpu[:TYPE]=N")
		}
	}
	return cpus, gpus, nil
}
