import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { rolldown } from "rolldown";
import { onTestFinished } from "vitest";

import { freePort } from "../run-command.ts";
import { type Process, startProcess } from "../start-process.ts";
import { until } from "../until.ts";
import { useFolder } from "../use-folder.ts";

/** A runtime in which {@link startRuntime} can run the client. */
export type RuntimeName = "bun" | "deno" | "workerd";

/** The client in a runtime, for the time of the test. */
export interface RuntimeClient {
  /** The lines of `printFlag` so far; it grows. */
  readonly states: readonly string[];
  /** The program of the runtime. */
  readonly process: Process;
}

/** Bundles `printFlag`, and runs it in a runtime against the server at this port of the loopback. */
export async function startRuntime(
  name: RuntimeName,
  command: string,
  port: number,
): Promise<RuntimeClient> {
  const dir = useFolder({ "client.mjs": await bundleClient() });
  return starters[name](command, dir, `http://127.0.0.1:${port}`);
}

type Starter = (command: string, dir: string, server: string) => Promise<RuntimeClient>;

const starters: Readonly<Record<RuntimeName, Starter>> = {
  bun: (command, dir, server) => Promise.resolve(runScript(command, ["run"], dir, server)),
  // Without any permission but this one the client has only what a page has.
  deno: (command, dir, server) =>
    Promise.resolve(runScript(command, ["run", "--no-prompt", "--allow-net"], dir, server)),
  workerd: runWorker,
};

async function bundleClient(): Promise<string> {
  const bundle = await rolldown({
    input: join(import.meta.dirname, "print-flag.ts"),
    platform: "browser",
    resolve: { conditionNames: ["@xdstp/source", "browser", "import", "default"] },
    onLog: (_level, { message }) => {
      throw new Error(message);
    },
  });
  const { output } = await bundle.generate({ format: "esm" });
  await bundle.close();
  return output[0].code;
}

function runScript(
  command: string,
  args: readonly string[],
  dir: string,
  server: string,
): RuntimeClient {
  const main = join(dir, "main.mjs");
  writeFileSync(
    main,
    `import { printFlag } from "./client.mjs"; printFlag("${server}", (line) => console.log(line));`,
  );
  const process = startProcess(command, [...args, main]);
  return { states: process.lines, process };
}

/**
 * A worker has a request context only while it answers, and the watch lives as long as that. So the
 * worker answers with a stream of the states, which the test reads.
 */
async function runWorker(command: string, dir: string, server: string): Promise<RuntimeClient> {
  const port = await freePort();
  writeFileSync(join(dir, "worker.mjs"), worker);
  writeFileSync(join(dir, "config.capnp"), workerConfig(port, server));
  const process = startProcess(command, ["serve", join(dir, "config.capnp")]);
  const cancel = new AbortController();
  const response = await until(
    "the worker answers",
    async () =>
      process.ended ?? (await fetch(`http://127.0.0.1:${port}/`, { signal: cancel.signal })),
    () => process.lines,
  );
  if (typeof response === "string" || response.body === null)
    throw new Error(`workerd does not answer: ${process.lines.join("; ")}`);
  onTestFinished(() => {
    cancel.abort();
  });
  const states: string[] = [];
  void readLines(response.body, (line) => states.push(line));
  return { states, process };
}

const worker = `
  import { printFlag } from "./client.mjs";
  export default {
    fetch(request, { SERVER }) {
      const { readable, writable } = new TransformStream();
      const writer = writable.getWriter();
      const encoder = new TextEncoder();
      const end = printFlag(SERVER, (line) => {
        writer.write(encoder.encode(line + "\\n")).catch(() => end());
      });
      return new Response(readable);
    },
  };
`;

function workerConfig(port: number, server: string): string {
  return `
    using Workerd = import "/workerd/workerd.capnp";
    const config :Workerd.Config = (
      services = [
        (name = "main", worker = (
          modules = [
            (name = "worker.mjs", esModule = embed "worker.mjs"),
            (name = "client.mjs", esModule = embed "client.mjs"),
          ],
          bindings = [(name = "SERVER", text = "${server}")],
          compatibilityDate = "2026-01-01",
        )),
        (name = "internet", network = (allow = ["local"])),
      ],
      sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
    );
  `;
}

/** Reads the lines of a body until it ends or is cancelled. */
async function readLines(
  body: ReadableStream<Uint8Array>,
  onLine: (line: string) => void,
): Promise<void> {
  let rest = "";
  const decoder = new TextDecoder();
  try {
    for await (const chunk of body) {
      const [first = "", ...others] = decoder.decode(chunk, { stream: true }).split("\n");
      rest += first;
      for (const next of others) {
        onLine(rest);
        rest = next;
      }
    }
  } catch (error) {
    onLine(`the answer of the worker ended: ${String(error)}`);
  }
}
