package config

import "strings"

// nearest returns the candidate that a mistyped word most likely means, or "".
func nearest(word string, candidates []string) string {
	best, least := "", max(1, len(word)/3)+1
	for _, c := range candidates {
		if d := distance(strings.ToLower(word), strings.ToLower(c)); d < least {
			best, least = c, d
		}
	}
	return best
}

// distance counts the letters to add, drop, change or swap with their neighbour to make b of a.
func distance(a, b string) int {
	if len(a) > 64 || len(b) > 64 { // no key of ours is that long
		return max(len(a), len(b))
	}
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			least := min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				least = min(least, rows[i-2][j-2]+1)
			}
			rows[i][j] = least
		}
	}
	return rows[len(a)][len(b)]
}
