package hostlist

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/vc-batch/vc/test/propertytest"
)

func TestExpand(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                          "",
		"a,b":                       "a b",
		"a,b[1-5,7],c[01-03]":       "a b1 b2 b3 b4 b5 b7 c01 c02 c03",
		"n[8-11]":                   "n8 n9 n10 n11",
		"n[08-11]":                  "n08 n09 n10 n11",
		"r[1-2]n[1-2]":              "r1n1 r1n2 r2n1 r2n2",
		"n[1-2]-ib":                 "n1-ib n2-ib",
		" a , b ":                   "a b",
		"run-head-0,run-node-[0-2]": "run-head-0 run-node-0 run-node-1 run-node-2",
		"192.168.1.[5,9]":           "192.168.1.5 192.168.1.9",
	} {
		got, err := ExpandList(text)
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("Expand(%q) = %q, %v, want %q", text, got, err, want)
		}
	}
}

func TestListsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"n[1-3":            "missing closing bracket",
		"n1-3]":            "is not a valid name",
		"n[3-1]":           "is a descending range",
		"n[a-b]":           "is not a number",
		"n[]":              "is not a number",
		"n[1-]":            "is not a number",
		"n[1-99999999]":    "more than 65536",
		"a[1-999]b[1-999]": "more than 65536",
		"a b":              "is not a valid name",
	} {
		if got, err := ExpandList(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Expand(%q) = %q, %v, want an error with %q", text, got, err, want)
		}
	}
}

func TestCompress(t *testing.T) {
	t.Parallel()
	for names, want := range map[string]string{
		"":                                 "",
		"n1":                               "n1",
		"n1 n2 n3 n7 login":                "n[1-3,7],login",
		"n9 n10 n11":                       "n[9-11]",
		"n09 n10":                          "n[09-10]",
		"n9 n010":                          "n[9,010]",
		"n3 n1":                            "n[3,1]",
		"a1 b1 a2":                         "a1,b1,a2",
		"a a":                              "a,a",
		"run-head-0 run-node-0 run-node-1": "run-head-0,run-node-[0-1]",
	} {
		if got := CompressNames(strings.Fields(names)); got != want {
			t.Errorf("Compress(%s) = %s, want %s", names, got, want)
		}
	}
}

func TestExpandReadsWhatCompressWrites(t *testing.T) {
	t.Parallel()
	propertytest.Check(t, 2000, func(t *rapid.T) {
		names := rapid.SliceOf(rapid.StringMatching(`[a-c.-]{0,2}[0-2]{0,3}[a-b]?[089]{0,17}x?`).Filter(func(s string) bool { return s != "" })).Draw(t, "names")
		got, err := ExpandList(CompressNames(names))
		if err != nil {
			t.Fatal(err)
		}
		if len(names) == 0 {
			names = nil
		}
		if diff := cmp.Diff(names, got); diff != "" {
			t.Fatalf("%s: %s", CompressNames(names), diff)
		}
	})
}

func TestSortCountsAsPeopleDo(t *testing.T) {
	t.Parallel()
	names := strings.Fields("n10 n2 a n02 b1 n1")
	SortNames(names)
	if diff := cmp.Diff(strings.Fields("a b1 n1 n2 n02 n10"), names); diff != "" {
		t.Error(diff)
	}
}

// FuzzExpand checks that expanding a compressed list returns the same names.
func FuzzExpand(f *testing.F) {
	for _, text := range []string{"a,b[1-5,7],c[01-10]", "r[1-2]n[1-2]-ib", "n[", "n[1-3]]", "n[99-101],,x"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		names, err := ExpandList(text)
		if err != nil {
			return
		}
		again, err := ExpandList(CompressNames(names))
		if err != nil {
			t.Fatalf("%q: %v", CompressNames(names), err)
		}
		if diff := cmp.Diff(names, again); diff != "" {
			t.Fatal(diff)
		}
	})
}
