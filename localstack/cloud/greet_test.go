package main

import "testing"

// An API has a host name of its own, which not every machine knows; by path everybody finds it.
func TestByPath(t *testing.T) {
	t.Parallel()
	got := byPath("http://127.0.0.1:4571", "http://f35138a2.execute-api.localhost:4571")
	if want := "http://127.0.0.1:4571/_aws/execute-api/f35138a2/$default"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
