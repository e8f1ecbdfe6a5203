package real

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

const (
	// previousCommit is the commit of the previous version. No version has been released yet.
	previousCommit = "cb58decee9ec25563498ab22edb42e4a6f62bef0"
	// previousTree is the directory with the source tree of the previous version.
	previousTree = "previous"
)

// buildPrevious builds the image of the previous version from its commit. In a shallow clone, which does not contain the
// commit, it does nothing.
func buildPrevious(bin string) error {
	if exec.Command("git", "cat-file", "-e", previousCommit).Run() != nil {
		return nil
	}
	tree, err := filepath.Abs(filepath.Join(bin, previousTree))
	if err != nil {
		return err
	}
	top := filepath.Join("..", "..")
	clone := exec.Command("git", "clone", "--quiet", "--shared", "--no-checkout", top, tree)
	checkout := exec.Command("git", "-C", tree, "checkout", "--quiet", previousCommit)
	images := exec.Command("make", "-C", tree, "images", "BIN="+tree, "IMAGES=-platforms linux/"+runtime.GOARCH+" vcd")
	for _, command := range []*exec.Cmd{clone, checkout, images} {
		if output, err := command.CombinedOutput(); err != nil {
			return fmt.Errorf("build the previous version: %s: %w: %s", command, err, output)
		}
	}
	return nil
}

// versionOf returns the version of a source tree, which is the tag of its images.
func versionOf(tree string) (string, error) {
	output, err := exec.Command("git", "-C", tree, "describe", "--tags", "--always").Output()
	if err != nil {
		return "", fmt.Errorf("version of %s: %w", tree, err)
	}
	return strings.TrimSpace(string(output)), nil
}

// previousArchive returns the archive of the image of the previous version, and false if it was not built.
func previousArchive(bin string) (string, bool) {
	archive := filepath.Join(bin, previousTree, "images", "vcd.tar")
	_, err := os.Stat(archive)
	return archive, err == nil
}
