package daemon

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

const shutdownTime = 3 * time.Second

// listenAndServe listens on address and returns a function that serves until ctx is done. Because it listens
// immediately, it returns an error at once if the port is in use.
func listenAndServe(address, what, flag string, handler http.Handler) (func(context.Context) error, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, withHint(fmt.Errorf("%s on %s: %w", what, address, err), "choose another address with "+flag+", or use \"\" to disable it")
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	return func(ctx context.Context) error {
		stopped := make(chan struct{})
		go func() {
			defer close(stopped)
			<-ctx.Done()
			shut, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTime)
			defer cancel()
			_ = server.Shutdown(shut) // requests that hang end with the process
		}()
		err := server.Serve(listener)
		if errors.Is(err, http.ErrServerClosed) {
			<-stopped
			return nil
		}
		return fmt.Errorf("%s on %s: %w", what, address, err)
	}, nil
}

// metricsHandler serves the registry that all components share.
func metricsHandler(profiles bool) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/metrics", promhttp.HandlerFor(metrics.Registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError}))
	if profiles {
		mux.HandleFunc("/debug/pprof/", pprof.Index)
		mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
		mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
		mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
		mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	}
	return mux
}
