// Drives an agent with the official client, and prints what came of it as JSON.
// Arguments: a JSON object with command, args and env of the agent, cwd, and server, its MCP server.
import { spawn } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { Readable, Writable } from "node:stream";
import { ClientSideConnection, PROTOCOL_VERSION, ndJsonStream } from "@agentclientprotocol/sdk";

const plan = JSON.parse(process.argv[2]);

class Client {
  constructor() {
    this.updates = [];
    this.asked = [];
    this.pick = "allow_once";
    this.words = () => {};
  }
  async requestPermission(p) {
    this.asked.push({ kinds: p.options.map((o) => o.kind), diff: (p.toolCall.content ?? []).some((c) => c.type === "diff") });
    const option = p.options.find((o) => o.kind === this.pick);
    return { outcome: { outcome: "selected", optionId: option.optionId } };
  }
  async sessionUpdate(p) {
    this.updates.push(p.update);
    if (p.update.sessionUpdate === "agent_message_chunk") this.words();
  }
  async readTextFile(p) {
    return { content: await readFile(p.path, "utf8") };
  }
  async writeTextFile(p) {
    await writeFile(p.path, p.content);
    return {};
  }
  // seen forgets what was seen, and returns it in short.
  seen() {
    const text = (kind) => this.updates.filter((u) => u.sessionUpdate === kind).map((u) => u.content.text).join("");
    const states = {};
    for (const u of this.updates) if (u.toolCallId) states[u.toolCallId] = u.status ?? states[u.toolCallId];
    const short = { kinds: [...new Set(this.updates.map((u) => u.sessionUpdate))].sort(), said: text("agent_message_chunk"),
      asked: text("user_message_chunk"), calls: Object.values(states) };
    this.updates = [];
    return short;
  }
}

async function start() {
  const child = spawn(plan.command, plan.args, { env: plan.env, stdio: ["pipe", "pipe", "inherit"] });
  const client = new Client();
  const agent = new ClientSideConnection(() => client, ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout)));
  const able = await agent.initialize({ protocolVersion: PROTOCOL_VERSION,
    clientCapabilities: { fs: { readTextFile: true, writeTextFile: true } } });
  const end = async () => {
    const ended = new Promise((done) => child.on("exit", done));
    child.stdin.end();
    return await ended;
  };
  return { client, agent, able, end };
}

const result = {};
let { client, agent, able, end } = await start();
result.initialize = able;
const session = await agent.newSession({ cwd: plan.cwd, mcpServers: [plan.server] });
result.modes = session.modes.availableModes.map((m) => m.id);
const sessionId = session.sessionId;
const say = async (text) => {
  const answer = await agent.prompt({ sessionId, prompt: [{ type: "text", text }] });
  return { stop: answer.stopReason, ...client.seen() };
};
client.seen();
result.call = await say("JOT");
client.pick = "reject_once";
result.refused = await say("WRITE");
client.pick = "allow_once";
result.allowed = await say("WRITE");
result.permissions = client.asked;
const spoken = new Promise((done) => (client.words = done));
const held = say("HOLD");
await spoken;
await agent.cancel({ sessionId });
result.cancelled = await held;
result.exit = await end();

({ client, agent, able, end } = await start());
result.listed = (await agent.listSessions({ cwd: plan.cwd })).sessions.map((s) => s.title);
await agent.loadSession({ sessionId, cwd: plan.cwd, mcpServers: [plan.server] });
result.loaded = client.seen();
result.after = await say("good day");
result.exitAgain = await end();
console.log(JSON.stringify(result));
