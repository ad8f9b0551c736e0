// Writes what Discord publishes of the requests and answers that our fake of Discord knows, as JSON Schema, into the
// directory that is named. The source is the npm package discord-api-spec, made from Discord's own OpenAPI document.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { toJSONSchema } from "zod";
import * as spec from "discord-api-spec/zod";

const [dir] = process.argv.slice(2);

// What the fake never answers with is left out: a great part of the whole.
const unused = ["call", "activity", "application", "interaction", "thread", "mention_channels", "role_subscription_data",
  "purchase_notification", "resolved", "poll", "shared_client_theme", "interaction_metadata", "message_snapshots",
  "lobby_member", "referenced_message", "stickers", "components", "embeds"];

const schemas = {
  "create-message": ["MessageCreateRequestSchema", "input"],
  "edit-message": ["MessageEditRequestPartialSchema", "input"],
  "create-direct": ["CreatePrivateChannelRequestSchema", "input"],
  "command": ["ApplicationCommandUpdateRequestSchema", "input"],
  "message": ["MessageResponseSchema", "output"],
  "gateway-bot": ["GatewayBotResponseSchema", "output"],
  "emojis": ["ListApplicationEmojisResponseSchema", "output"],
  "sticker": ["GuildStickerResponseSchema", "output"],
  "direct": ["PrivateChannelResponseSchema", "output"],
};

for (const [name, [from, io]] of Object.entries(schemas)) {
  const schema = toJSONSchema(spec[from], { io, unrepresentable: "any" });
  if (name === "message") {
    for (const key of unused) if (!["components", "embeds"].includes(key)) delete schema.properties[key];
    for (const key of ["components", "embeds"]) schema.properties[key] = { type: "array", maxItems: 0 };
    const { attachments } = schema.properties;
    for (const key of ["application", "clip_participants"]) delete attachments.items.properties[key];
  }
  // discord.js sends these with an edit, and Discord overlooks them.
  if (name === "edit-message") Object.assign(schema.properties, { tts: {}, nonce: {}, enforce_nonce: {} });
  schema.additionalProperties = false; // a request of ours holds nothing that Discord does not know
  schema.title = from;
  writeFileSync(join(dir, name + ".json"), JSON.stringify(schema) + "\n");
}
