package usererror_test

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vc-batch/vc/internal/usererror"
)

// texts returns the text of each error that was joined into err.
func texts(err error) []string {
	var all []string
	for _, one := range usererror.Flatten(err) {
		all = append(all, one.Error())
	}
	return all
}

func TestJoinedErrorsAreFlattenedAndReplacedAtAnyDepth(t *testing.T) {
	t.Parallel()
	a, b, c := errors.New("a"), errors.New("b"), errors.New("c")
	nested := errors.Join(a, errors.Join(b, c))
	if diff := cmp.Diff([]string{"a", "b", "c"}, texts(nested)); diff != "" {
		t.Error(diff)
	}
	changed := usererror.Map(nested, func(one error) error {
		if one == b {
			return nil
		}
		return fmt.Errorf("new %w", one)
	})
	if diff := cmp.Diff([]string{"new a", "new c"}, texts(changed)); diff != "" {
		t.Error(diff)
	}
	if all := usererror.Map(nested, func(error) error { return nil }); all != nil {
		t.Errorf("%v is left of errors that were all removed", all)
	}
	if one := usererror.Map(a, func(one error) error { return one }); one != a {
		t.Errorf("a single error became %v", one)
	}
	if none := usererror.Map(nil, func(error) error { return a }); none != nil {
		t.Errorf("no error became %v", none)
	}
}

func TestWrapfKeepsTheCauseAndErrorfDoesNot(t *testing.T) {
	t.Parallel()
	if err := usererror.Wrapf("create it", "file: %v", fs.ErrNotExist); !errors.Is(err, fs.ErrNotExist) || err.Hint != "create it" {
		t.Errorf("Wrapf: %+v", err)
	}
	if err := usererror.Errorf("create it", "file: %v", fs.ErrNotExist); errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Errorf: %+v", err)
	}
}

func TestTheMoreSpecificHintIsKept(t *testing.T) {
	t.Parallel()
	inner := usererror.Errorf("inner", "x").WithCode(3)
	if err := usererror.WithHint(fmt.Errorf("y: %w", inner), "outer"); err.Hint != "inner" || err.Code != 3 || err.What != "y: x" {
		t.Errorf("%+v", err)
	}
	if err := usererror.WithHint(errors.New("x"), "outer"); err.Hint != "outer" {
		t.Errorf("%+v", err)
	}
}
