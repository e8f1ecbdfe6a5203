package change

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/job/lookup"
	"github.com/vc-batch/vc/internal/usererror"
)

// editOptions holds the inputs of `vcctl job edit`.
type editOptions struct {
	f      *cli.Factory
	out    cli.Output
	dryRun cli.DryRun
	fields cli.FieldValidation
	name   string
}

func newEdit(f *cli.Factory, run func(context.Context, *editOptions) error) *cobra.Command {
	o := &editOptions{f: f}
	cmd := &cobra.Command{
		Use:   "edit NAME",
		Short: "Change a job in an editor",
		Long: cli.FormatHelp(`
			Open a job in an editor, and apply your changes when you save and quit. The
			editor is taken from the variable VCCTL_EDITOR (or VC_EDITOR, KUBE_EDITOR,
			EDITOR); the default is vi.

			If a change is not allowed or the text is invalid, the editor opens again with
			the reasons as comments; the same happens if another user changed the same field
			in the meantime. If you cancel, your text is kept in a temporary file whose path
			is printed.

			You can change the labels and annotations of a job, its minAvailable and
			priorityClassName, and the replicas and minAvailable of each task; if the job is
			held or has a later begin time, also queue, runningEstimate and
			activeDeadlineSeconds.`),
		Example: f.FormatExamples(`
			# In the editor of this shell
			vcctl job edit train

			# In another editor
			VCCTL_EDITOR=nano vcctl job edit train

			# Let the server check the change without storing it
			vcctl job edit train --dry-run=server`),
		ValidArgsFunction: f.CompleteJobs(),
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if o.name, err = lookup.SingleName(f, cmd, args); err != nil {
				return err
			}
			return run(cmd.Context(), o)
		},
	}
	o.dryRun.AddFlag(cmd)
	o.fields.AddFlag(cmd)
	o.out.AddFormatFlags(cmd, false)
	return cmd
}

// editJob opens the job in the editor until the change is accepted or the user makes no further change.
func editJob(ctx context.Context, o *editOptions) error {
	if err := errors.Join(o.out.Validate(), o.dryRun.Validate(), o.fields.Validate()); err != nil {
		return err
	}
	c, job, err := lookup.ReadSingle(ctx, o.f, o.name)
	if err != nil {
		return err
	}
	e := &editing{o: o, c: o.fields.WrapClient(c), key: client.ObjectKeyFromObject(job)}
	if err := e.run(ctx); err != nil {
		if e.savedCopy != "" {
			fmt.Fprintf(o.f.Streams.Err, "a copy of your text was saved to %s\n", e.savedCopy)
		}
		return err
	}
	if e.sent == nil {
		fmt.Fprintln(o.f.Streams.Err, editCancelled)
		return nil
	}
	return cli.PrintSuccess(o.f, &o.out, e.sent, "edited"+o.dryRun.MessageSuffix())
}

// editCancelled is the message about an edit that changed nothing.
const editCancelled = "edit cancelled: nothing was changed"

// EditJob opens a job in the editor and sends the change, as the command does. said is the result as a sentence. An
// error names the file to which the user's text was saved.
func EditJob(ctx context.Context, f *cli.Factory, c client.Client, key client.ObjectKey) (said string, err error) {
	o := &editOptions{f: f}
	if err := errors.Join(o.dryRun.Validate(), o.fields.Validate()); err != nil {
		return "", err
	}
	e := &editing{o: o, c: o.fields.WrapClient(c), key: key}
	switch err := e.run(ctx); {
	case err != nil && e.savedCopy != "":
		return "", fmt.Errorf("%w; a copy of your text was saved to %s", err, e.savedCopy)
	case err != nil:
		return "", err
	case e.sent == nil:
		return editCancelled, nil
	}
	return fmt.Sprintf("job %s/%s edited", key.Namespace, key.Name), nil
}

// editing is the state of one job in an editor.
type editing struct {
	o   *editOptions
	c   client.Client
	key client.ObjectKey
	// current is the job as last read; opened is the part of the job with which the editor was opened.
	current, opened *unstructured.Unstructured
	// body is the text to edit, without the comments that the editor shows above it.
	body []byte
	// problems lists the reasons why the last attempt was rejected.
	problems []string
	// path is the file that the editor opens; it is empty until the file has been written.
	path string
	// sent is the changed job after it was sent; it is nil if nothing was changed.
	sent client.Object
	// savedCopy is the file to which the user's text was saved after an error, or "".
	savedCopy string
}

// run lets the user edit the job until the change is accepted. If this fails, run saves the user's text.
func (e *editing) run(ctx context.Context) (err error) {
	if err := e.readCurrent(ctx); err != nil {
		return err
	}
	if e.body, err = yaml.Marshal(e.opened.Object); err != nil {
		return err
	}
	if err := e.editUntilDone(ctx); err != nil {
		e.saveUserText()
		return err
	}
	return nil
}

// readCurrent fetches the current job.
func (e *editing) readCurrent(ctx context.Context) error {
	now := &unstructured.Unstructured{}
	now.SetGroupVersionKind(batchv1alpha1.GroupVersion.WithKind("Job"))
	if err := e.c.Get(ctx, e.key, now); err != nil {
		return err
	}
	e.current, e.opened = now, editablePart(now)
	return nil
}

func (e *editing) editUntilDone(ctx context.Context) error {
	for {
		saved, err := e.openEditor()
		if err != nil {
			return err
		}
		switch {
		case len(e.body) == 0 && len(e.problems) == 0:
			return e.cancelEdit()
		case len(e.body) == 0 || len(e.problems) > 0 && !saved:
			return usererror.Errorf("edit the text again and save it", "job %q was not changed: %s", e.key.Name, strings.Join(e.problems, "; "))
		}
		edited, err := parseEdited(e.body, e.opened)
		if err != nil {
			e.problems = []string{err.Error()}
			continue
		}
		if reflect.DeepEqual(edited.Object, e.opened.Object) {
			return e.cancelEdit()
		}
		done, err := e.sendChange(ctx, edited)
		if err != nil || done {
			return err
		}
	}
}

// openEditor opens the text in the editor and reads the saved text; changed reports whether the user changed it.
func (e *editing) openEditor() (changed bool, err error) {
	if e.path == "" {
		file, err := os.CreateTemp("", "vcctl-edit-"+e.key.Name+"-*.yaml")
		if err != nil {
			return false, err
		}
		e.path = file.Name()
		if err := file.Close(); err != nil {
			return false, err
		}
	}
	shown := editText(e.body, e.problems)
	if err := os.WriteFile(e.path, shown, 0o600); err != nil {
		return false, err
	}
	s := e.o.f.Streams
	if err := s.RunEditor(s.EditorCommand(), e.path); err != nil {
		return false, usererror.Errorf("set VCCTL_EDITOR or EDITOR to a command that takes the file as argument and exits when the file is closed", "editor %q: %v", s.EditorCommand(), err)
	}
	text, err := os.ReadFile(e.path)
	if err != nil {
		return false, err
	}
	e.body = removeComments(text)
	return !bytes.Equal(text, shown), nil
}

// sendTries is the maximum number of attempts to send a change if others modify the job at the same time.
const sendTries = 5

// sendChange validates the change and sends it to the server. If the user can fix the errors by editing again,
// sendChange stores them in e.problems.
func (e *editing) sendChange(ctx context.Context, edited *unstructured.Unstructured) (done bool, err error) {
	for range sendTries {
		wanted, overlap, err := e.rebaseOnCurrent(ctx, edited)
		if err != nil {
			return false, err
		}
		if len(overlap) > 0 {
			e.problems = overlap
			return false, nil
		}
		object := cli.FileObject{Object: wanted}
		if err := errors.Join(e.o.fields.CheckFields(e.o.f, object), e.validateChange(ctx, wanted)); err != nil {
			e.problems = reasonLines(err)
			return false, nil
		}
		if !e.o.dryRun.IsClient() {
			err = e.c.Patch(ctx, wanted, client.MergeFromWithOptions(e.current, client.MergeFromWithOptimisticLock{}), e.o.dryRun.PatchOptions()...)
		}
		switch {
		case apierrors.IsConflict(err):
			continue
		case isContentRejected(err):
			e.problems = reasonLines(err)
			return false, nil
		case err != nil:
			return false, err
		}
		if err := os.Remove(e.path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return true, err
		}
		e.sent = wanted
		return true, nil
	}
	e.problems = []string{"other users kept changing it during the edit: try again"}
	return false, nil
}

// rebaseOnCurrent returns the current job with the user's changes. overlap lists the fields that others have changed as
// well. The editor then shows these fields, and the user's next save replaces them.
func (e *editing) rebaseOnCurrent(ctx context.Context, edited *unstructured.Unstructured) (wanted *unstructured.Unstructured, overlap []string, err error) {
	opened := e.opened
	if err := e.readCurrent(ctx); err != nil {
		return nil, nil, err
	}
	changed, overlap, err := rebaseChanges(opened, edited, e.opened)
	if err != nil {
		return nil, nil, err
	}
	if len(overlap) > 0 {
		e.body, err = yaml.Marshal(changed.Object)
		return nil, overlap, err
	}
	e.opened = opened // until the change is sent, the user's text is based on the opened job
	wanted, err = replaceEditable(e.current, changed)
	return wanted, nil, err
}

// replaceEditable returns the server's version of the job, in which shown replaces the part that the editor shows.
func replaceEditable(current, shown *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	wanted, _, err := rebaseChanges(editablePart(current), shown, current)
	return wanted, err
}

// validateChange returns the error with which the server would reject the change, or nil.
func (e *editing) validateChange(ctx context.Context, wanted *unstructured.Unstructured) error {
	old, _, err := lookup.ToTypedJob(cli.FileObject{Object: e.current})
	if err != nil {
		return err
	}
	job, _, err := lookup.ToTypedJob(cli.FileObject{Object: wanted})
	if err != nil {
		return err
	}
	return e.o.f.ValidateUpdate(e.o.f.ValidationContext(ctx, true), old, job, e.o.dryRun.IsClient())
}

// isContentRejected reports whether the server rejected the content, in which case another edit can help.
func isContentRejected(err error) bool {
	if err == nil {
		return false
	}
	return apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || cli.RejectingWebhook(err) != ""
}

// cancelEdit ends the edit without changes.
func (e *editing) cancelEdit() error { return os.Remove(e.path) }

// saveUserText saves the user's text to the editor's file.
func (e *editing) saveUserText() {
	if e.path == "" || len(e.body) == 0 {
		return
	}
	if os.WriteFile(e.path, editText(e.body, e.problems), 0o600) == nil {
		e.savedCopy = e.path
	}
}
