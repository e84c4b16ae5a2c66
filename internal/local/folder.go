package local

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Folder is the data folder: state.db, archive/, demo/, and api.json while a process runs on it.
type Folder string

// State is the database file.
func (f Folder) State() string { return filepath.Join(string(f), "state.db") }

// Archive is the folder of the archive.
func (f Folder) Archive() string { return filepath.Join(string(f), "archive") }

// Demo is where the demo feed keeps what makes it the same feed after a restart.
func (f Folder) Demo() string { return filepath.Join(string(f), "demo") }

func (f Folder) api() string { return filepath.Join(string(f), "api.json") }

// Make creates the folder, for its owner alone: it holds payloads and tokens.
func (f Folder) Make() error {
	if err := os.MkdirAll(string(f), 0o700); err != nil {
		return fmt.Errorf("make data folder %s: %w", f, err)
	}
	return nil
}

// API says how to reach the running process. It may be stale after a kill: the lock on the state is what counts.
type API struct {
	Address string    `json:"address"` // host:port, on loopback
	Token   string    `json:"token"`   // of this start
	PID     int       `json:"pid"`
	Started time.Time `json:"started_at"`
}

// WriteAPI puts api.json whole or not at all, readable by its owner alone.
func (f Folder) WriteAPI(a API) error {
	b, err := json.Marshal(a)
	if err != nil {
		return fmt.Errorf("encode api.json: %w", err)
	}
	next := f.api() + ".new"
	_ = os.Remove(next) // left by a death between the two steps; an old file would keep its mode
	if err := os.WriteFile(next, append(b, '\n'), 0o600); err != nil {
		return fmt.Errorf("write api.json: %w", err)
	}
	if err := os.Rename(next, f.api()); err != nil {
		return fmt.Errorf("write api.json: %w", err)
	}
	return nil
}

// ReadAPI gives fs.ErrNotExist when nobody says to be running.
func (f Folder) ReadAPI() (API, error) {
	b, err := os.ReadFile(f.api())
	if err != nil {
		return API{}, fmt.Errorf("read api.json: %w", err)
	}
	var a API
	if err := json.Unmarshal(b, &a); err != nil {
		return API{}, fmt.Errorf("read %s: %w", f.api(), err)
	}
	return a, nil
}

// RemoveAPI takes api.json away at a clean exit, if it still is this process's.
func (f Folder) RemoveAPI(token string) error {
	a, err := f.ReadAPI()
	if err != nil || a.Token != token {
		return nil // gone, or not ours to remove
	}
	if err := os.Remove(f.api()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove api.json: %w", err)
	}
	return nil
}
