package filter

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type row struct {
	name, state string
	queues      []string
	gpus        float64
	seconds     float64
}

var fields = Fields[row]{
	Words: []Word[row]{
		{Key: "queue", Also: []string{"q"}, Of: func(r row, to []string) []string { return append(to, r.queues...) }},
		{Key: "st", Whole: true, Of: func(r row, to []string) []string { return append(to, r.state) }},
		{Key: "name", Of: func(r row, to []string) []string { return append(to, r.name) }},
	},
	Numbers: []Number[row]{
		{Key: "gpu", Of: func(r row) float64 { return r.gpus }},
		{Key: "time", Time: true, Of: func(r row) float64 { return r.seconds }},
		{Key: "since", Time: true, Maximum: true, Of: func(r row) float64 { return r.seconds }},
	},
	Text: func(r row, to []string) []string { return append(append(to, r.name), r.queues...) },
}

var rows = []row{
	{name: "llama-sft", state: "R", queues: []string{"nlp", "research"}, gpus: 128, seconds: 100000},
	{name: "det-finetune", state: "PD", queues: []string{"vision", "research"}, gpus: 16},
	{name: "hp sweep", state: "RQ", queues: []string{"prod"}, gpus: 1, seconds: 60},
}

func TestRowsAreFiltered(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		text string
		want string
	}{
		"nothing typed shows all":                   {"", "llama-sft det-finetune hp sweep"},
		"a word stands anywhere, capitals aside":    {"SFT", "llama-sft"},
		"a word may stand in the name of the queue": {"visi", "det-finetune"},
		"a key looks at its own field only":         {"name:vision", ""},
		"a queue above counts, too":                 {"queue:research", "llama-sft det-finetune"},
		"a key has a short name":                    {"q:prod", "hp sweep"},
		"values are beginnings":                     {"queue:res", "llama-sft det-finetune"},
		"after an equals sign they are the whole":   {"queue=res,nlp", "llama-sft"},
		"states are whole words":                    {"st:r", "llama-sft"},
		"one of several values is enough":           {"st:r,pd", "llama-sft det-finetune"},
		"all terms must hold":                       {"queue:research gpu>=64", "llama-sft"},
		"amounts are compared":                      {"gpu<16", "hp sweep"},
		"amounts may be equal":                      {"gpu=16", "det-finetune"},
		"at most":                                   {"gpu<=16", "det-finetune hp sweep"},
		"more than":                                 {"gpu>16", "llama-sft"},
		"a colon asks for exactly so much":          {"gpu:1", "hp sweep"},
		"times have units":                          {"time>=1d", "llama-sft"},
		"since has a maximum":                       {"since:90s", "det-finetune hp sweep"},
		"times have small units":                    {"time>0s time<=90s", "hp sweep"},
		"an exclamation mark turns a term round":    {"!queue:research", "hp sweep"},
		"a star stands for anything":                {"name:*f*t*", "llama-sft det-finetune"},
		"stars keep beginning and end":              {"name:l*e", ""},
		"quotes keep blanks":                        {`"hp s"`, "hp sweep"},
		"an open quote holds until the end":         {`"hp s`, "hp sweep"},
		"a key without a value holds for all":       {"queue: gpu>= st:,", "llama-sft det-finetune hp sweep"},
		"an exclamation mark alone holds for all":   {"!", "llama-sft det-finetune hp sweep"},
		"a key without a value, turned round, also": {"!queue:", "llama-sft det-finetune hp sweep"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			filter, err := fields.Parse(tc.text)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, r := range rows {
				if filter.Match(r) {
					names = append(names, r.name)
				}
			}
			if diff := cmp.Diff(tc.want, strings.Join(names, " ")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWhatIsWrongIsSaid(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ text, want string }{
		"a key that does not exist": {"zone:a", `unknown key "zone:"; put the word in quotes, or use queue: st: name: gpu>= time>= since:`},
		"a misspelled key":          {"nam:a", `unknown key "nam:"; did you mean name:?`},
		"a number that is none":     {"gpu>=x", `gpu: "x" is not a number; for example, use gpu>=8`},
		"not a number":              {"gpu>=NaN", `gpu: "NaN" is not a number; for example, use gpu>=8`},
		"a time that is none":       {"time>3x", `time: "3x" is not a duration; for example, use time>=2h, 90s, 5m or 3d`},
		"a word is no amount":       {"queue>3", "queue is not numeric: use queue:3"},
		"text behind a quote":       {`"a"b`, `a closing " must be followed by a space`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := fields.Parse(tc.text)
			if err == nil || err.Error() != tc.want {
				t.Errorf("got  %v\nwant %s", err, tc.want)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"queue:research st:pd,r gpu>=8", `!"a b" name:*x*`, "time<3d", "!!", `"`, "gpu>=1e309", ":", "a=b"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		filter, err := fields.Parse(text)
		if err != nil {
			if err.Error() == "" {
				t.Error("an error without words")
			}
			return
		}
		for _, r := range rows {
			filter.Match(r)
		}
		if again, err := fields.Parse(" " + text + " "); err != nil || !strings.Contains(text, `"`) && again.Match(rows[0]) != filter.Match(rows[0]) {
			t.Errorf("blanks around %q change it: %v", text, err)
		}
	})
}
