package processnode

import (
	"os"
	"strings"
	"syscall"
)

// realFileSystems lists the types of file systems that are visible to pods if the machine has them. All others (proc,
// sysfs, tmpfs, control groups, …) are either mounted separately in a container or not at all.
var realFileSystems = map[string]bool{
	"ext2": true, "ext3": true, "ext4": true, "xfs": true, "btrfs": true, "zfs": true, "f2fs": true, "overlay": true, "nfs": true, "nfs4": true,
	"9p": true, "virtiofs": true, "fuseblk": true, "vfat": true, "exfat": true, "bcachefs": true, "squashfs": true, "cifs": true,
}

// otherFileSystems returns the mount points of real file systems other than the root, except those below the excluded
// directory.
func otherFileSystems(exclude string) []string {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil
	}
	return parseRoots(string(text), exclude)
}

func parseRoots(mountinfo, exclude string) []string {
	var roots []string
	seen := map[string]bool{"/": true}
	for line := range strings.SplitSeq(mountinfo, "\n") {
		point, kind, ok := parseMount(line)
		if !ok || !realFileSystems[kind] {
			continue
		}
		switch {
		case seen[point], point == exclude, strings.HasPrefix(point, exclude+"/"), strings.HasPrefix(point, "/proc/"), strings.HasPrefix(point, "/sys/"):
			continue
		case point == "/etc/hosts" || point == "/etc/hostname" || point == "/etc/resolv.conf":
			continue // pods have their own
		}
		seen[point] = true
		roots = append(roots, point)
	}
	return roots
}

// parseMount returns the mount point and the type of the file system in a line of mountinfo. ok is false if the line is
// incomplete.
func parseMount(line string) (point, kind string, ok bool) {
	before, after, isComplete := strings.Cut(line, " - ")
	fields, types := strings.Fields(before), strings.Fields(after)
	if !isComplete || len(fields) < 5 || len(types) < 1 {
		return "", "", false
	}
	return unescapePath(fields[4]), types[0], true
}

// unescapePath decodes the octal escapes that the kernel uses for blanks in mountinfo.
func unescapePath(path string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(path)
}

// fileSystemOf returns the type of the file system that is mounted exactly at path, or "" if none exists.
func fileSystemOf(path string) string {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return ""
	}
	kind := ""
	for line := range strings.SplitSeq(string(text), "\n") {
		if point, mounted, ok := parseMount(line); ok && point == path {
			kind = mounted // the last mount hides earlier ones
		}
	}
	return kind
}

// diskBytes returns the size of the file system that contains a path.
func diskBytes(path string) int64 {
	var stat syscall.Statfs_t
	if syscall.Statfs(path, &stat) != nil {
		return 0
	}
	return int64(stat.Blocks) * stat.Bsize
}
