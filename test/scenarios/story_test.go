package scenarios

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the outcomes of the stories")

// TestStories runs every story. A failed story prints the differences. To update the stories, run
//
//	go test ./test/scenarios -run TestStories/NAME -rewrite
//
// and review the result with git diff.
func TestStories(t *testing.T) {
	files, err := filepath.Glob("*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no stories: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(file, ".txt"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			told := tell(t, string(text))
			if len(text) == 0 {
				t.Errorf("%s is empty", file)
			}
			if *rewrite {
				if err := os.WriteFile(file, []byte(told), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(strings.Split(string(text), "\n"), strings.Split(told, "\n")); diff != "" {
				t.Errorf("%s (-written +happened):\n%s", file, diff)
			}
		})
	}
}

// tell runs a story and returns it with its new answers.
func tell(t *testing.T, text string) string {
	t.Helper()
	w := newWorld(t)
	var out strings.Builder
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i := 0; i < len(lines); {
		line := lines[i]
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") {
			out.WriteString(line + "\n")
			i++
			continue
		}
		var block []string
		for ; i < len(lines) && lines[i] != "----"; i++ {
			if strings.TrimSpace(lines[i]) == "" || strings.HasPrefix(lines[i], "#") {
				break
			}
			block = append(block, lines[i])
		}
		if i < len(lines) && lines[i] == "----" { // skip the old answer
			for i++; i < len(lines) && strings.TrimSpace(lines[i]) != ""; i++ {
				continue
			}
		}
		answer := w.do(block[0], block[1:])
		for _, l := range block {
			out.WriteString(l + "\n")
		}
		out.WriteString("----\n")
		for _, l := range answer {
			out.WriteString(l + "\n")
		}
		if len(answer) == 0 {
			out.WriteString("nothing\n")
		}
	}
	return out.String()
}
