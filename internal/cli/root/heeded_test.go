package root_test

import (
	"bytes"
	"context"
	goflag "flag"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/iostreams"
	"github.com/vc-batch/vc/internal/cli/root"
	"github.com/vc-batch/vc/test/clitest"
	"github.com/vc-batch/vc/test/golden"
	"github.com/vc-batch/vc/test/slurmtest"
)

// situation is a working command line to which the test adds flags.
type situation struct {
	words []string
	// after holds the words after the flags: -- and a command.
	after []string
	// width makes the output a terminal of that width.
	width int
	// without lists the flags that are not tested in this situation.
	without []string
}

// flagWords holds the way to give a flag, and the words that it needs besides.
type flagWords struct{ give, needs []string }

// passedOver describes a flag that may have no effect in commands that match the pattern (path.Match). If beside is
// set, that holds together with that flag; otherwise when the object of the flag is missing. why is the reason why no
// message is needed.
type passedOver struct{ command, flag, beside, why string }

// line is a command line in a situation: the names of the flags, and the words that they need.
type line struct {
	flags []string
	needs []string
}

// trial tests the flags of a command in a situation.
type trial struct {
	t       *testing.T
	command string
	at      situation
	flags   map[string]flagWords
	world   []client.Object
	// server holds the test cluster.
	server *clitest.Server
	slots  chan struct{}
	runs   *atomic.Int64

	mu   sync.Mutex
	seen map[string]string
}

// done runs a command line and describes its effect: requests, output and exit code.
func (r *trial) done(l line, patience time.Duration) string {
	argv := slices.Clone(r.at.words)
	for _, name := range l.flags {
		argv = append(argv, r.flags[name].give...)
	}
	argv = append(append(argv, l.needs...), r.at.after...)
	key := fmt.Sprint(patience, argv)
	r.mu.Lock()
	known, is := r.seen[key]
	r.mu.Unlock()
	if is {
		return known
	}
	r.slots <- struct{}{}
	r.runs.Add(1)
	text := r.run(argv, patience)
	<-r.slots
	r.mu.Lock()
	r.seen[key] = text
	r.mu.Unlock()
	return text
}

func (r *trial) run(argv []string, patience time.Duration) string {
	server := r.server.CopyServer(r.t)
	golden.AddLogs(server)
	golden.AnswerPlans(golden.NewStartingAnswer())(server)
	if r.command == "history" || r.command == "report" {
		slurmtest.AddAccounting(server)
	}
	streams, out, errOut := iostreams.TestStreams(heededInput, r.at.width)
	streams.InTTY = true
	streams.RunEditor = golden.EditorWith(edited)
	f := cli.NewFactory("vcctl", &streams)
	f.Now = func() time.Time { return golden.Now }
	cache := r.t.TempDir()
	f.Config.CacheDir = &cache
	f.Dashboard = func(_ context.Context, _ *cli.Factory, o cli.DashboardOptions) error {
		_, err := fmt.Fprintf(out, "dashboard %+v\n", o)
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ended := make(chan int, 1)
	go func() {
		defer func() {
			if wrong := recover(); wrong != nil {
				r.t.Errorf("vcctl %s: panic: %v", strings.Join(argv, " "), wrong)
				ended <- cli.ExitError
			}
		}()
		ended <- root.Run(ctx, f, append([]string{"--kubeconfig", server.WriteKubeconfig("nlp")}, argv...))
	}()
	code, moved, end := -1, time.Time{}, ""
	for code < 0 {
		select {
		case code = <-ended:
		case <-time.After(patience / 4):
			switch {
			case !server.IsQuiet(patience):
			case moved.IsZero(): // it waits for a change
				server.SetObjects(otherwise(r.world)...)
				moved = time.Now()
			case time.Since(moved) > patience:
				end = "interrupted"
				cancel()
			}
		}
	}
	requests, queries, bodies := server.Requests(), server.Queries(), server.Bodies()
	for i := range requests {
		requests[i] += "?" + queries[i] + " " + bodies[i]
	}
	slices.Sort(requests)
	text := bytes.ReplaceAll(bytes.Join([][]byte{out.Bytes(), errOut.Bytes()}, []byte("---\n")), []byte(server.URL()), []byte("http://server"))
	if end == "" {
		end = fmt.Sprintf("exit %d", code)
	}
	return fmt.Sprintf("%s\n%s---\n%s", end, text, strings.Join(requests, "\n"))
}

// edited is a user's edit: it lowers minAvailable of the job train by one and the CPU limit of the queue research.
func edited(text string) string {
	return strings.NewReplacer("minAvailable: 3", "minAvailable: 2", `cpu: "16"`, `cpu: "4"`).Replace(text)
}

// refused reports whether the command rejected the command line: it failed and printed nothing.
func refused(done string) bool {
	return strings.HasPrefix(done, "exit 1\n---\n") || strings.HasPrefix(done, "exit 2\n---\nerror: ") && !strings.Contains(done, cli.Cancelled.What)
}

// isRefused reports whether a command line is rejected, even if the command gets more time. On a busy machine, a slow
// command can look like a waiting one. The test then changes the cluster too early, and the command may be rejected
// for that reason.
func (r *trial) isRefused(l line) bool {
	return refused(r.done(l, quickly)) && refused(r.done(l, surely))
}

// same reports whether two command lines have the same effect. It allows more time if the result differs from
// expected.
func (r *trial) same(a, b line, expected bool) bool {
	same := !expected
	for _, patience := range []time.Duration{quickly, slowly, surely} {
		if same = r.done(a, patience) == r.done(b, patience); same == expected {
			break
		}
	}
	return same
}

// After this time without requests, a command counts as waiting.
const (
	quickly = 30 * time.Millisecond
	slowly  = 300 * time.Millisecond
	surely  = 2 * time.Second
)

var allPairs = goflag.Bool("pairs", false, "try every flag with every other in every situation of every command")

// TestEveryFlagIsHeededOrRefused tries every flag of every command, alone and with every other flag. The flag must
// change the effect of the command, or the command must reject it, because users rely on the flags that they give.
//
// Commands with the same flags share their implementation. Flag pairs are therefore tested for only the first of such
// commands, with names and with files. Flags that describe or filter are combined only with crossing flags. With
// -pairs, the test tries everything.
func TestEveryFlagIsHeededOrRefused(t *testing.T) {
	x := &excuses{used: make([]bool, len(mayBePassedOver))}
	world := heededWorld(t)
	files := heededFiles(t, world)
	server := clitest.Start(t, world...)
	slots, runs := make(chan struct{}, 16), &atomic.Int64{}
	twins := map[string]bool{}
	t.Cleanup(func() {
		t.Logf("%d command lines", runs.Load())
		if !strings.Contains(goflag.Lookup("test.run").Value.String(), "/") {
			x.stale(t)
		}
	})
	leaves(newTree("vcctl"), func(cmd *cobra.Command) {
		command := strings.TrimPrefix(cmd.CommandPath(), "vcctl ")
		if strings.HasPrefix(command, "slurm ") { // like Slurm's commands, they ignore some flags: docs/reference/slurm.md
			return
		}
		if slices.Contains(needInstallation, command) {
			return
		}
		flags := flagsOf(t, cmd, command, files)
		set := fmt.Sprint(slices.Sorted(maps.Keys(flags)))
		twin := twins[set]
		twins[set] = true
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			before := runs.Load()
			defer func() { t.Logf("%d command lines", runs.Load()-before) }()
			works := map[string]bool{}
			for i, at := range situations(command) {
				r := &trial{t: t, command: command, at: at, flags: flags, world: world, server: server, slots: slots, runs: runs, seen: map[string]string{}}
				r.flags = maps.Clone(flags)
				maps.DeleteFunc(r.flags, func(name string, _ flagWords) bool {
					return stands(name, at.words) || slices.Contains(at.without, name)
				})
				r.at.words = filled(at.words, strings.Fields(command)[0], files)
				r.alone(x, works)
				if !twin && (i == 0 || slices.Contains(at.words, "-f")) || *allPairs {
					r.pairs(x)
				}
			}
			bare := &trial{t: t, command: command, at: situation{words: strings.Fields(command)}, flags: flags, world: world, server: server, slots: slots, runs: runs, seen: map[string]string{}}
			for name, words := range flags {
				if !works[name] && bare.isRefused(line{flags: []string{name}, needs: words.needs}) &&
					bare.isRefused(line{flags: []string{name}, needs: append(words.needs, "--all")}) && name != "previous" { // no container was restarted here
					t.Errorf("vcctl %s: --%s is refused wherever it is tried: let it be given another way", command, name)
				}
			}
		})
	})
}

// excuses records which entries of mayBePassedOver were used.
type excuses struct {
	mu   sync.Mutex
	used []bool
}

// excuses returns the index of the entry that excuses a flag without effect, alone or with another flag; -1 if there
// is none.
func (x *excuses) excuses(command, flag, beside string) int {
	return slices.IndexFunc(mayBePassedOver, func(one passedOver) bool {
		ok, _ := path.Match(one.command, command)
		return ok && one.flag == flag && one.beside == beside
	})
}

func (x *excuses) use(i int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.used[i] = true
}

func (x *excuses) stale(t *testing.T) {
	for i, one := range mayBePassedOver {
		tried := *allPairs || one.beside == "" || slices.Contains(crossing, one.flag) || slices.Contains(crossing, one.beside)
		if !x.used[i] && tried {
			t.Errorf("%s --%s may be passed over beside %q, and never is: take it out of the list", one.command, one.flag, one.beside)
		}
	}
}

// check fails if a flag has no effect and is not excused. An entry counts as used only if the flag has no effect.
func (r *trial) check(x *excuses, name, beside string, with, without line) {
	excused := x.excuses(r.command, name, beside)
	same := r.same(with, without, excused >= 0)
	switch {
	case same && excused >= 0:
		x.use(excused)
	case same && beside == "":
		r.t.Errorf("vcctl %s: --%s is passed over (%s)", strings.Join(r.at.words, " "), name, strings.Join(append(r.flags[name].give, with.needs...), " "))
	case same:
		r.t.Errorf("vcctl %s: --%s is passed over beside --%s", strings.Join(r.at.words, " "), name, beside)
	}
}

// alone tries the flags one by one, with and without the words that they need, and records which work.
func (r *trial) alone(x *excuses, works map[string]bool) {
	if r.isRefused(line{}) {
		r.t.Errorf("vcctl %s does not work: %s", strings.Join(r.at.words, " "), r.done(line{}, surely))
		return
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	for name, words := range r.flags {
		all.Go(func() {
			for _, needs := range [][]string{nil, words.needs} {
				one := line{flags: []string{name}, needs: needs}
				if r.isRefused(one) {
					continue
				}
				r.check(x, name, "", one, line{needs: needs})
				mu.Lock()
				works[name] = true
				mu.Unlock()
			}
		})
	}
	all.Wait()
}

// stands reports whether a flag that may be given only once is already in a command line.
func stands(name string, words []string) bool {
	short := map[string]string{"filename": "-f", "file": "-f", "selector": "-l"}
	return slices.Contains(words, short[name]) || slices.Contains([]string{"follow", "once", "for"}, name) && slices.ContainsFunc(words, func(word string) bool {
		return strings.HasPrefix(word, "--"+name)
	})
}

// tied reports whether one of two flags is among the words that the other needs.
func (r *trial) tied(a, b string) bool {
	is := func(name string) func(string) bool {
		return func(word string) bool { return word == "--"+name || strings.HasPrefix(word, "--"+name+"=") }
	}
	return slices.ContainsFunc(r.flags[a].needs, is(b)) || slices.ContainsFunc(r.flags[b].needs, is(a))
}

// pairs tries all pairs of flags.
func (r *trial) pairs(x *excuses) {
	names := slices.Sorted(maps.Keys(r.flags))
	var all sync.WaitGroup
	for i, a := range names {
		for _, b := range names[i+1:] {
			all.Go(func() {
				if !*allPairs && !slices.Contains(crossing, a) && !slices.Contains(crossing, b) || r.tied(a, b) {
					return
				}
				needs := slices.Concat(r.flags[a].needs, r.flags[b].needs)
				both := line{flags: []string{a, b}, needs: needs}
				if refused(r.done(both, quickly)) {
					return
				}
				for _, pair := range [][2]string{{a, b}, {b, a}} {
					without := line{flags: []string{pair[1]}, needs: needs}
					if x.excuses(r.command, pair[0], "") < 0 && !refused(r.done(without, quickly)) {
						r.check(x, pair[0], pair[1], both, without)
					}
				}
			})
		}
	}
	all.Wait()
}

// flagsOf returns the flags of a command and how to give each of them.
func flagsOf(t *testing.T, cmd *cobra.Command, command string, files map[string]string) map[string]flagWords {
	flags := map[string]flagWords{}
	cmd.LocalNonPersistentFlags().VisitAll(func(flag *pflag.Flag) {
		if slices.Contains(notTried, flag.Name) || slices.Contains(notTried, command+" --"+flag.Name) {
			return
		}
		words, ok := given[command+" --"+flag.Name]
		if !ok {
			words, ok = given[flag.Name]
		}
		switch {
		case ok:
		case flag.Value.Type() == "bool" && flag.DefValue == "true":
			words.give = []string{"--" + flag.Name + "=false"}
		case flag.Value.Type() == "bool":
			words.give = []string{"--" + flag.Name}
		default:
			t.Errorf("%s --%s: it is not said how it is given; see the table", command, flag.Name)
			return
		}
		noun := strings.Fields(command)[0]
		if verb := path.Base(strings.ReplaceAll(command, " ", "/")); slices.Contains([]string{"get", "open", "close", "update", "operate", "delete"}, verb) {
			words.give = slices.Clone(words.give)
			for i := range words.give {
				words.give[i] = strings.Replace(words.give[i], "=NEW", "=OLD", 1)
			}
		}
		flags[flag.Name] = flagWords{give: filled(words.give, noun, files), needs: filled(words.needs, noun, files)}
	})
	return flags
}
