package store

import (
	"fmt"
	"strings"
)

// CheckAddress returns an error if an address has none of the forms that Open accepts.
func CheckAddress(address string) error {
	scheme, rest, _ := strings.Cut(address, ":")
	isSQLite := scheme == "sqlite" && rest != ""
	isPostgres := (scheme == "postgres" || scheme == "postgresql") && strings.HasPrefix(rest, "//")
	if isSQLite || isPostgres {
		return nil
	}
	return fmt.Errorf("database address %q: use sqlite:DIRECTORY or postgres://USER@HOST:PORT/DATABASE", withoutPassword(address))
}
