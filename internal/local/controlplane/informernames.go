package controlplane

import (
	"sync"
	_ "unsafe" // for go:linkname

	"k8s.io/client-go/tools/cache"
)

// informerNames is client-go's register of the names of informers. Each component of Kubernetes registers its name when
// it starts, and does not release it when it ends.
//
//go:linkname informerNames k8s.io/client-go/tools/cache.informerNameRegistry
var informerNames struct {
	sync.Mutex
	names map[string]*cache.InformerName
}

// releaseInformerName permits a component to register its name again, because an earlier control plane in this process
// may have registered it.
func releaseInformerName(name string) {
	informerNames.Lock()
	registered := informerNames.names[name]
	informerNames.Unlock()
	if registered != nil {
		registered.Release()
	}
}
