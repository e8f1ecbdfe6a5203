package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/api"
	prometheusv1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"
)

// step is the time between two values of a series.
const step = 2 * time.Second

// rateInterval is the range of rates. Grafana computes it from the interval at which metrics are read and from the
// width of the chart. A recording of some minutes is readable with 20 s.
const rateInterval = "20s"

// recording holds the results of expressions over a period.
type recording struct {
	// StepSeconds is the time between two values. All series begin at the same time.
	StepSeconds int `json:"stepSeconds"`
	// Results holds the series of each expression. The expressions are written as in the dashboards, with variables.
	Results map[string][]series `json:"results"`
}

// series is a time series in the result of an expression.
type series struct {
	Labels map[string]string `json:"labels,omitempty"`
	Values samples           `json:"values"`
}

// samples are the values of a series. Missing values are NaN. The text form has one word for each value, so that a
// series is one line of a file.
type samples []float64

// missing is the text form of a missing value.
const missing = "-"

// MarshalText implements encoding.TextMarshaler. It keeps four significant digits, which a chart cannot show.
func (s samples) MarshalText() ([]byte, error) {
	words := make([]string, len(s))
	for i, v := range s {
		words[i] = missing
		if isNumber(v) {
			words[i] = strconv.FormatFloat(v, 'g', 4, 64)
		}
	}
	return []byte(strings.Join(words, " ")), nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *samples) UnmarshalText(text []byte) error {
	*s = nil
	for word := range strings.FieldsSeq(string(text)) {
		v := math.NaN()
		if word != missing {
			var err error
			if v, err = strconv.ParseFloat(word, 64); err != nil {
				return err
			}
		}
		*s = append(*s, v)
	}
	return nil
}

// hasNumber reports whether at least one value is not missing.
func (s samples) hasNumber() bool {
	for _, v := range s {
		if isNumber(v) {
			return true
		}
	}
	return false
}

// isNumber reports whether v can be drawn.
func isNumber(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

func loadRecording(path string) (recording, error) {
	var r recording
	text, err := os.ReadFile(path) //nolint:gosec // the caller's
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return r, fmt.Errorf("%s: %w", path, err)
	}
	if r.StepSeconds <= 0 {
		return r, fmt.Errorf("%s: stepSeconds %d is not positive", path, r.StepSeconds)
	}
	return r, nil
}

func (r recording) save(path string) error {
	text, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644) //nolint:gosec // not secret
}

// recorder evaluates expressions on a server.
type recorder struct {
	server    prometheusv1.API
	variables *strings.Replacer // replaces the variables of Grafana in expressions
	during    prometheusv1.Range
}

// recordAll evaluates the expressions of all panels over the time before end.
func recordAll(ctx context.Context, server string, all []dashboard, end time.Time, last time.Duration) (recording, error) {
	client, err := api.NewClient(api.Config{Address: server})
	if err != nil {
		return recording{}, err
	}
	rec := recorder{server: prometheusv1.NewAPI(client), during: prometheusv1.Range{Start: end.Add(-last), End: end, Step: step}}
	if err := rec.checkScrapes(ctx); err != nil {
		return recording{}, err
	}
	queues, err := rec.queues(ctx)
	if err != nil {
		return recording{}, err
	}
	rec.variables = strings.NewReplacer("$__rate_interval", rateInterval, "$queue", strings.Join(queues, "|"))
	r := recording{StepSeconds: int(step.Seconds()), Results: map[string][]series{}}
	for _, d := range all {
		for _, p := range d.charts() {
			for _, t := range p.Targets {
				if r.Results[t.Expr], err = rec.evaluate(ctx, t.Expr); err != nil {
					return r, fmt.Errorf("%s, %s: %s: %w", d.Title, p.Title, t.Expr, err)
				}
			}
		}
	}
	return r, nil
}

// minScrapes is the fraction of scrapes that must succeed. With less, the pictures would have gaps.
const minScrapes = 0.95

// checkScrapes returns an error if too many scrapes failed, because the machine was overloaded.
func (r *recorder) checkScrapes(ctx context.Context) error {
	expr := fmt.Sprintf("min(avg_over_time(up[%s]))", model.Duration(r.during.End.Sub(r.during.Start)))
	result, _, err := r.server.Query(ctx, expr, r.during.End)
	if err != nil {
		return err
	}
	vector, ok := result.(model.Vector)
	if !ok || len(vector) != 1 {
		return fmt.Errorf("%s: result %s is not a number", expr, result)
	}
	if up := float64(vector[0].Value); up < minScrapes {
		return fmt.Errorf("only %.0f %% of the scrapes succeeded, want %.0f %%: run it again when the machine is idle", 100*up, 100*minScrapes)
	}
	return nil
}

// queues returns the queues that the dashboards offer, which is all but the root.
func (r *recorder) queues(ctx context.Context) ([]string, error) {
	values, _, err := r.server.LabelValues(ctx, "queue_name", []string{"volcano_queue_weight"}, r.during.Start, r.during.End)
	if err != nil {
		return nil, err
	}
	var queues []string
	for _, v := range values {
		if v != "root" {
			queues = append(queues, string(v))
		}
	}
	return queues, nil
}

// evaluate returns the result of an expression with variables.
func (r *recorder) evaluate(ctx context.Context, expr string) ([]series, error) {
	result, warnings, err := r.server.QueryRange(ctx, r.variables.Replace(expr), r.during)
	if err != nil {
		return nil, err
	}
	if len(warnings) > 0 {
		return nil, errors.New(strings.Join(warnings, "; "))
	}
	matrix, ok := result.(model.Matrix)
	if !ok {
		return nil, fmt.Errorf("result is a %s, not a matrix", result.Type())
	}
	all := []series{}
	for _, stream := range matrix {
		s := series{Labels: map[string]string{}, Values: valuesOf(stream, r.during)}
		for name, value := range stream.Metric {
			s.Labels[string(name)] = string(value)
		}
		if s.Values.hasNumber() {
			all = append(all, s)
		}
	}
	return all, nil
}

// valuesOf returns the values of a stream at each step of the range.
func valuesOf(stream *model.SampleStream, during prometheusv1.Range) samples {
	values := make(samples, during.End.Sub(during.Start)/during.Step+1)
	for i := range values {
		values[i] = math.NaN()
	}
	for _, pair := range stream.Values {
		at := pair.Timestamp.Time().Sub(during.Start).Round(during.Step) / during.Step
		values[at] = float64(pair.Value)
	}
	return values
}
