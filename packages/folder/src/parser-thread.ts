import { totalmem } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import type { Put } from "@xdstp/core";
import { Fault, reasonOf } from "./fault.ts";
import type { FolderContext } from "./folder-context.ts";
import type { FileContent } from "./read-file.ts";
import type { ParsedPuts, ParserSetup, ParseRequest, ParseSummary } from "./parse-messages.ts";
import { referencesIn } from "./references-in.ts";
import { partsOfRegistry } from "./registry-parts.ts";

/** Megabytes of heap that parsing may take: half of what this process has, within these bounds. */
const heapMb = { least: 128, most: 1024 };

/** Large files are parsed in a thread of its own, with a heap of its own: neither the event loop nor the memory of this process is at the mercy of a file. */
export interface ParserThread {
  /** Parses one file; its bytes are transferred, so they cannot be used afterwards. Never rejects: a file that needs more memory than there is has a problem. */
  readonly parse: (segments: readonly string[], bytes: Uint8Array<ArrayBuffer>) => Promise<FileContent>;
  readonly close: () => void;
}

/** Starts a thread. What keeps it from starting is a problem of the files that it is given. */
export async function startParserThread(context: FolderContext): Promise<ParserThread> {
  const limitMb = heapLimitMb();
  const worker = new Worker(programUrl(), { workerData: await setupOf(context), resourceLimits: { maxOldGenerationSizeMb: limitMb }, ...execArgv() });
  let failure: Error | undefined;
  let settle: ((error: Error | undefined, message?: unknown) => void) | undefined;
  const fail = (error: Error): void => {
    failure ??= error;
    settle?.(failure);
  };
  worker.on("message", (message) => { settle?.(undefined, message); });
  worker.on("error", (error) => { fail(isOutOfMemory(error) ? tooLarge(limitMb) : error instanceof Error ? error : new Error(String(error))); });
  worker.on("exit", () => { fail(new Error("the thread that reads large files has ended")); });
  const ask = async <T>(request: ParseRequest, transfer: readonly ArrayBuffer[] = []): Promise<T> => {
    if (failure !== undefined) throw failure;
    return await new Promise<T>((resolve, reject) => {
      settle = (error, message) => {
        if (error === undefined) resolve(message as T);
        else reject(error);
      };
      worker.postMessage(request, transfer);
    });
  };
  return {
    async parse(segments, bytes) {
      const file = join(context.dir, ...segments);
      try {
        const { count, problems, references } = await ask<ParseSummary>({ kind: "parse", segments, bytes }, [bytes.buffer]);
        const puts = await receive(count, async () => (await ask<ParsedPuts>({ kind: "puts" })).puts);
        return { puts, problems, references: context.given.types === undefined ? references : referencesIn(puts, { file, text: "" }, context) };
      } catch (error) {
        const { message, hint } = error instanceof Fault ? error.details : { message: `cannot be read: ${reasonOf(error)}` };
        return { puts: [], problems: [{ file, message, ...(hint !== undefined && { hint }) }], references: [] };
      }
    },
    close: () => { void worker.terminate(); },
  };
}

/** Where small resources share a buffer, each gets its own bytes: one that stays must not keep the others. */
async function receive(count: number, next: () => Promise<readonly Put[]>): Promise<readonly Put[]> {
  const puts: Put[] = [];
  while (puts.length < count) {
    const chunk = await next();
    puts.push(...chunk.map((put) => (chunk.length === 1 ? put : withOwnBytes(put))));
  }
  return puts;
}

function withOwnBytes({ typeUrl, resource }: Put): Put {
  const { payload } = resource;
  return { typeUrl, resource: { ...resource, payload: { ...payload, value: payload.value.slice() } } };
}

async function setupOf({ dir, given: { registry, types } }: FolderContext): Promise<ParserSetup> {
  const facts = types?.map(({ typeUrl, nameField }) => ({ typeUrl, ...(nameField !== undefined && { nameField }) }));
  return { dir, registry: await partsOfRegistry(registry), ...(facts && { types: facts }) };
}

/** In a container its limit counts. */
function heapLimitMb(): number {
  const constrained = process.constrainedMemory();
  const memory = constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
  return Math.max(heapMb.least, Math.min(heapMb.most, Math.floor(memory / 2 / (1 << 20))));
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY";
}

function tooLarge(limitMb: number): Fault {
  return new Fault({ message: `needs more than ${limitMb} MB to read`, hint: "split it into one file for each resource, or make the resource smaller" });
}

/** Next to this file, as it was published or as it was written. */
function programUrl(): URL {
  return new URL(isSource ? "./parse-worker.ts" : "./parse-worker.js", import.meta.url);
}

const isSource: boolean = import.meta.url.endsWith(".ts");

/** From source, the packages of the workspace are too, whoever runs this. */
function execArgv(): { readonly execArgv?: string[] } {
  return isSource ? { execArgv: ["--conditions=@xdstp/source"] } : {};
}
