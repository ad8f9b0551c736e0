// A bot on discord.js, against the API whose address and token are named. It does what people ask for in words, and says
// on its output what it noticed, so that a test sees both sides.
import { Client, Events, GatewayIntentBits, Partials } from "discord.js";

const [api, token] = process.argv.slice(2);
const client = new Client({
  intents: [GatewayIntentBits.Guilds, GatewayIntentBits.GuildMessages, GatewayIntentBits.DirectMessages, GatewayIntentBits.MessageContent],
  partials: [Partials.Channel, Partials.Message],
  rest: { api, version: "10" },
});

const quiet = { allowedMentions: { parse: [], repliedUser: false } };

const deeds = {
  reply: (m) => m.reply({ content: "a reply", ...quiet }),
  once: async (m) => {
    for (let i = 0; i < 2; i++) await m.channel.send({ content: "once", nonce: "the-same", enforceNonce: true, ...quiet });
  },
  edit: async (m) => (await m.channel.send({ content: "first", ...quiet })).edit({ content: "second", ...quiet }),
  remove: async (m) => (await m.channel.send({ content: "gone soon", ...quiet })).delete(),
  react: (m) => m.react("👍"),
  typing: (m) => m.channel.sendTyping(),
  file: (m) => m.channel.send({ content: "a file", files: [{ attachment: Buffer.from("green"), name: "tea.txt" }], ...quiet }),
  history: async (m) => {
    const found = await m.channel.messages.fetch({ limit: 2, before: m.id });
    await m.channel.send({ content: `before that: ${[...found.values()].map((f) => f.content).join(", ")}`, ...quiet });
  },
  alone: (m) => m.author.send({ content: "alone", ...quiet }),
  refused: async (m) => {
    const err = await m.channel.send({ content: "x".repeat(2001), ...quiet }).catch((e) => e);
    await m.channel.send({ content: `refused with ${err.code}`, ...quiet });
  },
};

client.once(Events.ClientReady, (c) => console.log("ready", c.user.id, [...c.guilds.cache.values()].map((g) => g.name).join()));
client.on(Events.ShardReady, () => console.log("begun"));
client.on(Events.ShardResume, () => console.log("resumed"));
client.on(Events.MessageUpdate, (_, m) => console.log("edited", m.content));
client.on(Events.MessageDelete, (m) => console.log("deleted", m.id));
client.on(Events.MessageCreate, async (m) => {
  if (m.author.bot) return;
  try {
    await deeds[m.content]?.(m);
  } catch (err) {
    console.log("failed", m.content, String(err));
  }
});
client.on(Events.Error, (err) => console.log("error", String(err)));
process.on("SIGTERM", () => client.destroy().then(() => process.exit(0)));
await client.login(token);
