package main

import (
	"context"
	"encoding/xml"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/vc-batch/vc/deploy/monitoring"
)

// image is the part of an SVG image that the tests read.
type image struct {
	Groups []struct {
		Transform string   `xml:"transform,attr"`
		Texts     []string `xml:"text"`
		Paths     []struct {
			D      string `xml:"d,attr"`
			Stroke string `xml:"stroke,attr"`
			Fill   string `xml:"fill,attr"`
		} `xml:"path"`
	} `xml:"g"`
}

// load returns the dashboards and the recording of this directory.
func load(t *testing.T) ([]dashboard, recording) {
	t.Helper()
	all, err := loadDashboards()
	if err != nil {
		t.Fatal(err)
	}
	r, err := loadRecording(filepath.Base(recordingFile))
	if err != nil {
		t.Fatal(err)
	}
	return all, r
}

// TestTheImagesAreUpToDate fails if an image in docs does not match the dashboard and the recording. To draw them again,
// run: go run ./deploy/monitoring/picture. After a change of an expression, run: make pictures.
func TestTheImagesAreUpToDate(t *testing.T) {
	const maxSize = 150_000
	all, r := load(t)
	for _, d := range all {
		path := filepath.Join("..", "..", "..", "docs", d.imageFile())
		got, err := os.ReadFile(path) //nolint:gosec // a document
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(d.draw(r), string(got)); diff != "" {
			t.Errorf("%s (-drawn now +in docs), go run ./deploy/monitoring/picture draws it:\n%s", path, diff)
		}
		if len(got) > maxSize {
			t.Errorf("%s has %d bytes, more than %d", path, len(got), maxSize)
		}
	}
}

func TestEveryPanelIsDrawnWithData(t *testing.T) {
	all, r := load(t)
	for _, d := range all {
		var drawn image
		if err := xml.Unmarshal([]byte(d.draw(r)), &drawn); err != nil {
			t.Fatalf("%s: %v", d.Title, err)
		}
		if len(drawn.Groups) != len(d.Panels) {
			t.Errorf("%s: %d groups are drawn for %d panels", d.Title, len(drawn.Groups), len(d.Panels))
			continue
		}
		for i, p := range d.Panels {
			group := drawn.Groups[i]
			if !slices.Contains(group.Texts, p.Title) {
				t.Errorf("%s, %s: the title is not drawn: %q", d.Title, p.Title, group.Texts)
			}
			if p.Type == headingType {
				continue
			}
			for _, target := range p.Targets {
				if _, ok := r.Results[target.Expr]; !ok {
					t.Errorf("%s, %s: %s is not in %s: run make pictures", d.Title, p.Title, target.Expr, recordingFile)
				}
			}
			lines := p.lines(r)
			if len(lines) == 0 {
				t.Errorf("%s, %s: has no data", d.Title, p.Title)
			}
			for _, l := range lines {
				if l.legend == "" || !slices.Contains(group.Texts, l.legend) {
					t.Errorf("%s, %s: legend %q is not drawn", d.Title, p.Title, l.legend)
				}
			}
			count := 0
			for _, path := range group.Paths {
				if path.Fill == "none" && strings.HasPrefix(path.D, "M") && slices.Contains(colors, path.Stroke) {
					count++
				}
			}
			if count != len(lines) {
				t.Errorf("%s, %s: %d lines are drawn, want %d", d.Title, p.Title, count, len(lines))
			}
		}
	}
}

func TestPanelsHaveThePositionsOfTheGrid(t *testing.T) {
	all, r := load(t)
	for _, d := range all {
		text := d.draw(r)
		for i, p := range d.Panels {
			if at := fmt.Sprintf(`translate(%d %d)`, 8+p.GridPos.X*41, 62+p.GridPos.Y*37); !strings.Contains(text, at) {
				t.Errorf("%s, %s: is not at %s", d.Title, p.Title, at)
			}
			for _, other := range d.Panels[:i] {
				if p.GridPos.X == other.GridPos.X && p.GridPos.Y == other.GridPos.Y {
					t.Errorf("%s: %s and %s have the same position", d.Title, p.Title, other.Title)
				}
			}
		}
	}
}

func TestAPanelWithoutDataSaysSo(t *testing.T) {
	all, _ := load(t)
	if text := all[0].draw(recording{StepSeconds: 1}); strings.Count(text, "No data") != len(all[0].charts()) {
		t.Errorf("an empty recording is drawn as\n%s", text)
	}
}

func TestAxes(t *testing.T) {
	for _, c := range []struct {
		unit   monitoring.Unit
		values samples
		want   string
	}{
		{monitoring.Seconds, samples{0, 0.0012}, "0 ms|0.5 ms|1 ms|1.5 ms"},
		{monitoring.Seconds, samples{-150, 30}, "-3 min|-2 min|-1 min|0 min|1 min"},
		{monitoring.Bytes, samples{100 << 20, 130 << 20}, "0 MiB|50 MiB|100 MiB|150 MiB"},
		{monitoring.Fraction, samples{0.3, 1.2}, "0 %|50 %|100 %|150 %"},
		{monitoring.PerSecond, samples{0, 0}, "0 /s|0.2 /s|0.4 /s|0.6 /s|0.8 /s|1 /s"},
		{monitoring.CPUs, samples{80}, "0 cores|20 cores|40 cores|60 cores|80 cores"},
		{monitoring.Count, samples{math.NaN(), 2, 1}, "0|1|2"},
		{monitoring.OnOrOff, samples{1}, "Off|On"},
	} {
		var labels []string
		a := newAxis(c.unit, []line{{values: c.values}})
		for _, tick := range a.ticks {
			labels = append(labels, tick.label)
		}
		if got := strings.Join(labels, "|"); got != c.want {
			t.Errorf("%s %v: ticks %s, want %s", c.unit, c.values, got, c.want)
		}
		for _, v := range c.values {
			if v < a.low || v > a.high {
				t.Errorf("%s: %v is outside of the axis from %v to %v", c.unit, v, a.low, a.high)
			}
		}
	}
}

func TestALineHasGapsAndNoUnnecessaryPoints(t *testing.T) {
	missing := math.NaN()
	var points []point
	for i, y := range []float64{5, 5, 5, 9, missing, 7, missing, 1, 2, 3} {
		points = append(points, point{float64(10 * i), y})
	}
	if got, want := pathOf(points), "M0.0 5.0L20.0 5.0L30.0 9.0M49.0 7.0h2M70.0 1.0L90.0 3.0"; got != want {
		t.Errorf("path %s, want %s", got, want)
	}
}

func TestALineBelowAnotherRemainsVisible(t *testing.T) {
	below := line{values: samples{0, 5, 5, 5}}
	for _, c := range []struct {
		values samples
		want   bool
	}{
		{samples{0, 5, 5, 5}, true},
		{samples{math.NaN(), 5, 5, 7}, true},
		{samples{0, 5, 7, 7}, false},
		{samples{0, 0, 0, 0}, false},
	} {
		if got := isCovered(line{values: c.values}, []line{below}); got != c.want {
			t.Errorf("%v covers %v: %v, want %v", c.values, below.values, got, c.want)
		}
	}
}

// startPrometheus starts a server with fixed answers, and returns its URL. up is the fraction of successful scrapes, and
// answer is called for the other expressions.
func startPrometheus(t *testing.T, up string, answer func(w http.ResponseWriter, query string)) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/values"):
			fmt.Fprint(w, `{"status": "success", "data": ["a", "b", "root"]}`)
		case strings.HasSuffix(r.URL.Path, "/query"):
			fmt.Fprintf(w, `{"status": "success", "data": {"resultType": "vector", "result": [{"metric": {}, "value": [1006, "%s"]}]}}`, up)
		default:
			answer(w, r.FormValue("query"))
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// recordOne records six seconds of a panel with one expression.
func recordOne(url string, of target) (recording, panel, error) {
	p := panel{Title: "p", Targets: []target{of}}
	r, err := recordAll(context.Background(), url, []dashboard{{Title: "d", Panels: []panel{p}}}, time.Unix(1006, 0), 6*time.Second)
	return r, p, err
}

// TestARecordingComesFromPrometheus records an expression, and reads the file again.
func TestARecordingComesFromPrometheus(t *testing.T) {
	var queries []string
	url := startPrometheus(t, "0.97", func(w http.ResponseWriter, query string) {
		queries = append(queries, query)
		fmt.Fprint(w, `{"status": "success", "data": {"resultType": "matrix", "result": [
			{"metric": {"queue_name": "a"}, "values": [[1000, "1"], [1004, "0.123456"]]},
			{"metric": {"queue_name": "b"}, "values": [[1000, "NaN"]]}]}}`)
	})
	r, p, err := recordOne(url, target{Expr: `rate(c{q=~"$queue"}[$__rate_interval])`, LegendFormat: "{{queue_name}} x"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{`rate(c{q=~"a|b"}[20s])`}, queries); diff != "" {
		t.Errorf("queries (-want +got):\n%s", diff)
	}
	path := filepath.Join(t.TempDir(), "recording.json")
	if err := r.save(path); err != nil {
		t.Fatal(err)
	}
	if r, err = loadRecording(path); err != nil {
		t.Fatal(err)
	}
	want := []line{{legend: "a x", values: samples{1, math.NaN(), 0.1235, math.NaN()}}}
	if diff := cmp.Diff(want, p.lines(r), cmp.AllowUnexported(line{}), cmpopts.EquateNaNs()); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

func TestAnErrorOfPrometheusNamesThePanel(t *testing.T) {
	url := startPrometheus(t, "1", func(w http.ResponseWriter, _ string) {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, `{"status": "error", "errorType": "bad_data", "error": "parse error"}`)
	})
	if _, _, err := recordOne(url, target{Expr: "sum("}); err == nil || !strings.Contains(err.Error(), "d, p: sum(: ") {
		t.Errorf("error %v", err)
	}
}

func TestARecordingWithFailedScrapesIsRejected(t *testing.T) {
	url := startPrometheus(t, "0.7", func(w http.ResponseWriter, query string) { t.Errorf("%s is evaluated", query) })
	if _, _, err := recordOne(url, target{Expr: "c"}); err == nil || !strings.Contains(err.Error(), "only 70 % of the scrapes succeeded") {
		t.Errorf("error %v", err)
	}
}
