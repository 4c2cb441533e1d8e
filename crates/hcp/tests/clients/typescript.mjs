// Drives `hcp mcp` with the official TypeScript SDK, as dev/clients sets it up.
//
//     typescript.mjs HCP MARK     HCP_HOME names an installation with the pack `tool`

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";

const [hcp, mark] = process.argv.slice(2);
const env = { HCP_HOME: process.env.HCP_HOME };

const client = new Client({ name: "test", version: "1" });
const changed = new Promise((resolve) =>
  client.setNotificationHandler(ToolListChangedNotificationSchema, resolve),
);
await client.connect(new StdioClientTransport({ command: hcp, args: ["mcp"], env }));

const { tools } = await client.listTools();
assert.deepEqual(
  tools.map((tool) => tool.name),
  ["tool__say", "tool__sleep", "tool__wipe"],
);

const said = await client.callTool({ name: "tool__say", arguments: { text: "{\"a\": [1, 2]}" } });
assert.deepEqual(said.structuredContent.result, { a: [1, 2] });
assert.deepEqual(JSON.parse(said.content[0].text), said.structuredContent);

const refused = await client.callTool({ name: "tool__wipe", arguments: {} });
assert.equal(refused.isError, true);
assert.equal(refused.structuredContent.error, "confirm required");
const wiped = await client.callTool({ name: "tool__wipe", arguments: { confirm: true } });
assert.equal(wiped.structuredContent.result, "gone");

const gone = await client.callTool({ name: "gone__verb", arguments: {} });
assert.equal(gone.structuredContent.error, "unknown pack gone");

// Many at once, each with its own answer.
const many = await Promise.all(
  Array.from({ length: 50 }, (_, number) =>
    client.callTool({ name: "tool__say", arguments: { text: `text ${number}` } }),
  ),
);
many.forEach((one, number) => assert.equal(one.structuredContent.result, `text ${number}`));

// A cancelled call leaves nothing behind.
const abort = new AbortController();
const sleeping = client.callTool(
  { name: "tool__sleep", arguments: { seconds: "50", mark } },
  undefined,
  { signal: abort.signal },
);
await eventually(() => existsSync(mark) && alive());
abort.abort();
await assert.rejects(sleeping);
await eventually(() => !alive());

const long = await client.callTool({ name: "tool__say", arguments: { text: "é".repeat(50_000) } });
const link = long.content.find((block) => block.type === "resource_link");
const { contents } = await client.readResource({ uri: `${link.uri}?offset=0&length=1000` });
assert.equal(contents[0].text, long.content[0].text.slice(0, contents[0].text.length));

execFileSync(hcp, ["deactivate", "tool"], { env, stdio: "ignore" });
await changed;
assert.deepEqual((await client.listTools()).tools, []);
execFileSync(hcp, ["activate", "tool"], { env, stdio: "ignore" });

await client.close();
console.log("typescript: every check passed");

async function eventually(holds) {
  for (let turn = 0; turn < 500; turn += 1) {
    if (holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  assert.fail("it did not come about");
}

function alive() {
  const processes = readdirSync("/proc").filter((name) => /^[0-9]+$/.test(name));
  return processes.some((name) => {
    try {
      const command = readFileSync(`/proc/${name}/cmdline`, "utf8");
      return command.includes(mark) && command.includes("\0sleep\0");
    } catch {
      return false;
    }
  });
}
