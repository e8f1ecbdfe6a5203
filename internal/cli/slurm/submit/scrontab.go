package submit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/internal/cli/slurm/program"
	"github.com/vc-batch/vc/internal/slurm/getopt"
	"github.com/vc-batch/vc/internal/slurm/request"
	"github.com/vc-batch/vc/internal/slurm/scrontab"
	"github.com/vc-batch/vc/internal/usererror"
)

var scrontabTable = getopt.Table{Program: "scrontab", Operands: "[FILE]", Options: []getopt.Option{
	{Long: "list", Short: 'l', Help: "Print the table"},
	{Long: "edit", Short: 'e', Help: "Edit the table with the editor in VCCTL_EDITOR or EDITOR"},
	{Long: "remove", Short: 'r', Help: "Remove the table; running jobs continue"},
	{Long: "user", Short: 'u', Arg: getopt.Required, Value: "USER", Help: "Use the table of another user in this namespace"},
	{Long: "verbose", Short: 'v', Help: "Report changes"},
}}

// Scrontab manages the jobs that a user runs at regular times.
var Scrontab = program.Program{Table: &scrontabTable, Run: runScrontab,
	Short: "Submit jobs on a schedule",
	Long: `
		Manage a table of commands that run as batch jobs on a schedule. An entry has five
		time fields as in cron (or @daily, @noon and so on) and a command. To set sbatch
		options of an entry, add lines that begin with #SCRON before the entry, for example
		'#SCRON -t 10 --mem=1G'. A NAME=value line sets a variable for the commands below
		this line.

		FILE replaces the table; - means standard input. Each entry is a CronJob, which
		'vcctl cronjob' also shows. An entry does not start while its previous job is
		running. Unchanged entries are not updated. Times are in the job
		controller's time zone.`,
	Example: `
		# Replace the table with the contents of a file
		cat my.cron | vcctl slurm scrontab -

		# Print the table, or edit it
		vcctl slurm scrontab -l
		vcctl slurm scrontab -e`,
}

func runScrontab(ctx context.Context, c *program.Call) error {
	t, err := readCrontab(ctx, c)
	if err != nil {
		return err
	}
	ways := 0
	for _, option := range []string{"list", "edit", "remove"} {
		if c.Parsed.Has(option) {
			ways++
		}
	}
	if ways+len(c.Parsed.Operands) > 1 {
		return usererror.Errorf("use only one of -l, -e, -r and FILE", "Only one of --list, --edit, --remove and a file can be given.")
	}
	switch {
	case c.Parsed.Has("list"):
		return t.printTable()
	case c.Parsed.Has("remove"):
		return t.removeTable(ctx)
	case c.Parsed.Has("edit"):
		return t.editTable(ctx)
	case len(c.Parsed.Operands) == 0 && c.Factory.Streams.InTTY:
		return usererror.Errorf("use -e to edit the table or -l to print it, or specify a file", "no file")
	}
	text, err := readTable(c)
	if err != nil {
		return err
	}
	return t.replaceTable(ctx, text)
}

// readTable reads the new table from a file or standard input.
func readTable(c *program.Call) (string, error) {
	if len(c.Parsed.Operands) == 0 || c.Parsed.Operands[0] == "-" {
		text, err := io.ReadAll(c.Factory.Streams.In)
		return string(text), err
	}
	text, err := os.ReadFile(c.Parsed.Operands[0])
	if err != nil {
		return "", usererror.Errorf("specify an existing file that you can read", "Unable to open file %s", c.Parsed.Operands[0])
	}
	return string(text), nil
}

// readCrontab reads the user's current table.
func readCrontab(ctx context.Context, c *program.Call) (*crontab, error) {
	t := &crontab{Call: c, user: c.UserName()}
	if name, given := c.Parsed.LastValue("user"); given {
		t.user = name
	}
	var err error
	if t.namespace, err = c.Factory.Namespace(); err != nil {
		return nil, err
	}
	if t.client, err = c.Factory.Client(); err != nil {
		return nil, err
	}
	found := &corev1.ConfigMap{}
	err = t.client.Get(ctx, client.ObjectKey{Namespace: t.namespace, Name: t.configMapName()}, found)
	switch {
	case apierrors.IsNotFound(err):
		return t, nil
	case err != nil:
		return nil, err
	}
	t.kept = found
	return t, nil
}

// noTableError returns the error for a user who has no table.
func (t *crontab) noTableError() error {
	return usererror.Errorf("use scrontab -e to create a crontab", "no crontab for %s", t.user)
}

func (t *crontab) printTable() error {
	if t.kept == nil {
		return t.noTableError()
	}
	_, err := io.WriteString(t.Factory.Streams.Out, t.kept.Data[scrontab.TextKey])
	return err
}

func (t *crontab) removeTable(ctx context.Context) error {
	if t.kept == nil {
		return t.noTableError()
	}
	if err := t.applyEntries(ctx, nil); err != nil {
		return err
	}
	return client.IgnoreNotFound(t.client.Delete(ctx, t.kept))
}

// emptyTable is the text that the editor shows to a user who has no table yet.
const emptyTable = `# Lines are: minute hour day-of-month month day-of-week command
# Lines that begin with #SCRON set sbatch options for the next command:
##SCRON -t 10 --mem=1G
# 0 4 * * * /path/to/program
`

// editTable opens the table in the editor. After an error, it opens the editor again, unless the user left the text
// unchanged.
func (t *crontab) editTable(ctx context.Context) error {
	text := emptyTable
	if t.kept != nil {
		text = t.kept.Data[scrontab.TextKey]
	}
	file, err := os.CreateTemp("", "scrontab-*")
	if err != nil {
		return err
	}
	_ = file.Close()
	defer func() { _ = os.Remove(file.Name()) }()
	if err := os.WriteFile(file.Name(), []byte(text), 0o600); err != nil {
		return err
	}
	var problem error
	for {
		s := t.Factory.Streams
		if err := s.RunEditor(s.EditorCommand(), file.Name()); err != nil {
			return usererror.Errorf("set VCCTL_EDITOR or EDITOR to a command that opens a file and exits when the file is closed", "the editor %q: %v", s.EditorCommand(), err)
		}
		edited, err := os.ReadFile(file.Name())
		if err != nil {
			return err
		}
		if string(edited) == text {
			if problem == nil {
				t.PrintNotef("note", "the table was not changed")
			}
			return problem
		}
		text = string(edited)
		if problem = t.replaceTable(ctx, text); problem == nil || !s.InTTY {
			return problem
		}
		problem = t.PrintError(problem) // the editor opens again; unchanged text ends the loop
	}
}

// replaceTable replaces the user's table with text. If it returns an error, nothing has changed.
func (t *crontab) replaceTable(ctx context.Context, text string) error {
	entries, err := scrontab.ParseTable(text, t.user)
	if err != nil {
		return err
	}
	wanted := make([]*planned, len(entries))
	var problems []error
	for i := range entries {
		if wanted[i], err = t.planEntry(ctx, &entries[i]); err != nil {
			problems = append(problems, addLineNumber(entries[i].Line, err))
		}
	}
	if err := errors.Join(problems...); err != nil {
		return err
	}
	if err := t.applyEntries(ctx, wanted); err != nil {
		return err
	}
	return t.storeText(ctx, text)
}

// addLineNumber adds the line number of an entry to its errors.
func addLineNumber(line int, err error) error {
	var all []error
	for _, one := range usererror.Flatten(err) {
		f := *usererror.FromError(one)
		if !errors.Is(one, request.ErrNamesLine) {
			f.What = fmt.Sprintf("line %d: %s", line, f.What)
		}
		all = append(all, &f)
	}
	return errors.Join(all...)
}

// storeText stores the text of the table.
func (t *crontab) storeText(ctx context.Context, text string) error {
	if t.kept != nil {
		t.kept.Data = map[string]string{scrontab.TextKey: text}
		return t.client.Update(ctx, t.kept)
	}
	kept := &corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Namespace: t.namespace, Name: t.configMapName(), Labels: t.objectLabels()}, Data: map[string]string{scrontab.TextKey: text}}
	return t.client.Create(ctx, kept)
}
