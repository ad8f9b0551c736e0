// Drives a Misskey instance with the project's own client. Standard input holds lines {"call": ENDPOINT, "params": {…}};
// each answer, and each event of the channel main, is a line on standard output. ORIGIN and TOKEN say where and as whom.
import { createInterface } from 'node:readline';
import * as Misskey from 'misskey-js';
import { WebSocket } from 'ws';

const { ORIGIN: origin, TOKEN: token } = process.env;
const tell = (line) => console.log(JSON.stringify(line));

const stream = new Misskey.Stream(origin, { token }, { WebSocket });
const main = stream.useChannel('main');
for (const event of ['mention', 'newChatMessage']) main.on(event, (body) => tell({ event, id: body.id, text: body.text, from: body.user?.username ?? body.fromUser?.username }));
stream.on('_connected_', () => setTimeout(() => tell({ event: 'connected' }), 100)); // the client subscribes right after it

const client = new Misskey.api.APIClient({ origin, credential: token });
for await (const line of createInterface({ input: process.stdin })) {
	const { call, params } = JSON.parse(line);
	try {
		tell({ call, answer: await client.request(call, params) });
	} catch (err) {
		tell({ call, code: err.code ?? String(err), known: Misskey.api.isAPIError(err) });
	}
}
stream.close();
process.exit(0); // the client would try to connect again
