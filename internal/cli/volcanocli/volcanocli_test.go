package volcanocli

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/iostreams"
)

func TestProgramsAreCommandLinesOfVcctl(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		line string
		env  map[string]string
		want string
		fail string
	}{
		"a job":                                {line: "vsub -n nap", want: "job run --name=nap --replicas=1 --min=1 --requests=cpu=1000m,memory=100Mi"},
		"a job with all there is":              {line: "vsub -n nap -N nlp -i img -m 2 -r 3 -R cpu=1 -L cpu=2 -S other -s http://x -k kc", want: "--server=http://x --kubeconfig=kc --namespace=nlp job run --name=nap --replicas=3 --min=2 --requests=cpu=1 --limits=cpu=2 --image=img --scheduler=other"},
		"a command is split into words":        {line: "vsub|-n|nap|-c|sh -c 'sleep 1; echo a b'", want: "job run --name=nap --replicas=1 --min=1 --requests=cpu=1000m,memory=100Mi -- sh -c sleep 1; echo a b"},
		"variables stand for flags":            {line: "vsub -n nap", env: map[string]string{"VOLCANO_DEFAULT_IMAGE": "img", "VOLCANO_DEFAULT_JOB_NAMESPACE": "nlp", "VOLCANO_SCHEDULER_NAME": "other"}, want: "--namespace=nlp job run --name=nap --replicas=1 --min=1 --requests=cpu=1000m,memory=100Mi --image=img --scheduler=other"},
		"flags go before variables":            {line: "vsub -n nap -i mine", env: map[string]string{"VOLCANO_DEFAULT_IMAGE": "img"}, want: "job run --name=nap --replicas=1 --min=1 --requests=cpu=1000m,memory=100Mi --image=mine"},
		"a job without a name":                 {line: "vsub -i img", fail: "job name cannot be left blank"},
		"a command that ends within a quote":   {line: "vsub|-n|nap|-c|sh -c 'sleep", fail: `--command: "sh -c 'sleep" has an unclosed quote`},
		"the list of jobs":                     {line: "vjobs", want: "job list --compat"},
		"the list of jobs of all namespaces":   {line: "vjobs --all-namespaces -S volcano --selector nap", want: "job list --compat --scheduler=volcano --selector=nap --all-namespaces"},
		"the variables of vsub are vsub's":     {line: "vjobs", env: map[string]string{"VOLCANO_DEFAULT_JOB_NAMESPACE": "nlp"}, want: "job list --compat"},
		"one job":                              {line: "vjobs -n nap -N nlp", want: "--namespace=nlp job view --name=nap"},
		"cancel":                               {line: "vcancel -n nap -N nlp", want: "--namespace=nlp job delete --name=nap"},
		"suspend":                              {line: "vsuspend -n nap", want: "job suspend --name=nap"},
		"resume":                               {line: "vresume -n nap", want: "job resume --name=nap"},
		"cancel without a name":                {line: "vcancel", fail: "job name is mandatory to cancel a particular job"},
		"suspend without a name":               {line: "vsuspend", fail: "job name is mandatory to suspend a particular job"},
		"a name as an argument is not old":     {line: "vcancel nap", fail: `unexpected argument "nap": specify the name with -n NAME`},
		"a flag that does not exist":           {line: "vresume --nmae x", fail: "unknown flag: --nmae"},
		"vqueues takes no namespace, as there": {line: "vqueues -N nlp", fail: "unknown shorthand flag: 'N' in -N"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			words := strings.Fields(tc.line)
			if strings.Contains(tc.line, "|") {
				words = strings.Split(tc.line, "|")
			}
			streams, _, _ := iostreams.TestStreams("", 0)
			streams.Env = func(name string) string { return tc.env[name] }
			var got string
			cmd := New(cli.NewFactory("vcctl", &streams), words[0], func(_ context.Context, args []string) error {
				got = strings.Join(args, " ")
				return nil
			})
			cmd.SetArgs(words[1:])
			err := cmd.ExecuteContext(t.Context())
			if err != nil {
				var text bytes.Buffer
				cli.ReportError(&text, err, cli.Connection{})
				if want := "error: " + tc.fail + "\nhint:  "; tc.fail == "" || !strings.HasPrefix(text.String(), want) {
					t.Errorf("got %q, want it to begin with %q", text.String(), want)
				}
				return
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || tc.fail != "" {
				t.Errorf("want error %q; arguments (-want +got):\n%s", tc.fail, diff)
			}
		})
	}
}

// Quoting arbitrary words one by one and splitting the result returns the same words.
func TestSplitTakesQuotesAway(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringOf(rapid.RuneFrom([]rune(`ab '"\	ä`))), 0, 4).Draw(t, "words")
		quoted := make([]string, len(words))
		for i, word := range words {
			quoted[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
		got, err := splitWords(strings.Join(quoted, " "))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(words, got); diff != "" && len(words)+len(got) > 0 {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// FuzzSplit checks that only a blank text has no words, and that quoting and splitting words again does not change
// them.
func FuzzSplit(f *testing.F) {
	f.Add(`sh -c 'sleep 1'`)
	f.Add(`a\ b "c d`)
	f.Add("\f ")
	f.Fuzz(func(t *testing.T, text string) {
		words, err := splitWords(text)
		if err != nil {
			return
		}
		onlyBlanks := strings.Trim(text, " \t\n") == ""
		if onlyBlanks != (len(words) == 0) {
			t.Errorf("%q is split into %q", text, words)
		}
		var quoted []string
		for _, word := range words {
			quoted = append(quoted, "'"+strings.ReplaceAll(word, "'", `'\''`)+"'")
		}
		again, err := splitWords(strings.Join(quoted, " "))
		if err != nil || !slices.Equal(words, again) {
			t.Errorf("%q is split into %q; quoted again, into %q: %v", text, words, again, err)
		}
	})
}
