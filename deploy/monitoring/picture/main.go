// Command picture draws the Grafana dashboards of package monitoring as SVG images for the documentation:
//
//	go run ./deploy/monitoring/picture
//	go run ./deploy/monitoring/picture -prometheus http://127.0.0.1:9090 -last 4m
//
// With -prometheus, it evaluates the expressions of all panels on that server and stores the results in
// recording.json. In both cases, it draws all dashboards from recording.json. hack/pictures.sh (make pictures) starts a
// cluster with vcd and Prometheus, runs jobs on it, and calls this command.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// recordingFile is the path of the recorded results, relative to the root of the repository.
const recordingFile = "deploy/monitoring/picture/recording.json"

func main() {
	server := flag.String("prometheus", "", "URL of a Prometheus server on which the expressions are evaluated; empty: only draw")
	last := flag.Duration("last", 4*time.Minute, "time up to now that is recorded")
	out := flag.String("out", "docs", "directory of the images")
	flag.Parse()
	if err := run(*server, *last, *out); err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

// run records the results if a server is specified, and draws the dashboards.
func run(server string, last time.Duration, out string) error {
	all, err := loadDashboards()
	if err != nil {
		return err
	}
	if server != "" {
		r, err := recordAll(context.Background(), server, all, time.Now(), last)
		if err != nil {
			return err
		}
		if err := r.save(recordingFile); err != nil {
			return err
		}
	}
	r, err := loadRecording(recordingFile)
	if err != nil {
		return err
	}
	for _, d := range all {
		for _, p := range d.charts() {
			if len(p.lines(r)) == 0 {
				fmt.Fprintf(os.Stderr, "warning: %s, %s: no data\n", d.Title, p.Title)
			}
		}
		if err := os.WriteFile(filepath.Join(out, d.imageFile()), []byte(d.draw(r)), 0o644); err != nil { //nolint:gosec // a document
			return err
		}
	}
	return nil
}
