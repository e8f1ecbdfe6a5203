package directive

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// shown returns the words of a script with their lines.
func shown(s Script) []string {
	var all []string
	for i, words := range s.Components {
		if i > 0 {
			all = append(all, ":")
		}
		for _, word := range words {
			all = append(all, fmt.Sprintf("%d %s", word.Line, word.Text))
		}
	}
	return all
}

func TestWhatIsADirective(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script string
		want   []string
	}{
		"one argument":      {"#SBATCH -N2", []string{"2 -N2"}},
		"several on a line": {"#SBATCH -N 2 -n 8", []string{"2 -N", "2 2", "2 -n", "2 8"}},
		"not in column 0":   {" #SBATCH -N2", nil},
		"commented out":     {"##SBATCH -N2", nil},
		"without a blank":   {"#SBATCH-N2", []string{"2 -N2"}},
		"of other systems":  {"#PBS -l nodes=2\n#BSUB -n 2\n#VSUB -x", nil},
		"blank lines and comments do not end them": {"\n# why\n\t \n#SBATCH -N2", []string{"5 -N2"}},
		"the first command does":                   {"#SBATCH -N2\necho x\n#SBATCH -n4", []string{"2 -N2"}},
		"an indented comment does not":             {"  # x\n#SBATCH -N2", []string{"3 -N2"}},
		"quotes":                                   {`#SBATCH --comment="a b" -J 'c d'`, []string{"2 --comment=a b", "2 -J", "2 c d"}},
		"a quote within the other":                 {`#SBATCH -J "it's"`, []string{"2 -J", "2 it's"}},
		"an escaped blank":                         {`#SBATCH -J a\ b`, []string{"2 -J", "2 a b"}},
		"an escaped letter is itself":              {`#SBATCH -J a\bc\\`, []string{"2 -J", `2 abc\`}},
		"a comment after it":                       {"#SBATCH -N2 # two", []string{"2 -N2"}},
		"a comment within a word":                  {"#SBATCH -N2#two -n4", []string{"2 -N2"}},
		"a number sign in quotes":                  {`#SBATCH -J 'a#b' \#c`, []string{"2 -J", "2 a#b", "2 #c"}},
		"nothing is expanded":                      {"#SBATCH -J $HOME ~ *", []string{"2 -J", "2 $HOME", "2 ~", "2 *"}},
		"an empty word in quotes":                  {`#SBATCH -J ""`, []string{"2 -J", "2 "}},
		"a directive with nothing":                 {"#SBATCH\n#SBATCH   ", nil},
		"tabs":                                     {"#SBATCH\t-N\t2", []string{"2 -N", "2 2"}},
		"#SLURM counts":                            {"#SLURM -N2", []string{"2 -N2"}},
		"components":                               {"#SBATCH -n1\n#SBATCH hetjob\n#SBATCH -n2\n#SBATCH packjob\n#SBATCH -n3", []string{"2 -n1", ":", "4 -n2", ":", "6 -n3"}},
		"hetjob beside something else is a word":   {"#SBATCH hetjob -n1", []string{"2 hetjob", "2 -n1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := ParseScript([]byte("#!/bin/sh\n" + c.script + "\n"))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, shown(s)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWhatIsRemarked(t *testing.T) {
	t.Parallel()
	s, err := ParseScript([]byte("#!/bin/sh\n#SLURM -N2\necho\n#SBATCH -n4\n#SBATCH -n5\n"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][]int{{2}, {4, 5}}, [][]int{s.Slurm, s.Late}); diff != "" {
		t.Error(diff)
	}
}

func TestUnclosedQuoteIsReportedWithItsLine(t *testing.T) {
	t.Parallel()
	_, err := ParseScript([]byte("#!/bin/sh\n\n\n\n#SBATCH --comment=\"a b\n"))
	if want := "line 5: Unmatched `\"` in [--comment=\"a b]"; err == nil || err.Error() != want {
		t.Errorf("the error is %v, want %s", err, want)
	}
}

func TestWhatIsNoScript(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                        "Batch script is empty!",
		" \n\t":                   "only whitespace",
		"echo hi":                 "This does not look like a batch script.  The first\nline must start with #! followed by the path to an interpreter.\nFor instance: #!/bin/sh",
		"#!/bin/sh\na\x00b":       "NUL byte on line 2",
		"#!/bin/sh\necho\r\nls\n": `DOS line endings (\r\n), first on line 2`,
		"#!/bin/sh\n" + strings.Repeat("#", MaxSize): "larger than 921600",
	} {
		if err := CheckScript([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Check(%.20q) = %v, want %s", text, err, want)
		}
	}
	if err := CheckScript([]byte("#!/bin/sh\n")); err != nil {
		t.Error(err)
	}
}

// Read returns the words that FormatDirective has written.
func FuzzRead(f *testing.F) {
	for _, text := range []string{"-N 2 -n 8", `--comment="a b" 'c'`, `a\ b # c`, "\x00\xff", "hetjob"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseScript([]byte("#!/bin/sh\n#SBATCH " + text))
		if err != nil {
			return
		}
		for _, words := range s.Components {
			again, err := ParseScript([]byte("#!/bin/sh\n" + FormatDirective(WordTexts(words))))
			if err != nil {
				t.Fatal(err)
			}
			texts := WordTexts(words)
			if strings.Contains(strings.Join(texts, ""), "\n") || len(texts) == 1 && (texts[0] == "hetjob" || texts[0] == "packjob") {
				continue
			}
			if diff := cmp.Diff(texts, WordTexts(again.Components[0])); diff != "" {
				t.Fatal(diff)
			}
		}
	})
}
