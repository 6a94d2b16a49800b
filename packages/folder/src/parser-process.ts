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

/** Megabytes of heap that parsing may take: half of the memory that there is, within these bounds. */
const heapMb = { least: 128, most: 1536 };

/** A file that was read and parsed in another process. */
export interface ParsedElsewhere extends FileContent {
  /** The SHA-256 of the bytes that were parsed, in base64. Empty: they were not read to the end. */
  readonly hash: string;
}

/**
 * Large files are read and parsed in a process of their own, so that no file stops the event loop or takes the memory of this process.
 * A thread with a heap limit does not do: where `JSON.parse` exceeds it, V8 ends the whole process.
 */
export interface ParserProcess {
  /** Reads and parses one file at a time. Never rejects: a file that needs more memory than there is has a problem. */
  readonly parse: (segments: readonly string[]) => Promise<ParsedElsewhere>;
  readonly close: () => void;
}

/** Starts a process with a heap of `heapMb` megabytes; absent: half of the memory that there is, at most 1,536. What keeps it from starting is a problem of the files that it is given. */
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

/** A process that answers one message with one. */
interface Child {
  readonly send: (request: ParseRequest) => void;
  /** Rejects once the process has ended. One at a time. */
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

/** The bytes of a message share its buffer: a resource that stays must not keep the others. */
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

/** In a container its limit counts. */
function heapLimitMb(): number {
  const constrained = process.constrainedMemory();
  const memory = constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
  return Math.max(heapMb.least, Math.min(heapMb.most, Math.floor(memory / 2 / (1 << 20))));
}

/** V8 aborts where the heap is too small, and the system kills where memory is. */
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

/** From source, the packages of the workspace are too, whoever runs this. */
const conditions: readonly string[] = isSource ? ["--conditions=@xdstp/source"] : [];

/** Next to this file, as it was published or as it was written. */
function programUrl(): URL {
  return new URL(isSource ? "./parse-program.ts" : "./parse-program.js", import.meta.url);
}
