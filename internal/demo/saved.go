package demo

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

//go:embed demo.yaml
var definition string

// Name is the stream's name.
const Name = "demo"

// Saved is all that a demo keeps between runs, as demo.json in its folder: what makes the feed the same feed.
type Saved struct {
	Seed      uint64    `json:"seed"`
	StartedAt time.Time `json:"started_at"`
	// Address is where the server listened last. Taking it again keeps the definition's URL, and so its fetch hash.
	Address string `json:"address"`
}

// Load reads dir/demo.json; a folder without one begins a new demo at now.
func Load(dir string, seed uint64, now time.Time) (Saved, error) {
	b, err := os.ReadFile(filepath.Join(dir, "demo.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return Saved{Seed: seed, StartedAt: now.UTC().Truncate(time.Second), Address: "127.0.0.1:0"}, nil
	}
	if err != nil {
		return Saved{}, fmt.Errorf("read demo: %w", err)
	}
	var s Saved
	if err := json.Unmarshal(b, &s); err != nil {
		return Saved{}, fmt.Errorf("read demo %s: %w", filepath.Join(dir, "demo.json"), err)
	}
	return s, nil
}

// Feed is the data set of this demo: 300 events to begin with, and two or three more a second.
func (s Saved) Feed() Feed {
	return Feed{Seed: s.Seed, Start: s.StartedAt, Backlog: 300, Every: 400 * time.Millisecond}
}

// Write puts demo.json, the stream's definition demo.yaml and the server's token into dir, in this order: a definition never
// stands without the feed that it reads. It returns the definition's path. Dying between two of them is mended by the next
// start, which writes all three again.
func (s Saved) Write(dir, token string) (string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make demo folder: %w", err)
	}
	saved, err := json.Marshal(s)
	if err != nil {
		return "", fmt.Errorf("encode demo: %w", err)
	}
	tokenFile, err := filepath.Abs(filepath.Join(dir, "token"))
	if err != nil {
		return "", fmt.Errorf("find demo folder: %w", err)
	}
	quoted, err := json.Marshal(tokenFile) // a JSON string is a YAML string
	if err != nil {
		return "", fmt.Errorf("encode path: %w", err)
	}
	text := strings.NewReplacer("ADDRESS", s.Address, "TOKEN_FILE", string(quoted)).Replace(definition)
	path := filepath.Join(dir, Name+".yaml")
	for _, f := range []struct{ path, text string }{
		{filepath.Join(dir, "demo.json"), string(saved) + "\n"}, {tokenFile, token}, {path, text},
	} {
		if err := replaceFile(f.path, f.text); err != nil {
			return "", err
		}
	}
	return path, nil
}

// replaceFile writes whole or not at all.
func replaceFile(path, text string) error {
	if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
