package accounts

import (
	"context"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/slurm/profile"
	"github.com/vc-batch/vc/internal/slurm/sacctmgr"
)

// interfere returns a change whose first write happens after another client has changed the accounts.
func interfere(t *testing.T, words []string, other func(client.Client) error) (*Change, client.Client) {
	t.Helper()
	store := fake.NewClientBuilder().WithScheme(cli.Scheme()).WithObjects(
		&accountv1alpha1.Account{ObjectMeta: metav1.ObjectMeta{Name: "physics"}, Spec: accountv1alpha1.AccountSpec{Users: []accountv1alpha1.AccountUser{{Name: "mei"}}}},
		&accountv1alpha1.Account{ObjectMeta: metav1.ObjectMeta{Name: "chem"}},
	).Build()
	isFirst := true
	before := func() error {
		if !isFirst {
			return nil
		}
		isFirst = false
		return other(store)
	}
	slow := interceptor.NewClient(store, interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			if err := before(); err != nil {
				return err
			}
			return c.Create(ctx, object, options...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			if err := before(); err != nil {
				return err
			}
			return c.Patch(ctx, object, patch, options...)
		},
		Delete: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.DeleteOption) error {
			if err := before(); err != nil {
				return err
			}
			return c.Delete(ctx, object, options...)
		},
	})
	request, err := sacctmgr.Parse(words)
	if err != nil {
		t.Fatal(err)
	}
	return newChange(request, slow, func() (*sacctmgr.Cluster, error) {
		list := &accountv1alpha1.AccountList{}
		if err := store.List(t.Context(), list); err != nil {
			return nil, err
		}
		var accounts []*accountv1alpha1.Account
		for i := range list.Items {
			accounts = append(accounts, &list.Items[i])
		}
		return &sacctmgr.Cluster{Name: "test", Accounts: accountv1alpha1.NewTree(accounts), Site: &profile.Profile{}}, nil
	}), store
}

// edit changes an account as another client.
func edit(t *testing.T, name string, do func(*accountv1alpha1.Account)) func(client.Client) error {
	return func(c client.Client) error {
		account := &accountv1alpha1.Account{}
		if err := c.Get(t.Context(), client.ObjectKey{Name: name}, account); err != nil {
			return err
		}
		do(account)
		return c.Update(t.Context(), account)
	}
}

func commit(t *testing.T, c *Change) error {
	t.Helper()
	plan, err := c.Compute()
	if err != nil {
		t.Fatal(err)
	}
	return c.Commit(t.Context(), plan)
}

func read(t *testing.T, c client.Client, name string) *accountv1alpha1.Account {
	t.Helper()
	account := &accountv1alpha1.Account{}
	if err := c.Get(t.Context(), client.ObjectKey{Name: name}, account); err != nil {
		t.Fatal(err)
	}
	return account
}

func TestAChangeByAnotherClientIsKept(t *testing.T) {
	t.Parallel()
	c, store := interfere(t, []string{"add", "user", "omar", "account=physics"}, edit(t, "physics", func(a *accountv1alpha1.Account) {
		a.Spec.Users = append(a.Spec.Users, accountv1alpha1.AccountUser{Name: "ann"})
	}))
	if err := commit(t, c); err != nil {
		t.Fatal(err)
	}
	if users := read(t, store, "physics").Spec.Users; len(users) != 3 {
		t.Errorf("users %v", users)
	}
}

func TestAnAccountThatAnotherClientCreatedIsNotAnError(t *testing.T) {
	t.Parallel()
	c, store := interfere(t, []string{"add", "account", "laser"}, func(c client.Client) error {
		return c.Create(t.Context(), &accountv1alpha1.Account{ObjectMeta: metav1.ObjectMeta{Name: "laser"}, Spec: accountv1alpha1.AccountSpec{Description: "first"}})
	})
	if err := commit(t, c); err != nil {
		t.Fatal(err)
	}
	if got := read(t, store, "laser").Spec.Description; got != "first" {
		t.Errorf("description %q", got)
	}
}

func TestTheChangeOfADeletedAccountIsAnError(t *testing.T) {
	t.Parallel()
	for _, words := range []string{"modify account physics set maxjobs=2", "modify user mei set maxjobs=2"} {
		c, _ := interfere(t, strings.Fields(words), func(c client.Client) error {
			return c.Delete(t.Context(), &accountv1alpha1.Account{ObjectMeta: metav1.ObjectMeta{Name: "physics"}})
		})
		if err := commit(t, c); err == nil {
			t.Errorf("%s: the change of a deleted account is reported as done", words)
		}
	}
}

// What the user confirmed is the limit: an account that matches the condition only now is not deleted.
func TestOnlyConfirmedAccountsAreWritten(t *testing.T) {
	t.Parallel()
	c, store := interfere(t, []string{"delete", "account", "where", "parent=root", "account=physics,chem,laser"}, func(c client.Client) error {
		if err := c.Create(t.Context(), &accountv1alpha1.Account{ObjectMeta: metav1.ObjectMeta{Name: "laser"}}); err != nil {
			return err
		}
		return edit(t, "chem", func(a *accountv1alpha1.Account) { a.Spec.Description = "changed" })(c)
	})
	if err := commit(t, c); err == nil {
		t.Error("the changed request is carried out")
	}
	read(t, store, "laser")
}
