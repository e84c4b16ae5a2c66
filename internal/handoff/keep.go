package handoff

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// keptKeys bounds how many objects of one folder are kept alive: a page has one raw answer of two objects, and a few that lost a race.
const keptKeys = 1000

// Keep is the part of a poll that needs no definition: the archive objects that a stream still waits for start their life anew. A poll
// does it by itself; a stream whose definition is gone has nobody else to do it.
func (e *Engine) Keep(ctx context.Context, s Stream) error {
	cp, err := e.State.Checkpoint(ctx, s)
	if err != nil {
		return fmt.Errorf("keep %s: %w", s, err)
	}
	_, err = e.keep(ctx, cp)
	return err
}

// keep copies what the stream still waits for onto itself before half of its life is over, so that a hold, a halt or a pause outlives
// the rule that empties the archive. Every object in use is younger than KeptAt plus the time since: one that was written later
// is younger still. Dying half way costs the same copies at the next poll.
func (e *Engine) keep(ctx context.Context, cp Checkpoint) (Checkpoint, error) {
	since := cp.KeptAt
	if since.IsZero() {
		since = cp.StartedAt
	}
	now := e.now()
	if e.Timing.ArchiveLife <= 0 || now.Sub(since) < e.Timing.ArchiveLife/3 { // a third: what fails now has time to be tried again
		return cp, nil
	}
	keys, err := e.inUse(ctx, cp)
	if err != nil || len(keys) == 0 {
		return cp, err
	}
	for _, key := range keys {
		if err := e.Archive.Refresh(ctx, key); err != nil && !errors.Is(err, ErrNotFound) { // what is gone is rebuilt, or lost
			return cp, fmt.Errorf("keep %s alive: %w", key, err)
		}
	}
	after, _, err := e.change(ctx, cp, Tx{}, func(cp Checkpoint) (Checkpoint, bool) {
		older := cp.KeptAt.Before(now)
		cp.KeptAt = now
		return cp, older
	})
	if err != nil {
		return cp, fmt.Errorf("keep the archive of %s: %w", cp.Stream, err)
	}
	e.observe(ctx, Observation{Step: "keep", Stream: cp.Stream, Version: cp.Version, Count: len(keys)})
	return after, nil
}

// inUse names the objects that somebody may still need: those of an open or closing page, the answers that a halt or an accept names,
// the spool's, and whatever was fetched under the present version.
func (e *Engine) inUse(ctx context.Context, cp Checkpoint) ([]string, error) {
	var keys, folders []string
	for _, v := range []Version{cp.Version, cp.Closing} {
		if v == 0 {
			continue
		}
		folders = append(folders, fmt.Sprintf("raw/%s/%012d/", url.PathEscape(string(cp.Stream)), v))
		dir, err := e.State.Directory(ctx, cp.Stream, v)
		if errors.Is(err, ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("keep version %d: %w", v, err)
		}
		folders = append(folders, folderOf(dir.Raw))
		if dir.Object.Key != "" {
			keys = append(keys, dir.Object.Key)
		}
	}
	if cp.Halt != nil {
		folders = append(folders, folderOf(cp.Halt.Answer))
	}
	for _, a := range cp.Accepts {
		folders = append(folders, folderOf(a.Answer))
	}
	for v := cp.Version; ; v++ {
		entries, err := e.State.Spool(ctx, cp.Stream, v)
		if err != nil {
			return nil, fmt.Errorf("keep the spool: %w", err)
		}
		for _, entry := range entries {
			folders = append(folders, folderOf(entry.Raw))
		}
		if v > cp.Version && len(entries) == 0 {
			break
		}
	}
	seen := map[string]bool{"": true}
	for _, folder := range folders {
		if seen[folder] {
			continue
		}
		seen[folder] = true
		found, err := e.Archive.List(ctx, folder, keptKeys)
		if err != nil {
			return nil, fmt.Errorf("keep %s: %w", folder, err)
		}
		for _, key := range found {
			if !seen[key] {
				seen[key] = true
				keys = append(keys, key)
			}
		}
	}
	return keys, nil
}

// folderOf is where an answer's two objects lie; none for no answer.
func folderOf(ref ObjectRef) string { return ref.Key[:strings.LastIndexByte(ref.Key, '/')+1] }
