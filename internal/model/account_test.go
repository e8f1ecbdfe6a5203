package model_test

import (
	"testing"

	"github.com/vc-batch/vc/api/keys"
	"github.com/vc-batch/vc/internal/model"
	"github.com/vc-batch/vc/test/make"
)

func TestAccountsFormATreeThatIsReplacedWithEachChange(t *testing.T) {
	c := model.New()
	c.Apply(model.AccountFrom(make.Account("physics").Obj()), model.AccountFrom(make.Account("theory").Parent("physics").Users("ann").Obj()))
	before, gen := c.Accounts, c.AccountGen
	if n := len(before.Path("theory")); n != 2 {
		t.Fatalf("the path of theory has %d accounts, want 2", n)
	}
	same := make.Account("physics").Obj()
	same.ResourceVersion = "7"
	c.Apply(model.AccountFrom(same))
	if c.Accounts != before || c.AccountGen != gen {
		t.Error("the tree changed although no spec changed")
	}
	fork := c.Fork()
	c.Apply(model.AccountGone{Name: "theory"})
	if c.AccountGen == gen || c.Accounts.Len() != 1 {
		t.Errorf("the tree has %d accounts after a deletion, want 1", c.Accounts.Len())
	}
	fork.Apply(model.AccountFrom(make.Account("biology").Obj()))
	if fork.Accounts.Len() != 3 || before.Len() != 2 {
		t.Errorf("the copy has %d accounts, want 3; the earlier tree has %d, want 2", fork.Accounts.Len(), before.Len())
	}
}

func TestAGangHasAParty(t *testing.T) {
	c := model.New()
	c.Apply(model.GangFrom(make.Gang("g").Label(keys.Account, "physics").Annotation(keys.User, "ann").Obj()))
	if got, want := c.Gangs["default/g"].Party(), (model.Party{Account: "physics", User: "ann"}); got != want {
		t.Errorf("party %v, want %v", got, want)
	}
}
