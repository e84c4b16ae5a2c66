package main

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

type module struct {
	name  string
	bytes int64
}

// heaviest adds up the code in a listing of `go tool nm -size` by module.
func heaviest(listing string, most int) []module {
	sums := map[string]int64{}
	for line := range strings.Lines(listing) {
		f := strings.Fields(line) // address, size, kind, name
		if len(f) < 4 || !strings.EqualFold(f[2], "T") {
			continue
		}
		size, err := strconv.ParseInt(f[1], 10, 64)
		if err == nil {
			sums[moduleOf(f[3])] += size
		}
	}
	var all []module
	for name, bytes := range sums {
		all = append(all, module{name, bytes})
	}
	slices.SortFunc(all, func(a, b module) int { return cmp.Or(cmp.Compare(b.bytes, a.bytes), cmp.Compare(a.name, b.name)) })
	return all[:min(most, len(all))]
}

// moduleOf names the module of a symbol as far as its path tells; what has no dot in its first element is Go's own.
func moduleOf(symbol string) string {
	symbol = strings.TrimPrefix(symbol, "type:.eq.")
	path, _, _ := strings.Cut(symbol, "[")
	parts := strings.Split(path, "/")
	if len(parts) == 1 || !strings.Contains(parts[0], ".") {
		return "the standard library"
	}
	depth := 3
	if parts[0] == "cel.dev" || parts[0] == "google.golang.org" || parts[0] == "golang.org" {
		depth = 2
	}
	if strings.HasPrefix(path, "github.com/aws/aws-sdk-go-v2/service/") {
		depth = 5
	}
	parts = parts[:min(depth, len(parts))]
	last := len(parts) - 1
	if name, _, cut := strings.Cut(parts[last], ".("); cut {
		parts[last] = name
	} else if i := strings.LastIndexByte(parts[last], '.'); i > 0 && last == depth-1 && depth != 2 {
		parts[last] = parts[last][:i]
	}
	return strings.Join(parts, "/")
}
