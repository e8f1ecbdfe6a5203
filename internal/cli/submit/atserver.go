package submit

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/internal/cli"
)

// checkAtServer validates the objects with a dry run on the server before any of them is created, because objects with
// their names may exist, and quotas, policies and other webhooks can reject objects that pass checkLocally. It ignores
// warnings, because they may be about objects in the same files; the user sees the warnings when the objects are created.
func checkAtServer(ctx context.Context, f *cli.Factory, objects []cli.FileObject, dryRun *cli.DryRun, fields *cli.FieldValidation) error {
	if len(objects) < 2 || dryRun.IsDryRun() {
		return nil
	}
	c, err := f.Client()
	if err != nil {
		return err
	}
	strict := fields.WrapClient(c)
	withoutWarnings := cli.WithoutWarnings(ctx)
	var problems []error
	for _, object := range SortByDependency(objects) {
		err := strict.Create(withoutWarnings, object.Object.DeepCopy(), client.DryRunAll)
		if apierrors.IsAlreadyExists(err) {
			problems = append(problems, cli.AddFileSource(explainExistingInFile(ctx, f, c, object.Object, err), object))
			continue
		}
		isRejected := apierrors.IsInvalid(err) || apierrors.IsForbidden(err)
		switch {
		case !isRejected:
		case !mentionsOther(err, object, objects):
			problems = append(problems, cli.AddFileSource(err, object))
		case existsAtServer(ctx, c, object): // the server checks this only after the webhooks
			exists := apierrors.NewAlreadyExists(schema.GroupResource{Resource: "objects"}, object.Object.GetName())
			problems = append(problems, cli.AddFileSource(explainExistingInFile(ctx, f, c, object.Object, exists), object))
		}
	}
	return errors.Join(problems...)
}

// existsAtServer reports whether an object with the same name exists.
func existsAtServer(ctx context.Context, c client.Client, object cli.FileObject) bool {
	if object.Object.GetName() == "" {
		return false
	}
	stored := object.Object.DeepCopyObject().(client.Object)
	return c.Get(ctx, client.ObjectKeyFromObject(object.Object), stored) == nil
}

// mentionsOther reports whether a rejection mentions another object in the same files. That object may be missing only
// because it has not been created yet.
func mentionsOther(rejection error, rejected cli.FileObject, objects []cli.FileObject) bool {
	words := strings.FieldsFunc(removeSubject(rejection), func(r rune) bool { return !strings.ContainsRune(nameCharacters, r) })
	return slices.ContainsFunc(objects, func(other cli.FileObject) bool {
		name := other.Object.GetName()
		return name != "" && other.Object != rejected.Object && slices.Contains(words, name)
	})
}

// removeSubject returns the message of a rejection without its beginning, which names the rejected object. The name
// would be misleading because another object, such as the queue of a job, may have the same one.
func removeSubject(rejection error) string {
	message := rejection.Error()
	var status apierrors.APIStatus
	if !errors.As(rejection, &status) || status.Status().Details == nil {
		return message
	}
	if _, after, isNamed := strings.Cut(message, strconv.Quote(status.Status().Details.Name)); isNamed {
		return after
	}
	return message
}

// nameCharacters contains the characters that may occur in object names.
const nameCharacters = "abcdefghijklmnopqrstuvwxyz0123456789-."
