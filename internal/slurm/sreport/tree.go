package sreport

import (
	"cmp"
	"slices"
	"strings"
)

// maxDepth limits the depth of the tree of accounts, because an account may be its own ancestor.
const maxDepth = 100

// accountsAbove returns an account and, if the report is a tree, the accounts above it.
func (r *Request) accountsAbove(account string, parents map[string]string) []string {
	if !r.Tree {
		return []string{account}
	}
	return pathUp(account, parents)
}

// pathUp returns an account and the accounts above it, up to the root.
func pathUp(account string, parents map[string]string) []string {
	path := []string{account}
	for parents[account] != "" && len(path) < maxDepth {
		account = parents[account]
		path = append(path, account)
	}
	return path
}

// orderAsTree orders lines so that each account is followed by its users and then by the accounts below, and sets the depth
// of each line.
func orderAsTree(lines []Line, parents map[string]string) []Line {
	path := func(account string) string {
		up := pathUp(account, parents)
		slices.Reverse(up)
		return strings.Join(up, "\x00")
	}
	for i := range lines {
		lines[i].depth = len(pathUp(lines[i].Account, parents)) - 1
	}
	slices.SortStableFunc(lines, func(a, b Line) int {
		return cmp.Or(cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(path(a.Account), path(b.Account)), cmp.Compare(a.Login, b.Login))
	})
	return lines
}
