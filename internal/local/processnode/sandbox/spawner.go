package sandbox

import (
	"fmt"
	"os"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"
)

// spawner is the thread that is the parent of every init. The kernel sends the parent-death signal when the thread that
// forked the child ends, not when its process ends, so this thread must never end.
type spawner struct {
	work chan func()
	home int // network namespace of the machine
}

var theSpawner = sync.OnceValues(func() (*spawner, error) {
	s := &spawner{work: make(chan func())}
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked
		home, err := unix.Open("/proc/thread-self/ns/net", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		s.home = home
		started <- err
		for f := range s.work {
			f()
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("open the machine's network namespace: %w", err)
	}
	return s, nil
})

// runOnThread runs f on the thread and waits until it returns.
func (s *spawner) runOnThread(f func()) {
	done := make(chan struct{})
	s.work <- func() {
		defer close(done)
		f()
	}
	<-done
}

// Namespaces holds the namespaces that the containers of a pod share. They exist as long as a process is in them or
// the files are open.
type Namespaces struct {
	Net *os.File // nil means the machine's network
	IPC *os.File // nil means that each container has its own, or the machine's
}

// NewNamespaces creates the IPC namespace of a pod and, if ownNet is true, its network namespace.
func NewNamespaces(ownNet bool) (Namespaces, error) {
	s, err := theSpawner()
	if err != nil {
		return Namespaces{}, err
	}
	var made Namespaces
	var failure error
	s.runOnThread(func() {
		home, err := unix.Open("/proc/thread-self/ns/ipc", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			failure = err
			return
		}
		defer func() {
			_ = unix.Setns(home, unix.CLONE_NEWIPC)
			_ = unix.Setns(s.home, unix.CLONE_NEWNET)
			_ = unix.Close(home)
		}()
		flags := unix.CLONE_NEWIPC
		if ownNet {
			flags |= unix.CLONE_NEWNET
		}
		if failure = unix.Unshare(flags); failure != nil {
			failure = fmt.Errorf("create the pod's Linux namespaces: %w", failure)
			return
		}
		if made.IPC, failure = os.Open("/proc/thread-self/ns/ipc"); failure != nil || !ownNet {
			return
		}
		made.Net, failure = os.Open("/proc/thread-self/ns/net")
	})
	if failure != nil {
		made.Close()
		return Namespaces{}, failure
	}
	return made, nil
}

// Close releases the namespaces. They cease to exist when the last process in them has ended.
func (n Namespaces) Close() {
	for _, file := range []*os.File{n.Net, n.IPC} {
		if file != nil {
			_ = file.Close()
		}
	}
}

// Enter runs f on a separate thread in the network namespace, so that sockets that are opened there belong to the
// pod. If the pod has no network namespace, f runs in the machine's namespace.
func (n Namespaces) Enter(f func() error) error {
	if n.Net == nil {
		return f()
	}
	result := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread, which is in the namespace, ends with the goroutine
		if err := unix.Setns(int(n.Net.Fd()), unix.CLONE_NEWNET); err != nil {
			result <- fmt.Errorf("create the pod's network namespace: %w", err)
			return
		}
		result <- f()
	}()
	return <-result
}

// joinNamespaces moves the spawner's thread into the namespaces for one fork. It returns a function that moves the
// thread back.
func (s *spawner) joinNamespaces(n Namespaces) (func(), error) {
	var undo []func()
	back := func() {
		for _, f := range undo {
			f()
		}
	}
	if n.IPC != nil {
		home, err := unix.Open("/proc/thread-self/ns/ipc", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return back, err
		}
		undo = append(undo, func() { _ = unix.Setns(home, unix.CLONE_NEWIPC); _ = unix.Close(home) })
		if err := unix.Setns(int(n.IPC.Fd()), unix.CLONE_NEWIPC); err != nil {
			return back, err
		}
	}
	if n.Net != nil {
		undo = append(undo, func() { _ = unix.Setns(s.home, unix.CLONE_NEWNET) })
		if err := unix.Setns(int(n.Net.Fd()), unix.CLONE_NEWNET); err != nil {
			return back, err
		}
	}
	return back, nil
}
