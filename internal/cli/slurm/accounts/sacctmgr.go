// Package accounts implements sacctmgr, which shows and changes the tree of accounts and the limits of users.
//
//	In:   command lines in sacctmgr's language (internal/slurm/sacctmgr), Account and QOS objects
//	Out:  lists of accounts, users, associations and QOS; changed Account and QOS objects
//
// # Invariants
//
//   - An account or a QOS is written only if it has not changed since the user confirmed the changes, or if the same changes apply
//     to its new version.
package accounts

import (
	"context"
	"errors"
	"io"
	"net/url"
	"slices"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	"github.com/vc-batch/vc/internal/accounting"
	"github.com/vc-batch/vc/internal/cli"
	"github.com/vc-batch/vc/internal/cli/recorded"
	"github.com/vc-batch/vc/internal/cli/slurm/clusterdata"
	"github.com/vc-batch/vc/internal/cli/slurm/program"
	"github.com/vc-batch/vc/internal/slurm/getopt"
	"github.com/vc-batch/vc/internal/slurm/sacctmgr"
	"github.com/vc-batch/vc/internal/slurm/tableformat"
	"github.com/vc-batch/vc/internal/usererror"
)

var sacctmgrTable = getopt.Table{Program: "sacctmgr", Operands: "COMMAND ENTITY [NAME...] [KEY=VALUE...]", Options: []getopt.Option{
	{Long: "immediate", Short: 'i', Help: "Make changes without asking for confirmation", Group: "Changes"},
	{Long: "readonly", Short: 'r', Help: "Reject commands that make changes", Group: "Changes"},
	{Long: "associations", Short: 's', Help: "Also list associations (withassoc)", Group: program.OutputGroup},
	{Long: "noheader", Short: 'n', Help: "Do not print the header", Group: program.OutputGroup},
	{Long: "parsable", Short: 'p', Help: "Print | after each column", Group: program.OutputGroup},
	{Long: "parsable2", Short: 'P', Help: "Print | between columns", Group: program.OutputGroup},
	{Long: "oneliner", Short: 'o', NoEffect: true, Help: "No effect: each line of a list is one object", Group: program.OutputGroup},
	{Long: "quiet", Short: 'Q', Help: "Print no changes, only errors", Group: program.OutputGroup},
	{Long: "verbose", Short: 'v', Help: "Report options without effect", Group: program.OutputGroup},
}}

// Sacctmgr shows and changes accounts.
var Sacctmgr = program.Program{Table: &sacctmgrTable, Run: runSacctmgr, Complete: completeWords,
	Short: "Show and change accounts, users, QOS and limits",
	Long: `
		Show and change the tree of accounts (Account objects), their users and their limits.

		Commands:
		  add account NAME... [parent=NAME] [KEY=VALUE...]
		  add user NAME... account=LIST [defaultaccount=NAME] [KEY=VALUE...]
		  add coordinator NAME... account=LIST
		  modify account|user NAME... set KEY=VALUE... [where CONDITION...]
		  delete account|user|coordinator NAME... [where CONDITION...]
		  add|modify|delete qos NAME... [KEY=VALUE...]
		  show account|user|association|qos [where CONDITION...] [format=LIST]
		  show cluster|tres [format=LIST]
		  show transactions [CONDITION...] [format=LIST]
		  show event [CONDITION...] [format=LIST]

		Values of accounts: parent, description, organization, fairshare, queues,
		namespaces, grpjobs, grpsubmitjobs, grptres, grptresmins, budgetperiod. Values
		of users: defaultaccount, fairshare, grptres. Values of both: maxjobs,
		maxsubmitjobs, maxtresperjob, maxtresperuser, maxwall, qos, defaultqos. An
		account's max... values limit each of its users. -1 removes a limit. grptresmins
		is a budget of resources times minutes; budgetperiod is month, quarter, year or
		none. Resources (TRES) are cpu, mem, gres/gpu and the names of Kubernetes'
		resources. += and -= change queues, namespaces and qos.

		Values of a QOS: description, priority (the name or the value of a priority
		class), grpjobs, grpsubmitjobs, grptres, maxjobsperuser, maxsubmitjobsperuser,
		maxtresperuser, maxjobsperaccount, maxsubmitjobsperaccount, maxtresperaccount,
		maxtresperjob, maxwall.

		Conditions: account, user, cluster, parent, defaultaccount, description,
		organization. Words of show: withassoc, withcoord, withsubaccounts, woplimits,
		onlydefaults, tree. Conditions of transactions: account, user, actor, action,
		cluster, start, end. Conditions of events, which are the times during which nodes
		were down or drained: nodes, state, cluster, start (default: yesterday), end.
		Words may be abbreviated, and their case does not matter.`,
	Example: `
		# An account for a department, one for a project, and a user
		vcctl slurm sacctmgr -i add account science description=Science grptres=cpu=1000
		vcctl slurm sacctmgr -i add account laser parent=physics
		vcctl slurm sacctmgr -i add user mei account=physics maxjobs=10

		# Limit each job of the account to 8 GPUs and a day, and remove the limit of jobs
		vcctl slurm sacctmgr modify account physics set maxtres=gres/gpu=8 maxwall=1-0 maxjobs=-1

		# A QOS for short jobs, and the QOS that an account permits
		vcctl slurm sacctmgr -i add qos short grpjobs=20 maxjobspu=2 maxwall=30
		vcctl slurm sacctmgr modify account physics set qos=normal defaultqos=normal

		# The tree with the limits
		vcctl slurm sacctmgr show assoc tree format=account,user,share,grptres%30,maxjobs

		# Who changed the account since the beginning of the month
		vcctl slurm sacctmgr show transactions account=physics start=2026-11-01 format=time,actor,action,info%-60

		# When the nodes were down or drained this month
		vcctl slurm sacctmgr show event nodes=gpu-[1-8] start=2026-11-01

		# For scripts
		vcctl slurm sacctmgr -n -P show user format=user,defaultaccount`,
}

func runSacctmgr(ctx context.Context, c *program.Call) error {
	if transactions, isOne, err := sacctmgr.ParseTransactions(c.Parsed.Operands, c.Factory.Now()); isOne {
		if err != nil {
			return err
		}
		columns, err := transactions.ParseColumns(c.Factory.Now().Location())
		if err != nil {
			return err
		}
		return printRecorded(c, columns, "the changes of accounts and QOS", func(config *rest.Config) ([]accounting.Change, error) {
			return recorded.Changes(ctx, config, transactions.Query)
		})
	}
	if events, isOne, err := sacctmgr.ParseEvents(c.Parsed.Operands, c.Factory.Now()); isOne {
		if err != nil {
			return err
		}
		now := c.Factory.Now()
		columns, err := events.ParseColumns(now.Location(), now)
		if err != nil {
			return err
		}
		return printRecorded(c, columns, "the events of nodes", func(config *rest.Config) ([]accounting.NodeEvent, error) {
			return recorded.NodeEvents(ctx, config, events.Query)
		})
	}
	request, err := sacctmgr.Parse(c.Parsed.Operands)
	if err != nil {
		return err
	}
	isList := request.Verb == sacctmgr.List
	if c.Parsed.Has("readonly") && !isList {
		return usererror.Errorf("remove -r", "-r does not allow changes")
	}
	if c.Parsed.Has("associations") {
		if canList := isList && !slices.Contains([]sacctmgr.Entity{sacctmgr.TRES, sacctmgr.Clusters, sacctmgr.QOS}, request.Entity); !canList {
			return usererror.Errorf("remove -s", "-s has no effect on this command")
		}
		request.WithAssociations = true
	}
	if isList {
		return printList(ctx, c, request)
	}
	cl, err := c.Factory.Client()
	if err != nil {
		return err
	}
	change := newChange(request, cl, func() (*sacctmgr.Cluster, error) { return readCluster(ctx, c, cl) })
	plan, err := change.Compute()
	if err != nil {
		return err
	}
	if !c.Parsed.Has("quiet") {
		if _, err := io.WriteString(c.Factory.Streams.Out, plan.Text); err != nil {
			return err
		}
	}
	if plan.IsEmpty {
		return cli.ExitStatus(cli.ExitError)
	}
	if !c.Parsed.Has("immediate") {
		if err := confirmChanges(ctx, c.Factory); err != nil {
			return err
		}
	}
	return change.Commit(ctx, plan)
}

// newChange returns the change that a request describes. read reads the current accounts.
func newChange(request *sacctmgr.Request, cl client.Client, read func() (*sacctmgr.Cluster, error)) *Change {
	c := &Change{Client: cl, Compute: func() (*sacctmgr.Plan, error) {
		cluster, err := read()
		if err != nil {
			return nil, err
		}
		return request.Compute(cluster)
	}}
	if request.Verb == sacctmgr.Modify {
		c.Lost = usererror.Errorf("list the accounts with sacctmgr show associations", "another client deleted the objects at the same time: nothing was modified")
	}
	return c
}

// printList prints the requested list.
func printList(ctx context.Context, c *program.Call, request *sacctmgr.Request) error {
	columns, err := request.ParseColumns()
	if err != nil {
		return err
	}
	cl, err := c.Factory.Client()
	if err != nil {
		return err
	}
	cluster, err := readCluster(ctx, c, cl)
	if err != nil {
		return err
	}
	rows, err := request.Rows(cluster)
	if err != nil {
		return err
	}
	_, err = io.WriteString(c.Factory.Streams.Out, columns.FormatTable(rows, tableForm(c)))
	return err
}

// tableForm returns the form of a list.
func tableForm(c *program.Call) tableformat.Form {
	return tableformat.Form{
		Between: "|", Heading: !c.Parsed.Has("noheader"), Parsable: c.Parsed.Has("parsable") || c.Parsed.Has("parsable2"),
		Closed: c.Parsed.Has("parsable") && !c.Parsed.Has("parsable2"),
	}
}

// printRecorded prints a list from the accounting database. what names its content.
func printRecorded[T any](c *program.Call, columns tableformat.Columns[*T], what string, read func(*rest.Config) ([]T, error)) error {
	if c.Parsed.Has("associations") {
		return usererror.Errorf("remove -s", "-s has no effect on this command")
	}
	config, err := c.Factory.RESTConfig()
	if err != nil {
		return err
	}
	list, err := read(config)
	switch {
	case errors.Is(err, recorded.ErrNoDatabase):
		return usererror.Errorf("ask the administrator to enable accounting", "%s, which records %s", err, what)
	case err != nil:
		return err
	}
	rows := make([]*T, len(list))
	for i := range list {
		rows[i] = &list[i]
	}
	_, err = io.WriteString(c.Factory.Streams.Out, columns.FormatTable(rows, tableForm(c)))
	return err
}

// readCluster reads all accounts, QOS and priority classes, and the site's profile.
func readCluster(ctx context.Context, c *program.Call, cl client.Client) (*sacctmgr.Cluster, error) {
	list := &accountv1alpha1.AccountList{}
	if err := cl.List(ctx, list); err != nil {
		return nil, err
	}
	accounts := make([]*accountv1alpha1.Account, len(list.Items))
	for i := range list.Items {
		accounts[i] = &list.Items[i]
	}
	qos, err := cli.ListObjects[*accountv1alpha1.QOS](ctx, cl, &accountv1alpha1.QOSList{})
	if err != nil && !cli.IsUnknownKind(err) { // an older installation does not have the kind
		return nil, err
	}
	site, err := clusterdata.ReadSiteProfile(ctx, c, cl)
	if err != nil {
		return nil, err
	}
	return &sacctmgr.Cluster{
		Name: c.ClusterName(), Host: serverHost(c), Accounts: accountv1alpha1.NewTree(accounts, qos...),
		Classes: clusterdata.ReadPriorityClasses(ctx, cl), Site: site,
	}, nil
}

// serverHost returns the host of the API server.
func serverHost(c *program.Call) string {
	text := c.Factory.DescribeConnection().Server
	if server, err := url.Parse(text); err == nil && server.Host != "" {
		return server.Hostname()
	}
	return text
}
