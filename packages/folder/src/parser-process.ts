import { fork } from "node:child_process";
import { totalmem } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Fault, reasonOf } from "./folder-problem.ts";
import type { FolderContext } from "./folder-context.ts";
import {
  type ParsedPuts,
  type ParseRequest,
  type ParserSetup,
  type ParseSummary,
  partsOfRegistry,
} from "./parse-messages.ts";
import type { FileContent, FilePut } from "./read-file.ts";
import { referencesIn } from "./foreign-references.ts";

/** The limits of the heap for parsing, in megabytes. Between them, it is half of the memory. */
const heapMb = { least: 128, most: 1536 };

/** A file that was read and parsed in another process. */
export interface ParsedElsewhere extends FileContent {
  /** The SHA-256 of the bytes that were parsed, in base64. Empty: they were not read to the end. */
  readonly hash: string;
}

/**
 * A process that reads and parses large files, so that no file blocks the event loop or exhausts the memory of the main process.
 * A thread with a heap limit is not enough: if `JSON.parse` exceeds the limit, V8 ends the whole process.
 */
export interface ParserProcess {
  /** Reads and parses one file at a time. Never rejects: a file that needs too much memory has a problem. */
  readonly parse: (segments: readonly string[]) => Promise<ParsedElsewhere>;
  readonly close: () => void;
}

/** Starts a process with a heap of `limitMb` megabytes. Default: half of the memory, at least 128 and at most 1,536. If the process cannot be started, the files that it is given have a problem. */
export async function startParserProcess(
  context: FolderContext,
  limitMb: number = heapLimitMb(),
): Promise<ParserProcess> {
  const { ask, send, close } = startChild(limitMb);
  send({ kind: "setup", setup: await setupOf(context) });
  return {
    close,
    async parse(segments) {
      const file = join(context.dir, ...segments);
      try {
        const { hash, count, problems, warnings, references } = await ask<ParseSummary>({
          kind: "parse",
          segments,
        });
        const puts: FilePut[] = [];
        while (puts.length < count)
          puts.push(...withOwnBytes((await ask<ParsedPuts>({ kind: "puts" })).puts));
        return {
          hash,
          puts,
          problems,
          warnings,
          references:
            context.given.types === undefined
              ? references
              : referencesIn(puts, { file, text: "" }, context),
        };
      } catch (error) {
        const { code, message, hint } =
          error instanceof Fault
            ? error.details
            : ({ code: "unreadable-file", message: `cannot be read: ${reasonOf(error)}` } as const);
        return {
          hash: "",
          puts: [],
          problems: [{ file, code, message, ...(hint !== undefined && { hint }) }],
          warnings: [],
          references: [],
        };
      }
    },
  };
}

/** A process that answers each message with one message. */
interface Child {
  readonly send: (request: ParseRequest) => void;
  /** Sends a request and returns its answer. Rejects if the process has ended. Only one request may wait at a time. */
  readonly ask: <T>(request: ParseRequest) => Promise<T>;
  readonly close: () => void;
}

function startChild(limitMb: number): Child {
  const child = fork(fileURLToPath(programUrl()), {
    serialization: "advanced",
    stdio: ["ignore", "ignore", "ignore", "ipc"],
    execArgv: [`--max-old-space-size=${limitMb}`, ...conditions],
  });
  let failure: Error | undefined;
  let settle: ((error: Error | undefined, message?: unknown) => void) | undefined;
  const fail = (error: Error): void => {
    failure ??= error;
    settle?.(failure);
  };
  child.on("message", (message) => {
    settle?.(undefined, message);
  });
  child.on("error", fail);
  child.on("exit", (code, signal) => {
    fail(
      isOutOfMemory(signal)
        ? tooLarge(limitMb)
        : new Error(
            `the process that reads large files has ended (${signal ?? `exit code ${code ?? 0}`})`,
          ),
    );
  });
  const send = (request: ParseRequest): void => {
    child.send(request, (error) => {
      if (error !== null) fail(error);
    });
  };
  return {
    send,
    async ask<T>(request: ParseRequest) {
      if (failure !== undefined) throw failure;
      return await new Promise<T>((resolve, reject) => {
        settle = (error, message) => {
          if (error === undefined) resolve(message as T);
          else reject(error);
        };
        send(request);
      });
    },
    close: () => {
      child.kill("SIGKILL");
    },
  };
}

/** Copies the bytes of each payload. The payloads of a message share one buffer, so a resource that is kept would keep the others in memory. */
function withOwnBytes(puts: readonly FilePut[]): readonly FilePut[] {
  if (puts.length === 1) return puts;
  return puts.map((put) => {
    const { resource } = put;
    const { payload } = resource;
    return {
      ...put,
      resource: { ...resource, payload: { ...payload, value: payload.value.slice() } },
    };
  });
}

async function setupOf({
  dir,
  given: { registry, types },
  check,
  allow,
  clients,
}: FolderContext): Promise<ParserSetup> {
  const facts = types?.map(({ typeUrl, nameField }) => ({
    typeUrl,
    ...(nameField !== undefined && { nameField }),
  }));
  return {
    dir,
    registry: await partsOfRegistry(registry),
    isChecked: check !== undefined,
    allow: [...allow],
    clients,
    ...(facts && { types: facts }),
  };
}

/** Returns the heap limit. In a container, the limit of the container is the memory. */
function heapLimitMb(): number {
  const constrained = process.constrainedMemory();
  const memory = constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
  return Math.max(heapMb.least, Math.min(heapMb.most, Math.floor(memory / 2 / (1 << 20))));
}

/** Returns true if the process ran out of memory: V8 aborts when the heap is exhausted, and the system kills it when memory is. */
function isOutOfMemory(signal: NodeJS.Signals | null): boolean {
  return signal === "SIGABRT" || signal === "SIGKILL" || signal === "SIGTRAP";
}

function tooLarge(limitMb: number): Fault {
  return new Fault({
    code: "too-large",
    message: `needs more than ${limitMb} MB to read`,
    hint: "split it into one file for each resource, or make the resource smaller",
  });
}

const isSource: boolean = import.meta.url.endsWith(".ts");

/** When this package runs from source, the process loads the other packages of the workspace from source too. */
const conditions: readonly string[] = isSource ? ["--conditions=@xdstp/source"] : [];

/** Returns the location of the program: next to this file, as JavaScript in a published package and as TypeScript in the repository. */
function programUrl(): URL {
  return new URL(isSource ? "./parse-program.ts" : "./parse-program.js", import.meta.url);
}
