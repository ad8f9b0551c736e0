// Package shape holds no code of the product: its tests hold the architecture. They say which package may import
// which, which files may start goroutines, how large things may grow, and that the documents name what exists.
// A change of the architecture shows up in review as a change of a table here.
package shape
