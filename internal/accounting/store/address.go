package store

import (
	"strings"

	"github.com/vc-batch/vc/internal/usererror"
)

// CheckAddress returns an error if an address has none of the forms that Open accepts.
func CheckAddress(address string) error {
	scheme, rest, _ := strings.Cut(address, ":")
	isSQLite := scheme == "sqlite" && rest != ""
	isPostgres := (scheme == "postgres" || scheme == "postgresql") && strings.HasPrefix(rest, "//")
	if isSQLite || isPostgres {
		return nil
	}
	return unknownAddress(address)
}

func unknownAddress(address string) error {
	return usererror.Errorf("use sqlite:DIRECTORY or postgres://USER@HOST:PORT/DATABASE",
		"database address %q has an unknown form", withoutPassword(address))
}
