package lookup

import (
	"encoding/json"
	"errors"
	"fmt"

	batchv1alpha1 "github.com/vc-batch/vc/api/batch/v1alpha1"
	"github.com/vc-batch/vc/internal/cli"
)

// IsJob reports whether an object is a Job.
func IsJob(object cli.FileObject) bool {
	return object.Object.GroupVersionKind() == batchv1alpha1.GroupVersion.WithKind("Job")
}

// ToTypedJob converts the object to a Job; the bool reports whether the object is a Job.
func ToTypedJob(object cli.FileObject) (*batchv1alpha1.Job, bool, error) {
	if !IsJob(object) {
		return nil, false, nil
	}
	job := &batchv1alpha1.Job{}
	// Decode from JSON, because the decoding errors name the field.
	text, err := object.Object.MarshalJSON()
	if err != nil {
		return nil, true, err
	}
	err = json.Unmarshal(text, job)
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		err = fmt.Errorf("%s: got a value of type %s, but the field requires type %s", wrong.Field, wrong.Value, wrong.Type)
	}
	return job, true, err
}
