package submit

import (
	"context"
	"errors"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/internal/cli"
)

// checkAtServer validates the objects with a server dry run before the first of several objects is created: quotas,
// policies and other webhooks can reject objects that pass checkHere.
func checkAtServer(ctx context.Context, f *cli.Factory, objects []cli.FileObject, dryRun *cli.DryRun, fields *cli.FieldValidation) error {
	if len(objects) < 2 || dryRun.Any() {
		return nil
	}
	c, err := f.Client()
	if err != nil {
		return err
	}
	strict := fields.Client(c)
	var problems []error
	for _, object := range InOrder(objects) {
		err := strict.Create(ctx, object.Object.DeepCopy(), client.DryRunAll)
		isRejected := apierrors.IsInvalid(err) || apierrors.IsForbidden(err)
		if isRejected && !namesAnother(err.Error(), object, objects) {
			problems = append(problems, cli.InFile(err, object))
		}
	}
	return errors.Join(problems...)
}

// namesAnother reports whether a rejection names another object of the same files. That object may be missing only
// until it is created.
func namesAnother(message string, rejected cli.FileObject, objects []cli.FileObject) bool {
	words := strings.FieldsFunc(message, func(r rune) bool { return !strings.ContainsRune(nameCharacters, r) })
	return slices.ContainsFunc(objects, func(other cli.FileObject) bool {
		name := other.Object.GetName()
		return name != "" && name != rejected.Object.GetName() && slices.Contains(words, name)
	})
}

// nameCharacters are the characters of object names.
const nameCharacters = "abcdefghijklmnopqrstuvwxyz0123456789-."
