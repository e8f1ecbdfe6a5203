package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/internal/render"
	"github.com/vc-batch/vc/internal/usererror"
)

// HelpWidth is the width of help texts in columns, even if the output is not a terminal.
const HelpWidth = 80

// FormatHelp removes the indentation and the surrounding blank lines from a help text that is written as a raw string.
// It rewraps paragraphs of plain prose if their lines exceed HelpWidth.
func FormatHelp(raw string) string {
	paragraphs := strings.Split(removeIndentation(raw), "\n\n")
	for i, paragraph := range paragraphs {
		paragraphs[i] = wrapParagraph(paragraph)
	}
	return strings.Join(paragraphs, "\n\n")
}

func removeIndentation(raw string) string {
	lines := strings.Split(strings.Trim(raw, "\n"), "\n")
	indent := -1
	for _, line := range lines {
		if rest := strings.TrimLeft(line, "\t "); rest != "" {
			if by := len(line) - len(rest); indent < 0 || by < indent {
				indent = by
			}
		}
	}
	for i, line := range lines {
		lines[i] = strings.TrimRight(line[min(max(indent, 0), len(line)):], " \t")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// wrapParagraph rewraps a paragraph that is too wide, unless the paragraph contains aligned columns.
func wrapParagraph(paragraph string) string {
	tooWide := slices.ContainsFunc(strings.Split(paragraph, "\n"), func(line string) bool { return render.Width(line) > HelpWidth })
	if !tooWide || strings.Contains(paragraph, "  ") {
		return paragraph
	}
	return strings.Join(render.WrapAtBlanks(paragraph, HelpWidth), "\n")
}

// FormatExamples formats comments and commands for help. It indents them by two spaces and replaces "vcctl" with the
// program name that the user typed. If a line is wider than HelpWidth, it continues on the next line; commands are
// continued with a backslash, so that users can copy them.
func (f *Factory) FormatExamples(raw string) string {
	lines := strings.Split(render.ReplaceProgramName(removeIndentation(raw), f.Program), "\n")
	for i, line := range lines {
		if line != "" {
			lines[i] = "  " + strings.Join(breakExampleLine(line, HelpWidth-2), "\n  ")
		}
	}
	return strings.Join(lines, "\n")
}

// breakExampleLine breaks an example line that is too wide. It breaks a comment between words, and a command outside of
// quotes.
func breakExampleLine(line string, width int) []string {
	if render.Width(line) <= width {
		return []string{line}
	}
	if comment, is := strings.CutPrefix(line, "# "); is {
		lines := render.WrapAtBlanks(comment, width-len("# "))
		for i := range lines {
			lines[i] = "# " + lines[i]
		}
		return lines
	}
	const onward = " \\"
	at, flag, quote := 0, 0, byte(0)
	for i := range len(line) {
		switch c := line[i]; {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
		case c == '\'' || c == '"':
			quote = c
		case c == ' ' && i > len("    ") && render.Width(line[:i]+onward) <= width:
			if at = i; line[i+1] == '-' {
				flag = i
			}
		}
	}
	switch {
	case at == 0: // one long word
		return []string{line}
	case flag > width/2: // a flag and its value stay together
		at = flag
	}
	return append([]string{line[:at] + onward}, breakExampleLine("    "+line[at+1:], width)...)
}

// NewCommandGroup creates a command that only has subcommands. Without arguments, the command shows its help; an
// unknown subcommand is an error.
func NewCommandGroup(f *Factory, use, short, long string, aliases ...string) *cobra.Command {
	return &cobra.Command{
		Use: use, Aliases: aliases, Short: short, Long: FormatHelp(long),
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return UnknownCommand(f, cmd, args[0])
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
}

// UnknownCommand returns the error for an unknown subcommand, with a suggestion in its hint.
func UnknownCommand(f *Factory, parent *cobra.Command, word string) error {
	var names []string
	for _, sub := range parent.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	hint := fmt.Sprintf("see '%s --help'", CommandPath(f, parent))
	if near := FindNearest(word, names); near != "" {
		hint = fmt.Sprintf("did you mean %q? %s", near, hint)
	} else if other := suggestOtherCommand(parent, word); other != "" {
		hint = fmt.Sprintf("did you mean '%s %s'? %s", f.Program, other, hint)
	} else if len(names) > 0 && parent.HasParent() {
		hint = fmt.Sprintf("commands: %s; %s", strings.Join(names, ", "), hint)
	}
	return usererror.Errorf(hint, "unknown command %q for %q", word, CommandPath(f, parent))
}

// otherWords maps verbs of kubectl and other batch systems to equivalent vcctl commands.
var otherWords = map[string]string{
	"apply": "job run -f FILE", "create": "job run -f FILE", "submit": "job run", "start": "job run", "get": "job list", "ps": "job list", "ls": "job list",
	"describe": "job view NAME", "show": "job view NAME", "status": "job view NAME", "log": "job logs NAME", "kill": "job cancel NAME", "stop": "job cancel NAME",
	"why": "job explain NAME", "drain": "node drain NODE", "cordon": "node cordon NODE", "uncordon": "node uncordon NODE", "hypernodes": "node hypernodes",
}

// suggestOtherCommand returns the command that the user probably meant by a word at the root level: a job verb, or the
// equivalent of another tool's verb. It returns "" if none exists.
func suggestOtherCommand(parent *cobra.Command, word string) string {
	if parent.HasParent() {
		return ""
	}
	for _, noun := range parent.Commands() {
		if noun.Name() != "job" {
			continue
		}
		for _, verb := range noun.Commands() {
			if verb.Name() == word {
				return "job " + word
			}
		}
	}
	return otherWords[word]
}

// NoArgs rejects all arguments, for commands that take none.
func NoArgs(f *Factory) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return UsageError(f, cmd, "%s takes no arguments, but got %q", CommandPath(f, cmd), args[0])
	}
}

// NoFileArgs rejects all arguments, for commands that take files with -f.
func NoFileArgs(f *Factory) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return usererror.Errorf(fmt.Sprintf("specify a file with -f: %s -f %s", CommandPath(f, cmd), args[0]), "unexpected argument %q", args[0])
	}
}

// CommandPath returns the command path as the user types it.
func CommandPath(f *Factory, cmd *cobra.Command) string {
	path := cmd.CommandPath()
	if f.OldProgram != "" {
		return path
	}
	if rest, found := strings.CutPrefix(path, cmd.Root().Name()); found {
		return f.Program + rest
	}
	return path
}

// UsageError returns an error about flags or arguments, with a hint that names the command's help.
func UsageError(f *Factory, cmd *cobra.Command, format string, args ...any) *usererror.Error {
	return usererror.Errorf(fmt.Sprintf("see '%s --help'", CommandPath(f, cmd)), format, args...)
}

// Selection holds the objects on which a command acts: objects given by name, by a label selector, or all objects in a
// namespace.
type Selection struct {
	Names    []string
	Selector string
	All      bool
	// AllNamespaces extends -l and --all to all namespaces.
	AllNamespaces bool
	// ByOther is true if objects can also be selected by related names, such as a PodGroup by the name of its job.
	ByOther bool
	// OldName is the value of -N, with which users of Volcano's vcctl specify the name.
	OldName string
	kinds   string
}

// AddFlags adds -l, --all and the hidden -N.
func (s *Selection) AddFlags(cmd *cobra.Command, kind string) {
	cmd.Flags().StringVarP(&s.Selector, "selector", "l", "", "Label selector, for example team=nlp,stage!=test")
	cmd.Flags().BoolVar(&s.All, "all", false, "All "+kind+" in the namespace")
	s.AddOldNameFlag(cmd, kind)
}

// AddAllNamespacesFlag adds -A.
func (s *Selection) AddAllNamespacesFlag(cmd *cobra.Command, usage string) {
	cmd.Flags().BoolVarP(&s.AllNamespaces, "all-namespaces", "A", false, usage)
	RejectTogether(cmd, "the files or -n specify the namespace of each object", "all-namespaces", "filename", "file", "kustomize")
}

// AddOldNameFlag adds only the hidden flag -N of Volcano's vcctl. kinds is the plural of the kind; names may have the
// form KIND/NAME.
func (s *Selection) AddOldNameFlag(cmd *cobra.Command, kinds string) {
	s.kinds = kinds
	cmd.Flags().StringVarP(&s.OldName, "name", "N", "", "Name of the object")
	cmd.Flags().Lookup("name").Hidden = true
	RejectWithNames(cmd, "use a name argument instead of --name", "name")
}

// AddArguments adds the arguments to Names and warns about old flags.
func (s *Selection) AddArguments(f *Factory, args []string) {
	for _, arg := range args {
		s.Names = append(s.Names, BareName(arg, s.kinds))
	}
	if s.OldName != "" {
		f.WarnDeprecated("--name (-N)", "a name argument")
		s.Names = append(s.Names, s.OldName)
	}
}

// UsesOldName reports whether the command was called with Volcano's -N.
func (s *Selection) UsesOldName() bool { return s.OldName != "" }

// SelectsMany reports whether the selection uses --all or a label selector.
func (s *Selection) SelectsMany() bool { return s.All || s.Selector != "" }

// RequireSelection returns an error unless the command uses exactly one of names, --all and a selector. missing is the
// error text for an empty selection.
func (s *Selection) RequireSelection(f *Factory, cmd *cobra.Command, missing string) error {
	switch {
	case len(s.Names) == 0 && !s.SelectsMany():
		return usererror.Errorf(fmt.Sprintf("use %s with NAME, -l SELECTOR or --all; see '%s --help'", CommandPath(f, cmd), CommandPath(f, cmd)), "%s", missing)
	case s.All && s.Selector != "":
		return UsageError(f, cmd, "--all and --selector cannot be combined: remove one of them")
	case len(s.Names) > 0 && s.SelectsMany():
		return UsageError(f, cmd, "names cannot be combined with --selector or --all: remove one of them")
	case s.AllNamespaces && !s.SelectsMany():
		return UsageError(f, cmd, "--all-namespaces cannot be combined with names: specify the namespace with -n")
	}
	return nil
}

// ParseLabels returns the parsed selector.
func (s *Selection) ParseLabels() (client.ListOption, error) { return ParseSelector(s.Selector) }

// ReadSelected returns the objects that sel selects. If sel contains names, ReadSelected calls read for each of them;
// otherwise, it lists the matching objects in the namespace. It returns the existing objects together with an error for
// each name that cannot be read. list is an empty list of the kind.
func ReadSelected[T client.Object](ctx context.Context, c client.Reader, sel *Selection, namespace string, list client.ObjectList, read func(name string) (T, error)) ([]T, error) {
	if !sel.SelectsMany() {
		return ReadEach(sel.Names, read)
	}
	if sel.AllNamespaces {
		namespace = ""
	}
	labels, err := sel.ParseLabels()
	if err != nil {
		return nil, err
	}
	return ListObjects[T](ctx, c, list, client.InNamespace(namespace), labels)
}

// ReadEach calls read for each name. It returns the objects that could be read, and the joined errors for the other
// names.
func ReadEach[T any](names []string, read func(name string) (T, error)) ([]T, error) {
	var found []T
	var problems []error
	for _, name := range names {
		object, err := read(name)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		found = append(found, object)
	}
	return found, errors.Join(problems...)
}

// ParseSelector parses a label selector. An empty selector selects everything.
func ParseSelector(text string) (client.ListOption, error) {
	if text == "" {
		return nil, nil
	}
	selector, err := labels.Parse(text)
	if err != nil {
		return nil, usererror.Errorf("use a selector such as team=nlp, team!=nlp, 'team in (nlp,cv)' or team", "label selector %q: %v", text, err)
	}
	return client.MatchingLabelsSelector{Selector: selector}, nil
}

// BareName strips the kind from an argument of the form KIND/NAME if the kind matches kinds, the plural of the expected
// kind. It returns any other argument unchanged, so that looking up the name fails.
func BareName(arg, kinds string) string {
	kind, name, found := strings.Cut(arg, "/")
	if found && normalizeKind(kind) == normalizeKind(kinds) {
		return name
	}
	return arg
}

// normalizeKind normalizes the spelling of a kind, so that jobs.batch.volcano.sh, vj and job are equal.
func normalizeKind(word string) string {
	word, _, _ = strings.Cut(strings.ToLower(strings.ReplaceAll(word, " ", "")), ".")
	short := map[string]string{"vj": "job", "vcjob": "job", "j": "job", "q": "queue", "pg": "podgroup", "jf": "jobflow", "jt": "jobtemplate", "po": "pod", "no": "node", "cj": "cronjob"}
	word = strings.TrimSuffix(word, "s")
	if long := short[word]; long != "" {
		return long
	}
	return word
}

// WarnDeprecated prints a warning about an old flag. It prints nothing in Volcano's short programs, which have only old
// flags.
func (f *Factory) WarnDeprecated(old, instead string) {
	if f.OldProgram != "" {
		return
	}
	f.Warnf("%s is Volcano's old syntax, which still works; use %s instead", old, instead)
}

// JobType returns the text for the JobType column of Volcano's tables, which is the job's label, or Batch if it has
// none.
func JobType(label string) string {
	if label == "" {
		return "Batch"
	}
	return label
}
