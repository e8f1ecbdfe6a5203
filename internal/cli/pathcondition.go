package cli

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/jsonpath"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/vc-batch/vc/internal/usererror"
)

// ParsePathCondition parses the value of --for=jsonpath=: {PATH}=VALUE, or only {PATH}, for which any value meets the
// condition. It returns a function that reports whether an object meets the condition.
func ParsePathCondition(text string) (has func(client.Object) bool, err error) {
	const example = "an example: --for=jsonpath='{.status.running}'=3"
	end := strings.LastIndex(text, "}")
	if end < 0 {
		return nil, usererror.Errorf(example, "--for: JSONPath %q has no {…}", text)
	}
	path := jsonpath.New("for").AllowMissingKeys(true)
	if err := path.Parse(text[:end+1]); err != nil {
		return nil, usererror.Errorf(example, "--for: JSONPath %q: %v", text[:end+1], err)
	}
	want, given := strings.CutPrefix(text[end+1:], "=")
	if !given && text[end+1:] != "" {
		return nil, usererror.Errorf(example, "--for: specify =VALUE after the path, not %q", text[end+1:])
	}
	want = strings.Trim(want, `'"`)
	return func(object client.Object) bool {
		plain, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
		var value strings.Builder
		if err != nil || path.Execute(&value, plain) != nil {
			return false
		}
		if given {
			return value.String() == want
		}
		return value.String() != ""
	}, nil
}

// UnknownConditionError returns the error for a --for value that is not one of the known aims.
func UnknownConditionError(text string, aims []string) error {
	hint := "one of: " + strings.Join(aims, ", ")
	if near := FindNearest(text, aims); near != "" {
		hint = fmt.Sprintf("did you mean %q? %s", near, hint)
	}
	return usererror.Errorf(hint, "--for: unknown condition %q", text)
}
