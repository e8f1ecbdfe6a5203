package editor

import (
	"bytes"
	"context"
	"errors"
	"os"
	"reflect"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/usererror"
)

// session is the state of one object in an editor.
type session struct {
	o    *Options
	c    client.Client
	kind *Kind
	key  client.ObjectKey
	// current is the object as last read; opened is the part of the object with which the editor was opened.
	current, opened *unstructured.Unstructured
	// body is the text to edit, without the comments that the editor shows above it.
	body []byte
	// problems lists the reasons why the last attempt was rejected.
	problems []string
	// path is the file that the editor opens; it is empty until the file has been written.
	path string
	// sent is the changed object after it was sent; it is nil if nothing was changed.
	sent client.Object
	// savedCopy is the file to which the user's text was saved after an error, or "".
	savedCopy string
}

func (o *Options) newSession(c client.Client, kind *Kind, key client.ObjectKey) *session {
	return &session{o: o, c: o.fields.WrapClient(c), kind: kind, key: key}
}

// run lets the user edit the object until the change is accepted. If this fails, run saves the user's text.
func (e *session) run(ctx context.Context) (err error) {
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

// readCurrent fetches the current object.
func (e *session) readCurrent(ctx context.Context) error {
	now := &unstructured.Unstructured{}
	now.SetGroupVersionKind(e.kind.GVK)
	if err := e.c.Get(ctx, e.key, now); err != nil {
		return err
	}
	e.current, e.opened = now, editablePart(now)
	return nil
}

func (e *session) editUntilDone(ctx context.Context) error {
	for {
		saved, err := e.openEditor()
		if err != nil {
			return err
		}
		switch {
		case len(e.body) == 0 && len(e.problems) == 0:
			return e.cancelEdit()
		case len(e.body) == 0 || (len(e.problems) > 0 && !saved):
			return usererror.Errorf("edit the text again and save it", "%s %q was not changed: %s", e.kind.Noun, e.key.Name, strings.Join(e.problems, "; "))
		}
		edited, err := e.kind.parseEdited(e.body, e.opened)
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
func (e *session) openEditor() (changed bool, err error) {
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
	shown := e.kind.editText(e.body, e.problems)
	if err := os.WriteFile(e.path, shown, 0o600); err != nil {
		return false, err
	}
	s := e.o.Factory.Streams
	if err := s.RunEditor(s.EditorCommand(), e.path); err != nil {
		return false, usererror.Errorf("set VCCTL_EDITOR or EDITOR to a command that takes the file as an argument and exits when the file is closed", "editor %q: %v", s.EditorCommand(), err)
	}
	text, err := os.ReadFile(e.path)
	if err != nil {
		return false, err
	}
	e.body = removeComments(text)
	return isUserChange(shown, text), nil
}

// isUserChange reports whether the user changed the body, or deleted a comment line to insist on the same body. Other
// changes of comments do not count, because the command of a non-interactive editor can match the comments each time.
func isUserChange(shown, saved []byte) bool {
	before, after := removeComments(shown), removeComments(saved)
	deletedComment := bytes.Count(saved[:len(saved)-len(after)], []byte("\n")) < bytes.Count(shown[:len(shown)-len(before)], []byte("\n"))
	return deletedComment || !bytes.Equal(before, after)
}

// sendTries is the maximum number of attempts to send a change if others modify the object at the same time.
const sendTries = 5

// sendChange validates the change and sends it to the server. If the user can fix the errors by editing again,
// sendChange stores them in e.problems.
func (e *session) sendChange(ctx context.Context, edited *unstructured.Unstructured) (done bool, err error) {
	confirmed := e.kind.Confirm == nil
	for range sendTries {
		wanted, overlap, err := e.rebaseOnCurrent(ctx, edited)
		if err != nil {
			return false, err
		}
		if len(overlap) > 0 {
			e.problems = overlap
			return false, nil
		}
		change := Change{Before: e.current, After: wanted}
		if err := e.checkChange(ctx, change); err != nil {
			e.problems = reasonLines(err)
			return false, nil
		}
		if !confirmed {
			if err := e.kind.Confirm(ctx, change); err != nil {
				return false, err
			}
			confirmed = true
		}
		switch err := e.patch(ctx, change); {
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
	e.problems = []string{"other users changed the object repeatedly while you were editing: try again"}
	return false, nil
}

// checkChange returns the reasons for which the change cannot be sent, or nil.
func (e *session) checkChange(ctx context.Context, change Change) error {
	if err := e.o.fields.CheckFields(e.o.Factory, cli.FileObject{Object: change.After}); err != nil {
		return err
	}
	if err := checkFixedFields(change); err != nil {
		return err
	}
	return e.kind.Validate(ctx, change)
}

// patch sends the change unless it is a client dry run. It fails if the object was changed since it was read.
func (e *session) patch(ctx context.Context, change Change) error {
	if e.o.DryRun.IsClient() {
		return nil
	}
	return e.c.Patch(ctx, change.After, client.MergeFromWithOptions(change.Before, client.MergeFromWithOptimisticLock{}), e.o.DryRun.PatchOptions()...)
}

// rebaseOnCurrent returns the current object with the user's changes. overlap lists the fields that others have changed
// as well. The editor then shows these fields, and the user's next save replaces them.
func (e *session) rebaseOnCurrent(ctx context.Context, edited *unstructured.Unstructured) (wanted *unstructured.Unstructured, overlap []string, err error) {
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
	e.opened = opened // until the change is sent, the user's text is based on the opened object
	wanted, err = replaceEditable(e.current, changed)
	return wanted, nil, err
}

// replaceEditable returns the server's version of the object, in which shown replaces the part that the editor shows.
func replaceEditable(current, shown *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	wanted, _, err := rebaseChanges(editablePart(current), shown, current)
	return wanted, err
}

// isContentRejected reports whether the server rejected the content, in which case another edit can help.
func isContentRejected(err error) bool {
	if err == nil {
		return false
	}
	return apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || cli.RejectingWebhook(err) != ""
}

// cancelEdit ends the edit without changes.
func (e *session) cancelEdit() error { return os.Remove(e.path) }

// saveUserText saves the user's text to the editor's file.
func (e *session) saveUserText() {
	if e.path == "" || len(e.body) == 0 {
		return
	}
	if os.WriteFile(e.path, e.kind.editText(e.body, e.problems), 0o600) == nil {
		e.savedCopy = e.path
	}
}
