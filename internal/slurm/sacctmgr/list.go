package sacctmgr

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	accountv1alpha1 "github.com/vc-batch/vc/api/account/v1alpha1"
	"github.com/vc-batch/vc/internal/slurm/profile"
	"github.com/vc-batch/vc/internal/slurm/tableformat"
	"github.com/vc-batch/vc/internal/usererror"
)

// The default columns, as in Slurm.
const (
	accountColumns     = "Account,Description,Organization"
	userColumns        = "User,DefaultAccount,AdminLevel"
	associationColumns = "Cluster,Account,User,Partition,Share,Priority,GrpJobs,GrpTRES,GrpSubmitJobs,GrpWall,GrpTRESMins,MaxJobs,MaxTRES,MaxTRESPerNode," +
		"MaxSubmitJobs,MaxWall,MaxTRESMins,QOS,DefaultQOS,GrpTRESRunMins"
	accountAssociationColumns = ",Cluster,ParentName,User,Share,Priority,GrpJobs,GrpNodes,GrpCPUs,GrpMem,GrpSubmitJobs,GrpWall,GrpCPUMins,MaxJobs,MaxNodes,MaxCPUs," +
		"MaxSubmitJobs,MaxWall,MaxCPUMins,QOS,DefaultQOS"
	userAssociationColumns = ",Cluster,Account,Partition,Share,Priority,MaxJobs,MaxNodes,MaxCPUs,MaxSubmitJobs,MaxWall,MaxCPUMins,QOS,DefaultQOS"
	coordinatorColumn      = ",Coordinators"
	clusterColumns         = "Cluster,ControlHost,ControlPort,RPC,Share,GrpJobs,GrpTRES,GrpSubmitJobs,MaxJobs,MaxTRES,MaxSubmitJobs,MaxWall,QOS,DefaultQOS"
	tresColumns            = "Type,Name%15,ID"
)

// Row is a line of a list.
type Row struct {
	cluster, host string
	site          *profile.Profile
	// depth is the level of the account in the tree, if it is indented.
	depth int
	// account is the account of the association, or nil for the root.
	account *accountv1alpha1.Account
	// name is the name of the account. It is empty in a list of users without associations.
	name string
	// user is the entry of the user in the account. It is nil for an account.
	user *accountv1alpha1.AccountUser
	// userName is the name of the user. It is empty for an account.
	userName, defaultAccount string
	coordinators             []string
	// limits are the limits of the user, or of each user of the account.
	limits accountv1alpha1.UserLimits
	// accounts is the tree with the QOS of the association, or nil.
	accounts *accountv1alpha1.Tree
	// qos is a QOS in a list of QOS, and priority is the value of its priority class.
	qos      *accountv1alpha1.QOSSpec
	priority int32
	// tres is a resource in a list of resources.
	tres tresRow
}

// tresRow is a resource in a list of resources.
type tresRow struct {
	kind, name string
	id         int
}

// DefaultColumns returns the default format of a list.
func (r *Request) DefaultColumns() string {
	columns := map[Entity]string{Accounts: accountColumns, Users: userColumns, Associations: associationColumns, Clusters: clusterColumns, TRES: tresColumns, QOS: qosColumns}[r.Entity]
	if r.WithCoordinators {
		columns += coordinatorColumn
	}
	switch {
	case r.WithAssociations && r.Entity == Accounts:
		columns += accountAssociationColumns
	case r.WithAssociations && r.Entity == Users:
		columns += userAssociationColumns
	}
	return columns
}

// ParseColumns returns the columns of a list.
func (r *Request) ParseColumns() (tableformat.Columns[*Row], error) {
	format := r.Columns
	if format == "" {
		format = r.DefaultColumns()
	}
	fields := r.columnFields()
	columns, err := tableformat.ParseSized(format, fields)
	if err != nil {
		var names []string
		for _, f := range fields {
			names = append(names, f.Names[0])
		}
		return nil, usererror.Errorf("columns are "+strings.Join(names, ", "), "%s", err)
	}
	return columns, nil
}

// Rows returns the lines of a list. An account is followed by its users, and then by the accounts below it.
func (r *Request) Rows(cluster *Cluster) ([]*Row, error) {
	if err := cluster.checkName(r.Where.Clusters); err != nil {
		return nil, err
	}
	l := lister{request: r, cluster: cluster}
	switch r.Entity {
	case TRES:
		l.addResources()
	case QOS:
		l.addQOS()
	case Users:
		l.addUsers()
	case Clusters:
		l.rows = []*Row{{cluster: cluster.Name, host: cluster.Host, site: cluster.Site}}
	default:
		l.addRoot()
		l.addBelow("", 1, nil)
	}
	return l.rows, nil
}

// lister collects the lines of a list.
type lister struct {
	request *Request
	cluster *Cluster
	rows    []*Row
}

func (l *lister) newRow(account *accountv1alpha1.Account, name string) *Row {
	row := &Row{cluster: l.cluster.Name, site: l.cluster.Site, accounts: l.cluster.Accounts, account: account, name: name}
	if account != nil {
		row.coordinators = account.Spec.Coordinators
		row.limits = l.limitsOf(account, nil)
	}
	return row
}

// limitsOf returns the limits of a user in an account or, without a user, of each user of the account.
func (l *lister) limitsOf(account *accountv1alpha1.Account, user *accountv1alpha1.AccountUser) accountv1alpha1.UserLimits {
	own := account.Spec.UserLimits
	name := ""
	if user != nil {
		own, name = user.Limits, user.Name
	}
	switch {
	case !l.request.OnlyOwnLimits:
		return l.cluster.Accounts.EffectiveUserLimits(account.Name, name)
	case own != nil:
		return *own.DeepCopy()
	}
	return accountv1alpha1.UserLimits{}
}

// addRoot adds the line for the root of the tree.
func (l *lister) addRoot() {
	root := &accountv1alpha1.Account{Spec: accountv1alpha1.AccountSpec{Description: "default root account", Organization: Root}}
	root.Name = Root
	where := l.request.Where
	isChild := len(where.Parents) > 0
	if where.selectsAccount(root) && !isChild && !l.request.OnlyDefaults {
		row := l.newRow(nil, Root)
		l.rows = append(l.rows, row)
	}
}

// addBelow adds the lines for the accounts below an account. ancestors lists that account and the accounts above it.
func (l *lister) addBelow(parent string, depth int, ancestors []string) {
	for _, name := range l.cluster.Accounts.Children(parent) {
		account := l.cluster.Accounts.Account(name)
		path := append(slices.Clone(ancestors), name)
		l.addAccount(account, depth, path)
		l.addBelow(name, depth+1, path)
	}
}

// addAccount adds the lines for an account and its users.
func (l *lister) addAccount(account *accountv1alpha1.Account, depth int, path []string) {
	r := l.request
	where := r.Where
	if r.WithSubaccounts && len(where.Accounts) > 0 && slices.ContainsFunc(where.Accounts, func(name string) bool { return slices.Contains(path, name) }) {
		where.Accounts = nil
	}
	if !where.selectsAccount(account) {
		return
	}
	selectsUsers := len(where.Users) > 0 || r.OnlyDefaults
	if r.Entity == Accounts || !selectsUsers {
		row := l.newRow(account, account.Name)
		row.depth = l.indentationOf(depth)
		l.rows = append(l.rows, row)
	}
	if r.Entity == Accounts && !r.WithAssociations {
		return
	}
	for _, user := range sortedUsers(account) {
		isSelected := len(where.Users) == 0 || slices.Contains(where.Users, user.Name)
		if !isSelected || (r.OnlyDefaults && !user.Default) {
			continue
		}
		row := l.userRow(account, user)
		row.depth = l.indentationOf(depth + 1)
		l.rows = append(l.rows, row)
	}
}

// indentationOf returns the level of an account, or 0 if the names of accounts are not indented.
func (l *lister) indentationOf(depth int) int {
	if l.request.Tree {
		return depth
	}
	return 0
}

func (l *lister) userRow(account *accountv1alpha1.Account, user *accountv1alpha1.AccountUser) *Row {
	row := l.newRow(account, account.Name)
	row.user, row.userName, row.defaultAccount = user, user.Name, l.cluster.Accounts.DefaultAccount(user.Name)
	row.limits = l.limitsOf(account, user)
	return row
}

func sortedUsers(account *accountv1alpha1.Account) []*accountv1alpha1.AccountUser {
	users := make([]*accountv1alpha1.AccountUser, len(account.Spec.Users))
	for i := range account.Spec.Users {
		users[i] = &account.Spec.Users[i]
	}
	slices.SortFunc(users, func(a, b *accountv1alpha1.AccountUser) int { return strings.Compare(a.Name, b.Name) })
	return users
}

// addUsers adds a line for each user or, if requested, for each association of each user.
func (l *lister) addUsers() {
	coordinated := map[string][]string{} // the accounts of each coordinator
	associations := map[string][]association{}
	for _, name := range l.cluster.Accounts.Names() {
		account := l.cluster.Accounts.Account(name)
		for _, user := range account.Spec.Users {
			associations[user.Name] = append(associations[user.Name], association{name, user.Name})
		}
		for _, user := range account.Spec.Coordinators {
			coordinated[user] = append(coordinated[user], name)
		}
	}
	names := slices.AppendSeq(slices.Collect(maps.Keys(associations)), maps.Keys(coordinated))
	slices.Sort(names)
	for _, user := range slices.Compact(names) {
		l.addUser(user, associations[user], coordinated[user])
	}
}

// addUser adds the lines for a user.
func (l *lister) addUser(user string, associations []association, coordinated []string) {
	r := l.request
	selected := slices.DeleteFunc(slices.Clone(associations), func(a association) bool {
		isOther := r.OnlyDefaults && a.account != l.cluster.Accounts.DefaultAccount(user)
		return isOther || !l.cluster.selectsUser(&r.Where, a.account, user)
	})
	if !r.WithAssociations {
		isCoordinator := len(associations) == 0 && !r.OnlyDefaults && l.cluster.selectsUser(&r.Where, "", user)
		if len(selected) > 0 || isCoordinator {
			l.rows = append(l.rows, &Row{cluster: l.cluster.Name, site: l.cluster.Site, userName: user, defaultAccount: l.cluster.Accounts.DefaultAccount(user), coordinators: coordinated})
		}
		return
	}
	for _, a := range selected {
		account := l.cluster.Accounts.Account(a.account)
		row := l.userRow(account, findUser(account, user))
		row.coordinators = coordinated
		l.rows = append(l.rows, row)
	}
}

// addResources adds a line for each resource that can be limited.
func (l *lister) addResources() {
	add := func(kind, name string, id int) {
		l.rows = append(l.rows, &Row{cluster: l.cluster.Name, tres: tresRow{kind, name, id}})
	}
	add("cpu", "", 1)
	add("mem", "", 2)
	for i, name := range l.cluster.Site.GresNames() {
		add("gres", name, firstGres+i)
	}
}

// firstGres is the number of the first generic resource, as in Slurm.
const firstGres = 1001

// columnFields returns the columns of the entity. The first name of a column is its name in Slurm's manual.
func (r *Request) columnFields() []tableformat.Field[*Row] {
	text := func(names, title string, width int, value func(*Row) string) tableformat.Field[*Row] {
		return tableformat.NewField(0, names, title, width, value)
	}
	nothing := func(*Row) string { return "" }
	switch r.Entity {
	case QOS:
		return qosFields()
	case TRES:
		return []tableformat.Field[*Row]{
			text("Type", "Type", 8, func(l *Row) string { return l.tres.kind }),
			text("Name", "Name", 10, func(l *Row) string { return l.tres.name }),
			text("ID", "ID", 6, func(l *Row) string { return strconv.Itoa(l.tres.id) }),
		}
	}
	userNames, accountNames, clusterNames := "User", "Account|Acct", "Cluster"
	switch r.Entity {
	case Accounts:
		accountNames += "|Name"
	case Clusters:
		clusterNames += "|Name"
	default:
		userNames += "|Name"
	}
	accountWidth := 10
	if r.Tree {
		accountWidth = -20
	}
	return []tableformat.Field[*Row]{
		text(accountNames, "Account", accountWidth, func(l *Row) string { return strings.Repeat(" ", l.depth) + l.name }),
		text("AdminLevel", "Admin", 9, func(*Row) string { return "None" }),
		text(clusterNames, "Cluster", 10, func(l *Row) string { return l.cluster }),
		text("ControlHost", "ControlHost", 15, func(l *Row) string { return l.host }),
		text("ControlPort", "ControlPort", 12, nothing),
		text("Coordinators", "Coord Accounts", 20, func(l *Row) string { return strings.Join(l.coordinators, ",") }),
		text("DefaultAccount", "Def Acct", 10, func(l *Row) string { return l.defaultAccount }),
		text("DefaultQOS", "Def QOS", 9, (*Row).defaultQOS),
		text("Description", "Descr", 20, ofAccount(func(s *accountv1alpha1.AccountSpec) string { return s.Description }, "default root account")),
		text("BudgetPeriod", "BudgetPeriod", 12, func(l *Row) string { return string(l.budget().Period) }),
		text("GrpCPUMins", "GrpCPUMins", 11, func(l *Row) string { return l.amount(l.budget().ResourceMinutes, corev1.ResourceCPU) }),
		text("GrpCPUs", "GrpCPUs", 8, func(l *Row) string { return l.amount(l.groupResources(), corev1.ResourceCPU) }),
		text("GrpJobs", "GrpJobs", 7, ofAccountLimits(func(a *accountv1alpha1.AccountLimits) string { return formatNumber(a.MaxRunningJobs) })),
		text("GrpMem", "GrpMem", 7, func(l *Row) string { return l.amount(l.groupResources(), corev1.ResourceMemory) }),
		text("GrpNodes", "GrpNodes", 8, nothing),
		text("GrpSubmitJobs", "GrpSubmit", 9, ofAccountLimits(func(a *accountv1alpha1.AccountLimits) string { return formatNumber(a.MaxSubmittedJobs) })),
		text("GrpTRES", "GrpTRES", 13, func(l *Row) string { return FormatResources(l.groupResources(), l.site) }),
		text("GrpTRESMins", "GrpTRESMins", 13, func(l *Row) string { return FormatResources(l.budget().ResourceMinutes, l.site) }),
		text("GrpTRESRunMins", "GrpTRESRunMin", 13, nothing),
		text("GrpWall", "GrpWall", 11, nothing),
		text("MaxCPUMins", "MaxCPUMins", 11, nothing),
		text("MaxCPUs|MaxCPUsPerJob", "MaxCPUs", 8, func(l *Row) string { return l.amount(l.limits.MaxResourcesPerJob, corev1.ResourceCPU) }),
		text("MaxJobs", "MaxJobs", 7, func(l *Row) string { return formatNumber(l.limits.MaxRunningJobs) }),
		text("MaxNodes", "MaxNodes", 8, nothing),
		text("MaxSubmitJobs", "MaxSubmit", 9, func(l *Row) string { return formatNumber(l.limits.MaxSubmittedJobs) }),
		text("MaxTRES|MaxTRESPerJob|MaxTRESPJ", "MaxTRES", 13, func(l *Row) string { return FormatResources(l.limits.MaxResourcesPerJob, l.site) }),
		text("MaxTRESMins", "MaxTRESMins", 13, nothing),
		text("MaxTRESPerNode|MaxTRESPN", "MaxTRESPerNode", 14, nothing),
		text("MaxTRESPerUser|MaxTRESPU", "MaxTRESPU", 13, func(l *Row) string { return FormatResources(l.limits.MaxResources, l.site) }),
		text("MaxWall|MaxWallDurationPerJob", "MaxWall", 11, func(l *Row) string { return formatWall(l.limits.MaxRunTime) }),
		text("Namespaces", "Namespaces", 20, ofAccount(func(s *accountv1alpha1.AccountSpec) string { return strings.Join(s.Namespaces, ",") }, "")),
		text("Organization", "Org", 20, ofAccount(func(s *accountv1alpha1.AccountSpec) string { return s.Organization }, Root)),
		text("ParentName", "Par Name", 10, (*Row).parentName),
		text("Partition", "Partition", 10, nothing),
		text("Priority", "Priority", 10, nothing),
		text("QOS", "QOS", 20, (*Row).permittedQOS),
		text("Queues", "Queues", 20, ofAccount(func(s *accountv1alpha1.AccountSpec) string { return strings.Join(s.Queues, ",") }, "")),
		text("RPC", "RPC", 5, nothing),
		text("Share|Shares|Fairshare", "Share", 9, (*Row).shares),
		text(userNames, "User", 10, func(l *Row) string { return l.userName }),
	}
}

// ofAccount returns the text of a column that describes an account. root is the text for the root.
func ofAccount(value func(*accountv1alpha1.AccountSpec) string, root string) func(*Row) string {
	return func(l *Row) string {
		switch {
		case l.account != nil:
			return value(&l.account.Spec)
		case l.name == Root:
			return root
		}
		return ""
	}
}

// ofAccountLimits returns the text of a column with a limit of an account. Such limits do not apply to a single user.
func ofAccountLimits(value func(*accountv1alpha1.AccountLimits) string) func(*Row) string {
	return func(l *Row) string {
		if l.account == nil || l.account.Spec.Limits == nil || l.user != nil {
			return ""
		}
		return value(l.account.Spec.Limits)
	}
}

// groupResources returns the limit of the resources that all jobs of the association request together.
func (l *Row) groupResources() corev1.ResourceList {
	switch {
	case l.user != nil:
		return l.limits.MaxResources
	case l.account != nil && l.account.Spec.Limits != nil:
		return l.account.Spec.Limits.MaxResources
	}
	return nil
}

// budget returns the budget of the account. It is empty if the account has none, and for users.
func (l *Row) budget() *accountv1alpha1.Budget {
	hasLimits := l.user == nil && l.account != nil && l.account.Spec.Limits != nil
	if !hasLimits || l.account.Spec.Limits.Budget == nil {
		return &accountv1alpha1.Budget{}
	}
	return l.account.Spec.Limits.Budget
}

// amount returns the limit of one resource, or "" if it is not set.
func (l *Row) amount(list corev1.ResourceList, name corev1.ResourceName) string {
	amount, ok := list[name]
	if !ok {
		return ""
	}
	return formatQuantity(name, amount)
}

// parentName returns the parent of an account. The parent of a user is not listed, as in Slurm.
func (l *Row) parentName() string {
	if l.account == nil || l.user != nil {
		return ""
	}
	return parentName(l.account)
}

// shares returns the number of shares of the row: of its user or, without a user, of its account.
func (l *Row) shares() string {
	var number *int32
	switch {
	case l.name == "":
		return ""
	case l.user != nil:
		number = l.user.Shares
	case l.account != nil:
		number = l.account.Spec.Shares
	}
	if number == nil {
		return "1"
	}
	return formatNumber(number)
}
