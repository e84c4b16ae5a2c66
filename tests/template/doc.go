// Package template tests what the template promises: that the platform's rules hold in it, that it says the same as the code, and that
// each function may do exactly what its code does. `make lint-template` runs it; two tests need what that target builds: the template
// as SAM translates it, and what the code can reach.
package template
