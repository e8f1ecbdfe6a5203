package root_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/cli/clitest"
	"github.com/vc-batch/vc/internal/cli/golden"
	"github.com/vc-batch/vc/internal/slurm/submission"
)

// hostile is a text that a malicious user may write into an object. It sets the window title, clears the screen and
// sets colours; it contains an 8-bit control character, lines that look like rows, and right-to-left letters.
const hostile = "\x1b]0;owned\a\x1b[2J\x1b[31mred\u009b5m\x7f\b\r\nFORGED row\v\u2028FORGED too\u202e"

// related matches the fields that stay unchanged, because they relate objects to each other or API servers validate
// them.
var related = regexp.MustCompile(`^(apiVersion|kind|name|generateName|namespace|uid|resourceVersion|labels|matchLabels|ownerReferences|finalizers|involvedObject|` +
	`nodeName|queue|parent|cpu|memory|pods|requests|limits|capability|deserved|guarantee|allocatable|capacity|allocated|resource|phase|state|status|type|` +
	`restartPolicy|podIP|tier|schedule|timeZone|.*[tT]ime|.*Timestamp|.*At|.*\.com/.*|rules|expression)$`)

// poisoned returns a copy of value with the hostile text in every free-text field.
func poisoned(value any, key string) any {
	switch value := value.(type) {
	case map[string]any:
		for k, v := range value {
			if key == "annotations" || !related.MatchString(k) || k == "status" || k == "state" || k == "resource" {
				value[k] = poisoned(v, k)
			}
		}
		return value
	case []any:
		for i := range value {
			value[i] = poisoned(value[i], key)
		}
		return value
	case string:
		if isText := !related.MatchString(key) && value != ""; isText {
			return value + hostile
		}
	}
	return value
}

func hostileWorld(t *testing.T) []client.Object {
	t.Helper()
	asked, err := json.Marshal(submission.Options{Account: hostile, QOS: hostile, Partition: hostile, Comment: hostile, WCKey: hostile, Extra: hostile, WorkDir: hostile,
		StdOut: hostile, StdErr: hostile, StdIn: hostile, SubmitHost: hostile, Command: hostile, SubmitLine: hostile, Features: hostile, Nodes: hostile, Exclude: hostile,
		Gres: hostile, MailUser: hostile, MailType: hostile})
	if err != nil {
		t.Fatal(err)
	}
	asking := string(asked)
	world := heededWorld(t)
	for i, object := range world {
		text, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		var plain map[string]any
		if err := json.Unmarshal(text, &plain); err != nil {
			t.Fatal(err)
		}
		poisoned(plain, "")
		metadata := plain["metadata"].(map[string]any)
		annotations, _ := metadata["annotations"].(map[string]any)
		if annotations == nil {
			annotations = map[string]any{}
			metadata["annotations"] = annotations
		}
		for _, key := range []string{keys.User, keys.JobTitle, keys.Account, keys.CancelledBy, keys.DrainReason, keys.DrainedBy, keys.ArrayCancelledBy} {
			annotations[key] = "text" + hostile
		}
		annotations[keys.Slurm] = asking
		text, err = json.Marshal(plain)
		if err != nil {
			t.Fatal(err)
		}
		again := object.DeepCopyObject().(client.Object)
		if err := json.Unmarshal(text, again); err != nil {
			t.Fatalf("%T %s: %v", object, object.GetName(), err)
		}
		switch object := again.(type) {
		case *batchv1alpha1.Job:
			if object.Labels[keys.JobID] == "" {
				object.Labels[keys.JobID] = fmt.Sprint(1000 + i)
			}
		case *corev1.Pod:
			object.Status.Reason = "Evicted" + hostile
		}
		world[i] = again
	}
	return world
}

// ours matches the colours that commands use.
var ours = regexp.MustCompile(`\x1b\[(0|1|2|3[1-6])m`)

// The author of an object must not be able to control the terminals of other users: no command prints control
// sequences from objects, and no text of an object starts a new line.
func TestNoCommandPrintsWhatATerminalObeys(t *testing.T) {
	t.Parallel()
	server := clitest.Start(t, hostileWorld(t)...)
	golden.Logs(server)
	golden.Answering(golden.StartsNow())(server)
	tree, seen, reached := newTree("vcctl"), map[string]bool{}, map[string]bool{}
	for _, one := range append(readGoldens(t), slurmListings()...) {
		format := one.format()
		line := strings.Join(one.args, " ")
		isForPrograms := format != "" && format != "wide" && !strings.HasPrefix(format, "custom-columns") || strings.Contains(line, "--format") || strings.Contains(line, "--json") || strings.Contains(line, "--yaml")
		key := fmt.Sprint(one.width > 0, flagWordsOf(one.args)) // one command line per set of flags is enough
		if isForPrograms || seen[key] || slices.ContainsFunc(one.args, func(word string) bool { return slices.Contains(goesOn, word) }) {
			continue
		}
		cmd, _, err := tree.Find(one.args)
		if err != nil || changes(cmd.Name()) || one.code && !strings.Contains(line, "explain") {
			continue
		}
		seen[key] = true
		for _, colored := range []bool{false, true} {
			if colored && one.width > 0 {
				continue // colours do not depend on the width
			}
			got := golden.Run{Argv: one.args, Width: one.width, Color: colored, Input: "n\n"}.Do(t, server)
			if strings.Contains(got.Out+got.Err, `\x1b]0;owned`) || strings.Contains(got.Out+got.Err, "FORGED") {
				reached[cmd.CommandPath()] = true
			}
			for _, wrong := range obeyed(got.Out+got.Err, colored) {
				t.Errorf("vcctl %s (colours: %t): %s", line, colored, wrong)
			}
		}
	}
	for _, path := range []string{"job list", "job view", "job explain", "events", "podgroup list", "podgroup view", "pod list", "pod view",
		"slurm squeue", "slurm sacct", "slurm scontrol"} {
		if !reached["vcctl "+path] {
			t.Errorf("the hostile text does not reach vcctl %s: the test shows nothing about it", path)
		}
	}
}

// slurmListings returns Slurm command lines that show all texts of jobs and nodes.
func slurmListings() []shown {
	var all []shown
	for _, line := range []string{
		"squeue -a", "squeue -a -l", "squeue -a -h -o '%all'", "squeue -a -O 'JobID,Name,UserName,Account,Comment,Partition,Command:80,WorkDir:80,Reason'",
		"sacct -a", "sacct -a -p -o JobID,JobName,User,Account,Comment,WorkDir,SubmitLine", "sacct -a -l -P", "scontrol show job", "scontrol -o show job", "scontrol show node",
		"scontrol show partition", "sinfo -N -l", "sinfo -R", "sprio", "sshare -a",
	} {
		all = append(all, shown{args: append([]string{"slurm"}, words(line)...)})
	}
	return all
}

// flagWordsOf returns the command and the flags of a command line. For Slurm commands, it returns all words.
func flagWordsOf(args []string) []string {
	if args[0] == "slurm" {
		return args
	}
	kept := slices.Clone(args[:min(2, len(args))])
	for i := 2; i < len(args); i++ {
		if strings.HasPrefix(args[i], "-") || strings.HasPrefix(args[i-1], "-") {
			kept = append(kept, args[i])
		}
	}
	return kept
}

// changes reports whether a verb writes to the cluster or follows changes there.
func changes(verb string) bool {
	return slices.Contains([]string{"wait", "logs", "attach", "exec", "delete", "create", "run", "top", "srun", "salloc", "sbatch", "install", "uninstall"}, verb)
}

// obeyed lists the control sequences in a text for a terminal.
func obeyed(text string, colored bool) []string {
	var wrong []string
	if colored {
		text = ours.ReplaceAllString(text, "")
	}
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(line, "FORGED") {
			wrong = append(wrong, fmt.Sprintf("a forged line: %q", line))
		}
		if at := strings.IndexFunc(line, func(r rune) bool {
			return r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028')
		}); at >= 0 {
			wrong = append(wrong, fmt.Sprintf("a control character: %q", line[max(0, at-40):min(len(line), at+40)]))
		}
	}
	return wrong
}
