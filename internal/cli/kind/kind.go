// Package kind is the verbs that are the same for every kind of object: list,
// get, view, create and delete. A noun (podgroup, jobflow, …) is a Kind: its words, its
// columns and what a view of it shows; verbs of its own it adds itself.
//
//	In:   a Kind; arguments, files; objects from the API server
//	Out:  cobra commands; tables and sheets; objects created and deleted
package kind

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

// Kind is what the shared verbs have to know about a kind of objects.
type Kind[T client.Object] struct {
	// Noun is the word of the command, Called the words of texts: "jobflow", "job flow".
	Noun, Called string
	// Aliases of the command.
	Aliases []string
	// Short and Long are the help of the noun.
	Short, Long string
	GVK         schema.GroupVersionKind
	// ClusterScoped says that the objects are in no namespace.
	ClusterScoped bool
	New           func() T
	NewList       func() client.ObjectList

	// Columns of the list; FreeText says that the last is free text, Spare which a narrow terminal may do without.
	Columns  func(f *cli.Factory) []cli.Column[T]
	FreeText bool
	Spare    []string
	// Filter adds flags to list; what it returns is called when the list is to be made, and told whether objects are named. It may be nil.
	Filter func(f *cli.Factory, cmd *cobra.Command) func(ctx context.Context, named bool) (Narrowed[T], error)
	// Compat prints the table of Volcano's vcctl; nil where that has none.
	Compat func(out io.Writer, f *cli.Factory, items []T, allNamespaces bool) error

	// View reads what is around an object and says all about it; events says whether to show those, too.
	View func(ctx context.Context, f *cli.Factory, c client.Client, object T, events bool) (*cli.Sheet, error)
	// Ended says that nothing becomes of an object any more; nil: that is never known.
	Ended func(T) bool
	// Otherwise finds an object by another name than its own, where none has that name; it reports whether it found one. Errors other than
	// "not found" are returned. Nil means that objects have no other names.
	Otherwise func(ctx context.Context, c client.Client, namespace, name string) (object T, found bool, err error)
	// State is how an object stands, in a word, for the question before many are deleted; it may be nil.
	State func(T) string

	// ListHelp and ViewHelp are the help of these verbs.
	ListHelp, ViewHelp Help
	// Await waits for the end of objects that were created, for --wait of create, whose help AwaitHelp is; nil: nothing ends.
	Await     func(ctx context.Context, f *cli.Factory, wait *cli.Wait, created []T) error
	AwaitHelp string
	// CreateNote and DeleteNote are added to the help of these verbs.
	CreateNote, DeleteNote string
	// Sample is a name for examples.
	Sample string
	// OldWord is how Volcano's vcctl calls the kind in "Created JobFlow: ns/name"; "" where it does not know the verbs.
	OldWord string
}

// Help is the help of one verb.
type Help struct{ Short, Long, Examples string }

// Narrowed is what filters leave of a list.
type Narrowed[T client.Object] struct {
	// Labels is a label selector, Fields a field selector; both may be empty.
	Labels string
	Fields fields.Selector
	// Keep filters at the client; it may be nil.
	Keep func(T) bool
}

// Command returns the noun with the shared verbs, and those given.
func (k *Kind[T]) Command(f *cli.Factory, more ...*cobra.Command) *cobra.Command {
	cmd := cli.Group(f, k.Noun, k.Short, k.Long, k.Aliases...)
	cmd.AddCommand(k.newList(f, list), k.newGet(f, list), k.newView(f, view), k.newCreate(f, create), k.newDelete(f, remove))
	cmd.AddCommand(more...)
	return cmd
}

// ViewCommand returns the verb view alone, for a noun whose other verbs are its own.
func (k *Kind[T]) ViewCommand(f *cli.Factory) *cobra.Command { return k.newView(f, view) }

// words writes NOUN, KIND, KINDS and SAMPLE of a help text as those of the kind.
func (k *Kind[T]) words(text string) string {
	return strings.NewReplacer("NOUN", k.Noun, "KINDS", k.plural(), "KIND", k.Called, "SAMPLE", k.Sample).Replace(text)
}

func (k *Kind[T]) plural() string { return k.Called + "s" }

// Count is "1 job flow" or "3 job flows".
func (k *Kind[T]) Count(n int) string {
	if n == 1 {
		return "1 " + k.Called
	}
	return fmt.Sprintf("%d %s", n, k.plural())
}

// complete offers live names; those of jobs, too, where the name of a job stands for an object.
func (k *Kind[T]) complete(f *cli.Factory) cli.Completer {
	if k.Otherwise == nil {
		return f.CompleteKind(k.GVK, !k.ClusterScoped)
	}
	return cli.Either(f.CompleteJobs(), f.CompleteKind(k.GVK, true))
}
