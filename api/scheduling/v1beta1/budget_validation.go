package v1beta1

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/vc-batch/vc/api/keys"
)

// ValidateDisruptionBudget returns the validation errors of the annotations that limit how many pods of a group may
// be unavailable. path is the path of the annotations.
func ValidateDisruptionBudget(annotations map[string]string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	both := 0
	for _, key := range []string{keys.JDBMinAvailable, keys.JDBMaxUnavailable} {
		value, ok := annotations[key]
		if !ok {
			continue
		}
		both++
		if !isCountOrPercentage(value) {
			errs = append(errs, field.Invalid(path.Key(key), value, "must be a positive integer or a percentage from 1% to 99%"))
		}
	}
	if both == 2 {
		errs = append(errs, field.Invalid(path, keys.JDBMaxUnavailable, fmt.Sprintf(
			"not allow configure multiple annotations <[%s %s]> at same time", keys.JDBMinAvailable, keys.JDBMaxUnavailable)))
	}
	return errs
}

func isCountOrPercentage(value string) bool {
	digits, percentage := strings.CutSuffix(value, "%")
	number, err := strconv.ParseInt(digits, 10, 32)
	if err != nil || number < 1 || strings.HasPrefix(digits, "+") {
		return false
	}
	return !percentage || number <= 99
}
