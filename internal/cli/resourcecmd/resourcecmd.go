// Package resourcecmd implements the verbs that are the same for all kinds of objects: list, get, view, create and
// delete. A command group such as podgroup or jobflow defines a Kind with its texts, columns and view, and adds
// further verbs.
//
//	In:   a Kind; arguments, files; objects from the API server
//	Out:  cobra commands; tables and sheets; objects created and deleted
package resourcecmd

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/internal/cli"
)

// Kind describes a kind of object to the shared verbs.
type Kind[T client.Object] struct {
	// Noun is the name of the command ("jobflow"); Called is the name in messages ("job flow").
	Noun, Called string
	// Aliases are the command's aliases.
	Aliases []string
	// Short and Long are the help texts of the noun.
	Short, Long string
	GVK         schema.GroupVersionKind
	// ClusterScoped is true if the objects have no namespace.
	ClusterScoped bool
	New           func() T
	NewList       func() client.ObjectList

	// Columns returns the columns of the list. FreeText is true if the last column is free text. Spare lists the
	// columns that may be omitted on a narrow terminal.
	Columns  func(f *cli.Factory) []cli.Column[T]
	FreeText bool
	Spare    []string
	// Filter adds flags to list. The returned function runs before the list is read; named reports whether the user
	// specified names. Filter may be nil.
	Filter func(f *cli.Factory, cmd *cobra.Command) func(ctx context.Context, named bool) (Narrowed[T], error)
	// Compat prints the table in the format of Volcano's vcctl. It is nil if Volcano has no such table.
	Compat func(out io.Writer, f *cli.Factory, items []T, allNamespaces bool) error

	// View reads the data related to an object and returns its details. If events is true, they include the object's
	// events.
	View func(ctx context.Context, f *cli.Factory, c client.Client, object T, events bool) (*cli.Sheet, error)
	// Ended reports whether an object has reached a final state. It is nil if objects of the kind never end.
	Ended func(T) bool
	// Otherwise finds an object by a related name if no object has the name itself; found reports whether there is
	// one. Errors other than "not found" are returned. Otherwise is nil if objects of the kind have no related names.
	Otherwise func(ctx context.Context, c client.Client, namespace, name string) (object T, found bool, err error)
	// State describes the state of an object in one word, for the confirmation of a deletion; it may be nil.
	State func(T) string

	// ListHelp and ViewHelp are the help texts of these verbs.
	ListHelp, ViewHelp Help
	// Await waits until created objects have ended, for create --wait; AwaitHelp describes that flag. Await is nil if
	// objects of the kind never end.
	Await     func(ctx context.Context, f *cli.Factory, wait *cli.Wait, created []T) error
	AwaitHelp string
	// CreateNote and DeleteNote are appended to the help of these verbs.
	CreateNote, DeleteNote string
	// Sample is an object name for examples.
	Sample string
	// OldWord is Volcano's name for the kind, as in "Created JobFlow: ns/name". It is empty if Volcano's vcctl does
	// not have the verbs.
	OldWord string
}

// Help holds the help texts of a verb.
type Help struct{ Short, Long, Examples string }

// Narrowed holds the filters of a list.
type Narrowed[T client.Object] struct {
	// Labels is a label selector and Fields a field selector; both may be empty.
	Labels string
	Fields fields.Selector
	// Keep filters objects on the client; it may be nil.
	Keep func(T) bool
}

// NewCommand returns the command group with the shared verbs and additional ones.
func (k *Kind[T]) NewCommand(f *cli.Factory, more ...*cobra.Command) *cobra.Command {
	cmd := cli.NewCommandGroup(f, k.Noun, k.Short, k.Long, k.Aliases...)
	cmd.AddCommand(k.newList(f, listObjects), k.newGet(f, listObjects), k.newView(f, viewObjects), k.newCreate(f, createObjects), k.newDelete(f, deleteObjects))
	cmd.AddCommand(more...)
	return cmd
}

// NewViewCommand returns only the verb view, for command groups that implement the other verbs themselves.
func (k *Kind[T]) NewViewCommand(f *cli.Factory) *cobra.Command { return k.newView(f, viewObjects) }

// NewReadCommands returns the verbs list, get and view, for command groups that implement the other verbs themselves.
func (k *Kind[T]) NewReadCommands(f *cli.Factory) []*cobra.Command {
	return []*cobra.Command{k.newList(f, listObjects), k.newGet(f, listObjects), k.newView(f, viewObjects)}
}

// replaceWords replaces NOUN, KIND, KINDS and SAMPLE in a help text.
func (k *Kind[T]) replaceWords(text string) string {
	return strings.NewReplacer("NOUN", k.Noun, "KINDS", k.pluralName(), "KIND", k.Called, "SAMPLE", k.Sample).Replace(text)
}

func (k *Kind[T]) pluralName() string { return k.Called + "s" }

// CountText formats a number of objects, for example "1 job flow" or "3 job flows".
func (k *Kind[T]) CountText(n int) string {
	if n == 1 {
		return "1 " + k.Called
	}
	return fmt.Sprintf("%d %s", n, k.pluralName())
}

// completeNames completes the names of objects and, for kinds whose objects can also be found by job name, the names of
// jobs.
func (k *Kind[T]) completeNames(f *cli.Factory) cli.Completer {
	if k.Otherwise == nil {
		return f.CompleteKind(k.GVK, !k.ClusterScoped)
	}
	return cli.CompleteEither(f.CompleteJobs(), f.CompleteKind(k.GVK, true))
}
