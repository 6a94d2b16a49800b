import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fromJson, type JsonObject, toBinary } from "@bufbuild/protobuf";
import { StructSchema } from "@bufbuild/protobuf/wkt";
import { createCache } from "@xdstp/cache";
import { createFlags } from "@xdstp/openfeature";
import { createServer, type XdsServer } from "@xdstp/server";
import { rolldown } from "rolldown";
import { describe, expect, it, onTestFinished } from "vitest";

import { describeProgram } from "../src/describe-program.ts";
import { startProcess } from "../src/start-process.ts";
import { until } from "../src/until.ts";
import { type ServeProcess, startServe } from "../src/use-cli.ts";
import { useFolder } from "../src/use-folder.ts";
import { usePage } from "../src/use-page.ts";

const type = "google.protobuf.Struct";
const directory = `xdstp://acme.example/${type}/shop`;

interface FlagServer {
  readonly port: number;
  readonly put: (key: string, definition: JsonObject) => void;
  readonly remove: (key: string) => void;
  /** Ends the server without waiting for its clients. */
  readonly down: () => Promise<void>;
  readonly up: () => Promise<void>;
}

/** Serves flags by a program with `createFlags`. */
async function useFlagServer(): Promise<FlagServer> {
  const cache = createCache();
  const start = async (port: number): Promise<{ server: XdsServer; port: number }> => {
    const flags = createFlags({ source: cache, collection: `${directory}/*` });
    const server = createServer({ source: cache, routes: flags.routes, http: [flags.http] });
    return { server, port: (await server.listen({ port })).port };
  };
  let now = await start(0);
  const { port } = now;
  onTestFinished(() => now.server.close({ graceMs: 0 }));
  const typeUrl = `type.googleapis.com/${type}`;
  return {
    port,
    put(key, definition) {
      const value = toBinary(StructSchema, fromJson(StructSchema, definition));
      cache.put({ typeUrl, name: `${directory}/${key}`, value });
    },
    remove(key) {
      cache.remove(typeUrl, `${directory}/${key}`);
    },
    down: () => now.server.close({ graceMs: 0 }),
    up: async () => {
      now = await start(port);
    },
  };
}

/** Serves a folder of flags by the command. */
async function useFlagCommand(): Promise<FlagServer> {
  const dir = useFolder();
  const folder = join(dir, "acme.example", type, "shop");
  mkdirSync(folder, { recursive: true });
  const start = (port: number): Promise<ServeProcess> =>
    startServe(dir, port, ["--openfeature", `${directory}/*`, "--http-origin", "*"]);
  let now = await start(0);
  const { port } = now;
  return {
    port,
    put(key, definition) {
      writeFileSync(join(folder, `${key}.json`), JSON.stringify(definition));
    },
    remove(key) {
      rmSync(join(folder, `${key}.json`));
    },
    down: async () => {
      await now.stop();
    },
    up: async () => {
      now = await start(port);
    },
  };
}

const servers = [
  ["createFlags()", useFlagServer],
  ["xdstp serve --openfeature", useFlagCommand],
] as const;

const colour = (defaultVariant: string, more: JsonObject = {}): JsonObject => ({
  state: "ENABLED",
  variants: { red: "#f00", blue: "#00f", green: "#0f0" },
  defaultVariant,
  ...more,
});

interface Evaluation {
  readonly value: string;
  readonly reason: string;
}

interface Program {
  /** Evaluates a flag in the program. */
  readonly evaluate: (key: string) => Promise<Evaluation>;
}

async function useProgram(command: string, args: readonly string[]): Promise<Program> {
  const process = startProcess(command, args);
  const printed = (): readonly string[] =>
    process.lines.filter((line) => line === "ready" || line.startsWith('{"value"'));
  await until(
    "the provider is ready",
    () => printed().includes("ready"),
    () => process.lines,
  );
  return {
    async evaluate(key) {
      const count = printed().length;
      process.write(key);
      const line = await until(
        "an evaluation",
        () => printed()[count],
        () => [process.lines, process.ended],
      );
      return JSON.parse(line) as Evaluation;
    },
  };
}

/** Waits until a program evaluates a flag to a value. */
async function evaluatesTo(program: Program, key: string, value: string): Promise<void> {
  let last: Evaluation | undefined;
  await until(
    `${key} is ${value}`,
    async () => {
      last = await program.evaluate(key);
      return last.value === value;
    },
    () => last,
  );
}

const source = join(import.meta.dirname, "../src");

const programs = [
  ["openfeature-flagd-js", [join(source, "openfeature-flagd.ts")]],
  ["openfeature-flagd-python", [join(source, "openfeature-flagd.py")]],
  [
    "openfeature-ofrep-web",
    ["--experimental-eventsource", join(source, "openfeature-ofrep-web.ts")],
  ],
] as const;

for (const [program, args] of programs)
  describeProgram(program, "flags from resources", (command) => {
    for (const [name, useServer] of servers)
      describe(name, () => {
        it("evaluates flags and their targeting, and follows changes and removals", async () => {
          const server = await useServer();
          server.put("button", colour("red"));
          server.put(
            "border",
            colour("red", {
              targeting: { if: [{ "==": [{ var: "plan" }, "pro"] }, "green", null] },
            }),
          );
          const { port } = server;
          const client = await useProgram(command, [...args, String(port)]);
          expect(await client.evaluate("button")).toMatchObject({
            value: "#f00",
            reason: "STATIC",
          });
          const targeted = await client.evaluate("border");
          expect(targeted).toMatchObject({ value: "#0f0", reason: "TARGETING_MATCH" });
          server.put("button", colour("blue"));
          await evaluatesTo(client, "button", "#00f");
          server.remove("border");
          await evaluatesTo(client, "border", "default");
        });

        it("keeps its flags while the server is down, and has what changed meanwhile when it is back", async () => {
          const server = await useServer();
          server.put("button", colour("red"));
          const client = await useProgram(command, [...args, String(server.port)]);
          await server.down();
          expect(await client.evaluate("button")).toMatchObject({ value: "#f00" });
          server.put("button", colour("green"));
          await server.up();
          await evaluatesTo(client, "button", "#0f0");
          server.put("button", colour("blue"));
          await evaluatesTo(client, "button", "#00f");
        });

        it("keeps the last valid flag when the next one is not valid", async () => {
          const server = await useServer();
          server.put("button", colour("red"));
          server.put("border", colour("red"));
          const client = await useProgram(command, [...args, String(server.port)]);
          server.put("button", colour("black"));
          server.put("border", colour("blue"));
          await evaluatesTo(client, "border", "#00f");
          expect(await client.evaluate("button")).toMatchObject({ value: "#f00" });
        });
      });
  });

/** Serves a page that uses the OFREP provider for the web, from an origin of its own. */
async function usePageOrigin(): Promise<string> {
  const bundle = await rolldown({
    input: join(source, "openfeature-page.ts"),
    platform: "browser",
  });
  const { output } = await bundle.generate({ format: "esm" });
  await bundle.close();
  const html = '<!doctype html><output></output><script type="module" src="/page.js"></script>';
  const server = createHttpServer(({ url }, response) => {
    const isScript = url === "/page.js";
    response.setHeader("content-type", isScript ? "text/javascript" : "text/html");
    response.end(isScript ? output[0].code : html);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describeProgram("chromium", "a page with the OFREP provider for the web", (command) => {
  it("shows a flag of another origin, its changes, and the last value while the server is down", async () => {
    const server = await useFlagServer();
    server.put("button", colour("red"));
    const origin = await usePageOrigin();
    const page = await usePage(command, `${origin}/?server=http://127.0.0.1:${server.port}`);
    const shows = async (text: string): Promise<void> => {
      let seen = "";
      await until(
        `the page shows ${text}`,
        async () => (seen = await page.shown()).endsWith(text),
        () => seen,
      );
    };
    await shows(": #f00");
    server.put("button", colour("blue"));
    await shows(": #00f");
    await server.down();
    server.put("button", colour("green"));
    expect(await page.shown()).toContain(": #00f");
    await server.up();
    await shows(": #0f0");
  });
});
