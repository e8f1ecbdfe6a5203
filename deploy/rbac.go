package deploy

import "k8s.io/apimachinery/pkg/runtime"

// RBAC gives the rights.
func RBAC() []runtime.Object { return nil }
