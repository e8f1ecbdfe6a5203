package jobstatus

import "github.com/google/uuid"

// uidLength is the length of the UID of a Kubernetes object, such as b87c9f5c-0d2e-4f9e-9d0a-3f6f1a2b4c5d.
const uidLength = len("b87c9f5c-0d2e-4f9e-9d0a-3f6f1a2b4c5d")

// JobOfPodGroup returns the name of the job that a PodGroup belongs to. The name of such a PodGroup consists of the
// job's name and UID. ok is false for other names.
func JobOfPodGroup(group string) (job string, ok bool) {
	at := len(group) - uidLength
	if at < 2 || group[at-1] != '-' || uuid.Validate(group[at:]) != nil {
		return "", false
	}
	return group[:at-1], true
}
