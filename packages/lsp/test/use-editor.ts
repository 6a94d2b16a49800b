import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { PassThrough } from "node:stream";
import { pathToFileURL } from "node:url";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { onTestFinished } from "vitest";
import {
  type CancellationToken,
  createMessageConnection,
  type Diagnostic,
  type InitializeResult,
  type Position,
  type Range,
  StreamMessageReader,
  StreamMessageWriter,
} from "vscode-languageserver/node";
import { startLanguageServer } from "../src/index.ts";

/** An editor that is connected to a language server by streams, with files on disk. */
export interface Editor {
  readonly dir: string;
  readonly capabilities: InitializeResult["capabilities"];
  /** Opens a file, with another text than it has on disk where one is given. The mark `‸` is left out, and its place returned. */
  open(path: string, text?: string): Position;
  change(path: string, text: string): void;
  /** Replaces a part of a document. */
  edit(path: string, range: Range, text: string): void;
  /** Writes, moves or deletes files, and notifies the server. */
  onDisk(change: () => void): void;
  /** Sends a request about a place of a document, which can be cancelled. */
  askUntil(
    token: CancellationToken,
    method: string,
    path: string,
    position: Position,
  ): Promise<unknown>;
  /** Resolves when the server has begun with all that was sent before. */
  reached(): Promise<void>;
  /** Writes to the server as it is. */
  write(text: string): void;
  /** Sends a request about a place of a document. */
  ask<T>(method: string, path: string, position: Position, more?: object): Promise<T>;
  /** Resolves with the diagnostics of a file when they are so, as `line severity code`. */
  diagnosed(
    path: string,
    isThis: (found: readonly string[]) => boolean,
  ): Promise<readonly string[]>;
  /** The same of a document with a URI of its own. */
  diagnosedUri: Editor["diagnosed"];
  /** Opens a document with a URI of its own. */
  openUri(uri: string, text: string): void;
  /** The number of times that diagnostics of a file have come. */
  published(path: string): number;
  uri(path: string): string;
  /** The path of a URI. */
  path(uri: string): string;
  /** Ends the server; resolves when it has ended. */
  end(): Promise<void>;
}

/** Starts a server for `config` in a directory with these files. It ends with the test. */
export async function useEditor(
  files: Readonly<Record<string, string>>,
  {
    roots,
  }: {
    /** The roots of the workspace, in the directory. Default: the directory. */ readonly roots?: readonly string[];
  } = {},
): Promise<Editor> {
  const dir = mkdtempSync(join(tmpdir(), "xdstp-lsp-"));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  }
  const [toServer, toEditor] = [new PassThrough(), new PassThrough()];
  const ended = startLanguageServer({
    input: toServer,
    output: toEditor,
    dir: "config",
    registry: envoyRegistry(),
    delayMs: 5,
  });
  const connection = createMessageConnection(
    new StreamMessageReader(toEditor),
    new StreamMessageWriter(toServer),
  );
  const diagnostics = new Map<string, readonly string[]>();
  const counts = new Map<string, number>();
  const waiting = new Set<() => void>();
  connection.onNotification(
    "textDocument/publishDiagnostics",
    ({ uri, diagnostics: list }: { uri: string; diagnostics: Diagnostic[] }) => {
      diagnostics.set(
        uri,
        list.map(({ range, severity, code }) => `${range.start.line + 1} ${severity} ${code}`),
      );
      counts.set(uri, (counts.get(uri) ?? 0) + 1);
      for (const look of waiting) look();
    },
  );
  connection.listen();
  const uri = (path: string): string => pathToFileURL(join(dir, path)).href;
  const { capabilities } = await connection.sendRequest<InitializeResult>("initialize", {
    processId: null,
    rootUri: pathToFileURL(dir).href,
    ...(roots !== undefined && {
      workspaceFolders: roots.map((name) => ({ name, uri: pathToFileURL(join(dir, name)).href })),
    }),
    capabilities: {},
  });
  await connection.sendNotification("initialized", {});
  const end = async (): Promise<void> => {
    toServer.end();
    await ended;
    connection.dispose();
  };
  onTestFinished(async () => {
    await end();
    rmSync(dir, { recursive: true });
  });
  const diagnosedUri: Editor["diagnosed"] = async (of, isThis) => {
    const found = (): readonly string[] => diagnostics.get(of) ?? [];
    return new Promise((resolve) => {
      const look = (): void => {
        if (!counts.has(of) || !isThis(found())) return;
        waiting.delete(look);
        resolve(found());
      };
      waiting.add(look);
      look();
    });
  };
  let version = 0;
  return {
    dir,
    capabilities,
    uri,
    path: (of) => decodeURIComponent(of.slice(uri("").length)).replace(/^\//, ""),
    open(path, text = readFileSync(join(dir, path), "utf8")) {
      const [before = ""] = text.split("‸");
      const document = { uri: uri(path), languageId: "yaml", version: ++version };
      void connection.sendNotification("textDocument/didOpen", {
        textDocument: { ...document, text: text.replace("‸", "") },
      });
      const lines = before.split("\n");
      return { line: lines.length - 1, character: lines.at(-1)?.length ?? 0 };
    },
    change(path, text) {
      void connection.sendNotification("textDocument/didChange", {
        textDocument: { uri: uri(path), version: ++version },
        contentChanges: [{ text }],
      });
    },
    edit(path, range, text) {
      void connection.sendNotification("textDocument/didChange", {
        textDocument: { uri: uri(path), version: ++version },
        contentChanges: [{ range, text }],
      });
    },
    onDisk(change) {
      change();
      void connection.sendNotification("workspace/didChangeWatchedFiles", { changes: [] });
    },
    askUntil: async (token, method, path, position) =>
      connection.sendRequest(
        `textDocument/${method}`,
        { textDocument: { uri: uri(path) }, position },
        token,
      ),
    async reached() {
      await connection.sendRequest("test/unknown").catch(() => undefined);
    },
    write(text) {
      toServer.write(text);
    },
    ask: async (method, path, position, more = {}) =>
      connection.sendRequest(`textDocument/${method}`, {
        textDocument: { uri: uri(path) },
        position,
        ...more,
      }),
    diagnosed: async (path, isThis) => diagnosedUri(uri(path), isThis),
    diagnosedUri,
    openUri(of, text) {
      void connection.sendNotification("textDocument/didOpen", {
        textDocument: { uri: of, languageId: "yaml", version: ++version, text },
      });
    },
    published: (path) => counts.get(uri(path)) ?? 0,
    end,
  };
}
