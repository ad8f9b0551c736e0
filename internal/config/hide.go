package config

import (
	"reflect"
	"regexp"
	"strings"

	"familiar/internal/logging"
)

// hidden stands for a text that is not shown.
const hidden = "…"

// telling are the words by which an argument says that it holds a secret, or that the next one does.
var telling = regexp.MustCompile(`(?i)token|key|secret|passw|auth|credential`)

// address is one in a text; login is what lies in it before the host.
var (
	address = regexp.MustCompile(`://[^\s"']+`)
	login   = regexp.MustCompile(`^://[^/?#]*@`)
)

// hide returns the value of a key without what people write into it although it is secret: arguments, and the logins
// and queries of addresses.
func hide(key string, v reflect.Value) reflect.Value {
	args, ok := v.Interface().([]string)
	switch {
	case ok && key == "args":
		return reflect.ValueOf(hideArgs(args))
	case v.Type() == reflect.TypeFor[string]():
		return reflect.ValueOf(hideAddress(v.String()))
	}
	return v
}

// hideArgs masks the value in --token=value and «X-Key: value», what follows --token, and what has the form of a key.
func hideArgs(args []string) []string {
	shown := make([]string, len(args))
	follows := false // the argument before says that this one is a secret
	for i, arg := range args {
		arg = logging.Mask(hideAddress(arg), nil)
		word := telling.FindStringIndex(arg)
		flag := false
		switch {
		case word == nil:
		case strings.ContainsAny(arg[word[1]:], "=:"):
			arg = arg[:word[1]+strings.IndexAny(arg[word[1]:], "=:")+1] + hidden
		case strings.HasPrefix(arg, "-"):
			flag = true
		default:
			arg = hidden
		}
		if follows {
			arg = hidden
		}
		shown[i], follows = arg, flag
	}
	return shown
}

// hideAddress masks the logins, and the values in the queries, of the addresses in a text.
func hideAddress(text string) string {
	return address.ReplaceAllStringFunc(text, func(found string) string {
		found = login.ReplaceAllString(found, "://"+hidden+"@")
		place, query, ok := strings.Cut(found, "?")
		if !ok {
			return found
		}
		query, _, _ = strings.Cut(query, "#") // a fragment may hold one too
		pairs := strings.Split(query, "&")
		for i, pair := range pairs {
			if name, _, ok := strings.Cut(pair, "="); ok {
				pairs[i] = name + "=" + hidden
			} else {
				pairs[i] = hidden
			}
		}
		return place + "?" + strings.Join(pairs, "&")
	})
}
