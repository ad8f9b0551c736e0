// Makes internal/platform/misskey/misskeytest/shapes.json: what the Misskey project publishes about the requests and
// answers of its API, as one JSON Schema. The types come with npm misskey-js; ts-json-schema-generator reads them.
//
//	npm ci --ignore-scripts && node shapes.mjs > ../../internal/platform/misskey/misskeytest/shapes.json
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const published = readFileSync('node_modules/misskey-js/built/autogen/types.d.ts', 'utf8');

// What we call, and what answers.
const note = 'Note', notes = 'Note[]', nothing = null;
const endpoints = {
	'i': 'MeDetailed',
	'meta': 'MetaLite',
	'emojis': '{emojis: EmojiSimple[]}',
	'notes/create': '{createdNote: Note}',
	'notes/show': note,
	'notes/delete': nothing,
	'notes/reactions/create': nothing,
	'notes/children': notes,
	'notes/replies': notes,
	'notes/conversation': notes,
	'notes/mentions': notes,
	'notes/search': notes,
	'users/notes': notes,
	'chat/history': 'ChatMessage[]',
	'chat/messages/create-to-user': 'ChatMessageLiteFor1on1',
	'chat/messages/delete': nothing,
	'chat/messages/react': nothing,
	'chat/messages/show': 'ChatMessage',
	'chat/messages/user-timeline': 'ChatMessageLiteFor1on1[]',
	'drive/files/create': 'DriveFile',
	'drive/files/delete': nothing,
};

// The generator loses its way in types that name each other through components['schemas'], so each becomes a type of
// its own first.
const within = (text, open, indent) => {
	const from = text.indexOf(open);
	if (from < 0) throw new Error(`there is no «${open.trim()}»`);
	const end = text.indexOf(`\n${indent}}`, from);
	return text.slice(from + open.length, end);
};
const flat = (text) => text.replace(/components\['schemas'\]\['(\w+)'\]/g, (_, name) => named(name));
const named = (name) => (name === 'Error' ? 'ApiError' : name);
const lines = ['// made by shapes.mjs'];
for (const line of flat(within(published, '\n    schemas: {', '    ')).split('\n')) {
	const start = line.match(/^ {8}(\w+): (.*)$/);
	lines.push(start ? `export type ${named(start[1])} = ${start[2]}` : line);
}
for (const [path, answer] of Object.entries(endpoints)) {
	const key = path.replaceAll('/', '___');
	const quoted = /^\w+$/.test(key) ? key : `'${key}'`;
	const operation = within(published, `\n    ${quoted}: {`, '    ');
	const as = path.replace(/\W/g, '_');
	if (operation.includes('requestBody: {')) {
		const media = operation.includes("'multipart/form-data': {") ? 'multipart/form-data' : 'application/json';
		lines.push(`export type request_${as} = {${flat(within(operation, `'${media}': {`, '                '))}};`);
	}
	if (answer) lines.push(`export type answer_${as} = ${answer};`);
}
lines.push('export type answer_error = ApiError;', 'export type event_mention = Note;', 'export type event_newChatMessage = ChatMessage;');

const dir = mkdtempSync('shapes-');
try {
	writeFileSync(join(dir, 'types.ts'), lines.join('\n'));
	const wanted = lines.flatMap((l) => l.match(/^export type ((?:request|answer|event)_\w+)/)?.[1] ?? []);
	const all = JSON.parse(execFileSync('node_modules/.bin/ts-json-schema-generator',
		['--path', join(dir, 'types.ts'), '--type', '*', '--no-type-check'], { encoding: 'utf8', maxBuffer: 64 << 20 }));
	const kept = {};
	const keep = (name) => {
		if (kept[name]) return;
		kept[name] = all.definitions[name];
		for (const [, ref] of JSON.stringify(kept[name]).matchAll(/"#\/definitions\/([^"]+)"/g)) keep(decodeURIComponent(ref));
	};
	wanted.forEach(keep);
	const sorted = Object.fromEntries(Object.keys(kept).sort().map((name) => [name, kept[name]]));
	console.log(JSON.stringify({ $schema: all.$schema, $comment: 'made by tools/misskey/shapes.mjs from misskey-js', definitions: sorted }, null, 1));
} finally {
	rmSync(dir, { recursive: true });
}
