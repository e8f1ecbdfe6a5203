// Package resourcecmd implements the verbs that are the same for all kinds of objects: list, get, view, create and delete. A
// noun (podgroup, jobflow, …) defines a Kind with its texts, columns and view, and adds verbs of its own.
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

// Kind describes a kind of objects for the shared verbs.
type Kind[T client.Object] struct {
	// Noun is the name of the command, Called the name in messages: "jobflow", "job flow".
	Noun, Called string
	// Aliases are the command's aliases.
	Aliases []string
	// Short and Long are the help texts of the noun.
	Short, Long string
	GVK         schema.GroupVersionKind
	// ClusterScoped means that the objects have no namespace.
	ClusterScoped bool
	New           func() T
	NewList       func() client.ObjectList

	// Columns returns the columns of the list. FreeText means that the last column is free text. Spare lists the
	// columns that a narrow terminal can omit.
	Columns  func(f *cli.Factory) []cli.Column[T]
	FreeText bool
	Spare    []string
	// Filter adds flags to list. The returned function runs before the list is read; named reports whether the user
	// named objects. Filter may be nil.
	Filter func(f *cli.Factory, cmd *cobra.Command) func(ctx context.Context, named bool) (Narrowed[T], error)
	// Compat prints the table of Volcano's vcctl; nil if Volcano has no such table.
	Compat func(out io.Writer, f *cli.Factory, items []T, allNamespaces bool) error

	// View reads the data related to an object and returns its details; events adds the object's events.
	View func(ctx context.Context, f *cli.Factory, c client.Client, object T, events bool) (*cli.Sheet, error)
	// Ended reports whether an object has reached its final state; nil means never.
	Ended func(T) bool
	// Otherwise finds an object by a related name if no object has that name itself; it reports whether it found one.
	// It returns errors other than "not found". Nil means that objects have no related names.
	Otherwise func(ctx context.Context, c client.Client, namespace, name string) (object T, found bool, err error)
	// State describes the state of an object in one word, for the confirmation of a deletion; it may be nil.
	State func(T) string

	// ListHelp and ViewHelp are the help texts of these verbs.
	ListHelp, ViewHelp Help
	// Await waits for the end of created objects, for --wait of create, and AwaitHelp describes --wait. Nil means
	// that objects of the kind do not end.
	Await     func(ctx context.Context, f *cli.Factory, wait *cli.Wait, created []T) error
	AwaitHelp string
	// CreateNote and DeleteNote are appended to the help of these verbs.
	CreateNote, DeleteNote string
	// Sample is an object name for examples.
	Sample string
	// OldWord is Volcano's name for the kind, as in "Created JobFlow: ns/name"; "" if Volcano's vcctl lacks the
	// verbs.
	OldWord string
}

// Help holds the help texts of a verb.
type Help struct{ Short, Long, Examples string }

// Narrowed holds the filters of a list.
type Narrowed[T client.Object] struct {
	// Labels is a label selector, Fields a field selector; both may be empty.
	Labels string
	Fields fields.Selector
	// Keep filters objects on the client; it may be nil.
	Keep func(T) bool
}

// Command returns the noun's command with the shared verbs and the given ones.
func (k *Kind[T]) Command(f *cli.Factory, more ...*cobra.Command) *cobra.Command {
	cmd := cli.Group(f, k.Noun, k.Short, k.Long, k.Aliases...)
	cmd.AddCommand(k.newList(f, list), k.newGet(f, list), k.newView(f, view), k.newCreate(f, create), k.newDelete(f, remove))
	cmd.AddCommand(more...)
	return cmd
}

// ViewCommand returns only the verb view, for a noun that implements its other verbs itself.
func (k *Kind[T]) ViewCommand(f *cli.Factory) *cobra.Command { return k.newView(f, view) }

// words replaces NOUN, KIND, KINDS and SAMPLE in a help text.
func (k *Kind[T]) words(text string) string {
	return strings.NewReplacer("NOUN", k.Noun, "KINDS", k.plural(), "KIND", k.Called, "SAMPLE", k.Sample).Replace(text)
}

func (k *Kind[T]) plural() string { return k.Called + "s" }

// Count formats a number of objects: "1 job flow", "3 job flows".
func (k *Kind[T]) Count(n int) string {
	if n == 1 {
		return "1 " + k.Called
	}
	return fmt.Sprintf("%d %s", n, k.plural())
}

// complete offers the names of the objects and, for kinds that are also found by job name, the names of jobs.
func (k *Kind[T]) complete(f *cli.Factory) cli.Completer {
	if k.Otherwise == nil {
		return f.CompleteKind(k.GVK, !k.ClusterScoped)
	}
	return cli.Either(f.CompleteJobs(), f.CompleteKind(k.GVK, true))
}
