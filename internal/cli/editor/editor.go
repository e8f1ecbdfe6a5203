// Package editor lets users change an object in their text editor. It opens the object as YAML, validates what the user
// saves, and sends the difference. If a change is invalid or conflicts with the change of another user, it opens the
// editor again with the reasons as comments.
//
//	In:   a Kind, which describes the objects of one kind; an object from the API server; the text that the user saves
//	Out:  a patch of the object, or a copy of the user's text if the change could not be sent
package editor

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/internal/cli"
)

// Kind describes the objects of one kind for the editor.
type Kind struct {
	GVK schema.GroupVersionKind
	// Noun names an object of the kind in messages, for example "job".
	Noun string
	// Help is the comment above the text. It describes which fields can be changed.
	Help string
	// CopyHint is the command that creates a similar object with another name.
	CopyHint string
	// Validate returns the error with which the server would reject the change, or nil.
	Validate func(ctx context.Context, change Change) error
	// Confirm shows the effects of a valid change, and returns an error if the user does not confirm them. It is called
	// once for each text that the user saves. It may be nil.
	Confirm func(ctx context.Context, change Change) error
}

// Change is an object before and after a change. Both are complete objects.
type Change struct {
	Before, After *unstructured.Unstructured
}

// Options holds the inputs that all edit commands share.
type Options struct {
	Factory *cli.Factory
	DryRun  cli.DryRun
	out     cli.Output
	fields  cli.FieldValidation
}

// AddFlags adds --dry-run, --validate and the output flags.
func (o *Options) AddFlags(cmd *cobra.Command) {
	o.DryRun.AddFlag(cmd)
	o.fields.AddFlag(cmd)
	o.out.AddFormatFlags(cmd, false)
}

// Validate returns an error if the value of a flag is invalid.
func (o *Options) Validate() error {
	return errors.Join(o.out.Validate(), o.validateMode())
}

// validateMode validates the flags other than those for the output.
func (o *Options) validateMode() error {
	return errors.Join(o.DryRun.Validate(), o.fields.Validate())
}

// Help is the part of the help text that all edit commands share.
const Help = `
Set the variable VCCTL_EDITOR (or VC_EDITOR, KUBE_EDITOR, EDITOR) to choose the
editor; the default is vi.

If a change is not allowed or the text is invalid, the editor opens again with
the reasons as comments. It also opens again if another user changed the same
field in the meantime. If you cancel, your text is kept in a temporary file
whose path is printed.
`

// cancelledText is the message about an edit that changed nothing.
const cancelledText = "edit cancelled: nothing was changed"

// EditAndPrint opens an object in the editor until the change is accepted or the user makes no further change, and
// prints the result.
func (o *Options) EditAndPrint(ctx context.Context, c client.Client, kind *Kind, key client.ObjectKey) error {
	e := o.newSession(c, kind, key)
	if err := e.run(ctx); err != nil {
		if e.savedCopy != "" {
			fmt.Fprintf(o.Factory.Streams.Err, "a copy of your text was saved to %s\n", e.savedCopy)
		}
		return err
	}
	if e.sent == nil {
		fmt.Fprintln(o.Factory.Streams.Err, cancelledText)
		return nil
	}
	return cli.PrintSuccess(o.Factory, &o.out, e.sent, "edited"+o.DryRun.MessageSuffix())
}

// EditAndDescribe opens an object in the editor as EditAndPrint does, but prints nothing. said is the result as a
// sentence. An error names the file to which the user's text was saved.
func (o *Options) EditAndDescribe(ctx context.Context, c client.Client, kind *Kind, key client.ObjectKey) (said string, err error) {
	if err := o.validateMode(); err != nil {
		return "", err
	}
	e := o.newSession(c, kind, key)
	switch err := e.run(ctx); {
	case err != nil && e.savedCopy != "":
		return "", fmt.Errorf("%w; a copy of your text was saved to %s", err, e.savedCopy)
	case err != nil:
		return "", err
	case e.sent == nil:
		return cancelledText, nil
	}
	name := key.Name
	if key.Namespace != "" {
		name = key.Namespace + "/" + name
	}
	return fmt.Sprintf("%s %s edited", kind.Noun, name), nil
}
