package console

import "encoding/json"

// languages are the languages that the page speaks; the first is for everybody else.
var languages = []string{"en", "zh-TW", "zh-CN"}

// language returns the language that the page uses for a bot's language.
func language(bot string) string {
	for _, l := range languages {
		if l == bot {
			return l
		}
	}
	return languages[0]
}

// labelFile returns the words of the page as JSON.
func labelFile(bot string) []byte {
	data, err := files.ReadFile("labels/" + language(bot) + ".json")
	if err != nil {
		return []byte("{}") // a test sees that every language has its file
	}
	return data
}

// words returns the words of the page.
func words(bot string) map[string]string {
	var all map[string]string
	if err := json.Unmarshal(labelFile(bot), &all); err != nil {
		return nil // a test reads every file
	}
	return all
}
