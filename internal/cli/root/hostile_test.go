package root_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	insightv1alpha1 "github.com/vc-batch/vc/api/insight/v1alpha1"
	"github.com/vc-batch/vc/api/keys"
	schedulingv1beta1 "github.com/vc-batch/vc/api/scheduling/v1beta1"
	"github.com/vc-batch/vc/internal/accounting"
	"github.com/vc-batch/vc/internal/accounting/wire"
	"github.com/vc-batch/vc/internal/slurm/submission"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
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
	golden.AddLogs(server)
	addHostileAccounting(server)
	golden.AnswerPlans(golden.NewJobAnswer("eval", insightv1alpha1.VerdictWaits, func(a *insightv1alpha1.Answer) {
		a.Message, a.Warnings = "text"+hostile, []string{"text" + hostile}
		a.Explanation = &schedulingv1beta1.Explanation{Reason: "GangDoesNotFit", Message: "text" + hostile, Hint: "text" + hostile, Estimate: "text" + hostile}
	}))(server)
	planned := filepath.Join(t.TempDir(), "job.yaml")
	if err := os.WriteFile(planned, []byte("apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: eval-2}\nspec: {tasks: [{replicas: 1, template: {spec: {containers: [{name: c, image: i}]}}}]}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tree, seen, reached := newTree("vcctl"), map[string]bool{}, map[string]bool{}
	for _, one := range slices.Concat(readGoldens(t), slurmListings(), others(planned)) {
		format := one.format()
		line := strings.Join(one.args, " ")
		isForPrograms := format != "" && format != "wide" && !strings.HasPrefix(format, "custom-columns") || strings.Contains(line, "--format") || strings.Contains(line, "--json") || strings.Contains(line, "--yaml")
		key := fmt.Sprint(one.width > 0, flagWordsOf(one.args)) // one command line per set of flags is enough
		if isForPrograms || seen[key] || one.file != "" && slices.ContainsFunc(one.args, func(word string) bool { return slices.Contains(goesOn, word) }) {
			continue
		}
		cmd, _, err := tree.Find(one.args)
		if slices.Contains(needInstallation, strings.TrimPrefix(cmd.CommandPath(), "vcctl ")) {
			continue
		}
		if err != nil || changes(cmd.Name()) && one.file != "" || one.code && !strings.Contains(line, "explain") {
			continue
		}
		seen[key] = true
		for _, colored := range []bool{false, true} {
			if colored && one.width > 0 {
				continue // colours do not depend on the width
			}
			got := golden.Run{Argv: one.args, Width: one.width, Color: colored, Input: "n\n"}.RunAgainst(t, server)
			if strings.Contains(got.Out+got.Err, `\x1b]0;owned`) || strings.Contains(got.Out+got.Err, "FORGED") {
				reached[cmd.CommandPath()] = true
			}
			for _, wrong := range obeyed(got.Out+got.Err, colored) {
				t.Errorf("vcctl %s (colours: %t): %s", line, colored, wrong)
			}
		}
	}
	exempt := map[string]bool{}
	for _, paths := range printsNoText {
		for _, path := range paths {
			exempt["vcctl "+path] = true
		}
	}
	leaves(tree, func(cmd *cobra.Command) {
		path := cmd.CommandPath()
		switch {
		case !reached[path] && !exempt[path]:
			t.Errorf("the hostile text does not reach %s: add a command line that shows texts of objects, or an entry to printsNoText", path)
		case reached[path] && exempt[path]:
			t.Errorf("the hostile text reaches %s: remove it from printsNoText", path)
		}
		delete(exempt, path)
	})
	for path := range exempt {
		t.Errorf("printsNoText: there is no command %s", path)
	}
}

// printsNoText lists the commands that print no free text of objects, by what they print instead.
var printsNoText = map[string][]string{
	"the program's own text": {
		"completion bash", "completion fish", "completion powershell", "completion zsh", "config check", "options", "version", "slurm install",
		"slurm uninstall", "slurm translate", "slurm sdiag",
	},
	"they need an installation, which package test/install has": needInstallation,
	"the output of users' programs, unchanged": {
		"job logs", "job attach", "job exec", "jobflow logs", "slurm srun", "slurm salloc", "slurm sattach", "slurm sbcast", "slurm sgather",
	},
	"files and YAML, which quotes control characters": {
		"diff", "job edit", "queue edit", "slurm scrontab",
	},
	"names, numbers and states, which API servers validate": {
		"account add-user", "account create", "account delete", "account remove-user", "account set",
		"cronjob create", "cronjob delete", "cronjob get", "cronjob resume", "cronjob suspend", "cronjob trigger", "job cancel", "job delete",
		"job hold", "job release", "job rerun", "job restart", "job resume", "job run", "job scale", "job suspend", "jobflow create",
		"jobflow delete", "jobflow get", "jobflow retry", "jobflow view", "jobflow wait", "jobtemplate create", "jobtemplate delete",
		"jobtemplate get", "jobtemplate list", "node cordon", "node drain", "node hypernodes", "node list", "node uncordon", "pod create",
		"pod delete", "podgroup create", "podgroup delete", "podgroup get", "queue close", "queue create", "queue delete", "queue get",
		"queue list", "queue open", "queue operate", "queue tree", "queue update", "queue view", "slurm scancel", "slurm sprio",
		"slurm seff", "slurm sshare", "slurm sstat", "slurm strigger",
	},
}

// addHostileAccounting adds an accounting database with a job and use whose texts are hostile.
func addHostileAccounting(server *clitest.Server) {
	text := "text" + hostile
	answer := func(write func(*wire.Writer) error) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", wire.ContentType)
			to := wire.NewWriter(w)
			if write(to) != nil || to.WriteEnd() != nil {
				w.WriteHeader(http.StatusInternalServerError)
			}
		})
	}
	server.HandlePath(wire.RecordsPath, answer(func(to *wire.Writer) error {
		return to.WriteRecord(&accounting.Record{
			Key: accounting.Key{Cluster: text, JobUID: "1", Element: accounting.NoElement}, Namespace: text, Name: text, User: text, Account: text, QOS: text,
			Queue: text, Outcome: accounting.Outcome(text), Reason: text, Ended: golden.Now.Add(-time.Hour), NodeNames: []string{text},
		})
	}))
	server.HandlePath(wire.TransactionsPath, answer(func(to *wire.Writer) error {
		return to.WriteChange(&accounting.Change{ID: text, Cluster: text, Time: golden.Now, Actor: text, Action: accounting.ModifyAccount, Account: text, Users: []string{text}, Info: text})
	}))
	server.HandlePath(wire.EventsPath, answer(func(to *wire.Writer) error {
		return to.WriteEvent(&accounting.NodeEvent{Cluster: text, Node: text, Start: golden.Now, State: accounting.NodeState(text), Reason: text})
	}))
	server.HandlePath(wire.UsagePath, answer(func(to *wire.Writer) error {
		return to.WriteUsage(&accounting.Usage{
			Cluster: text, Account: text, User: text, Queue: text, QOS: text, Namespace: text, Resource: accounting.CPU, Seconds: 3_600_000, Attempts: 1,
			Time: golden.Now.Truncate(24 * time.Hour),
		})
	}))
}

// slurmListings returns Slurm command lines that show all texts of jobs and nodes.
func slurmListings() []shown {
	var all []shown
	for _, line := range []string{
		"squeue -a", "squeue -a -l", "squeue -a -h -o '%all'", "squeue -a -O 'JobID,Name,UserName,Account,Comment,Partition,Command:80,WorkDir:80,Reason'",
		"sacct -a", "sacct -a -p -o JobID,JobName,User,Account,Comment,WorkDir,SubmitLine", "sacct -a -l -P", "scontrol show job", "scontrol -o show job", "scontrol show node",
		"scontrol show partition", "sinfo -N -l", "sinfo -R", "sprio", "sshare -a", "sacctmgr show account", "sacctmgr show association", "sacctmgr show transactions", "sacctmgr show event", "sacctmgr -P show event format=node,state,reason", "sacctmgr -P show transactions format=users,info,actor,where",
		"sreport cluster AccountUtilizationByUser", "sreport job SizesByAccount",
	} {
		all = append(all, shown{args: append([]string{"slurm"}, words(line)...)})
	}
	return all
}

// others returns command lines that show why a job waits or would wait. planned is the file of a job.
func others(planned string) []shown {
	var all []shown
	for _, line := range []string{
		"job wait eval --timeout=200ms", "job wait broken --timeout=200ms", "job wait train eval --timeout=200ms", "jobflow wait night --timeout=200ms",
		"job run --name new --image busybox --dry-run=server -- true", "slurm sbatch --test-only --container-image=busybox --wrap=hostname", "plan -f " + planned,
	} {
		all = append(all, shown{args: words(line)})
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
	return slices.Contains([]string{"wait", "logs", "attach", "exec", "delete", "create", "run", "srun", "salloc", "sbatch", "install", "uninstall"}, verb)
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
