import { existsSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import type { Registry } from "@bufbuild/protobuf";
import {
  type CancellationToken,
  createConnection,
  type Diagnostic,
  DidChangeWatchedFilesNotification,
  type InitializeParams,
  type InitializeResult,
  LSPErrorCodes,
  ResponseError,
  StreamMessageReader,
  StreamMessageWriter,
  TextDocuments,
  TextDocumentSyncKind,
} from "vscode-languageserver/node";
import { TextDocument } from "vscode-languageserver-textdocument";
import { createDelay } from "./delay.ts";
import { createEditedFolder, type EditedFolder } from "./edited-folder.ts";
import { fileOf } from "./file-of-uri.ts";

/** Options of {@link startLanguageServer}. */
export interface LanguageServerOptions {
  /** The messages of the editor. */
  readonly input: NodeJS.ReadableStream;
  /** The stream for answers. */
  readonly output: NodeJS.WritableStream;
  /** The folder of resources. A relative path counts from the workspace of the editor. */
  readonly dir: string;
  /** The messages that files may hold, for instance `envoyRegistry()` of `@xdstp/protos/envoy`. */
  readonly registry: Registry;
  /** The time that the editor has to be idle before files are checked, in milliseconds. Default: 150. */
  readonly delayMs?: number;
}

/**
 * Starts a language server for a folder of resources, and for configurations with which Envoy starts. The promise resolves when the editor ends it or closes the stream.
 * It rejects where the input has a header of a message that cannot be read: where the next message begins is not known then.
 */
export async function startLanguageServer(options: LanguageServerOptions): Promise<void> {
  const { input, output, registry, delayMs = 150 } = options;
  // With the streams themselves, the library would end the process where the input ends.
  const reader = new StreamMessageReader(input);
  const connection = createConnection(reader, new StreamMessageWriter(output));
  const documents = new TextDocuments(TextDocument);
  const ended = Promise.withResolvers<undefined>();
  let folder: EditedFolder | undefined;
  let canWatch = false;

  connection.onInitialize((params): InitializeResult => {
    canWatch = params.capabilities.workspace?.didChangeWatchedFiles?.dynamicRegistration === true;
    folder = createEditedFolder(dirOf(options.dir, params), registry, documents);
    return {
      capabilities: {
        textDocumentSync: TextDocumentSyncKind.Incremental,
        definitionProvider: true,
        referencesProvider: true,
        hoverProvider: true,
        renameProvider: { prepareProvider: true },
        completionProvider: { triggerCharacters: [" ", "/", '"'] },
      },
      serverInfo: { name: "xdstp" },
    };
  });
  connection.onInitialized(() => {
    if (canWatch)
      void connection.client.register(DidChangeWatchedFilesNotification.type, {
        watchers: [{ globPattern: "**/*" }],
      });
    checks.start();
  });

  const published = new Map<string, string>();
  const checks = createDelay(delayMs, async (isCurrent) => {
    const found = (await folder?.check()) ?? new Map<string, readonly Diagnostic[]>();
    if (!isCurrent()) return;
    for (const uri of published.keys()) if (!found.has(uri)) publish(uri, []);
    for (const [uri, diagnostics] of found) publish(uri, diagnostics);
  });
  const publish = (uri: string, diagnostics: readonly Diagnostic[]): void => {
    const text = JSON.stringify(diagnostics);
    if ((published.get(uri) ?? "[]") === text) return;
    if (diagnostics.length === 0) published.delete(uri);
    else published.set(uri, text);
    void connection.sendDiagnostics({ uri, diagnostics: [...diagnostics] });
  };
  documents.onDidChangeContent(checks.start);
  documents.onDidClose(checks.start);
  connection.onDidChangeWatchedFiles(checks.start);

  /** Answers once no check is under way, unless the editor has cancelled by then: while someone types, requests come and are cancelled faster than a large folder is checked. */
  const answer = async <T>(
    token: CancellationToken,
    work: (from: EditedFolder) => Promise<T>,
  ): Promise<T | undefined> => {
    await folder?.idle();
    if (token.isCancellationRequested)
      throw new ResponseError(LSPErrorCodes.RequestCancelled, "the editor has cancelled it");
    return folder && work(folder);
  };
  connection.onDefinition(async ({ textDocument: { uri }, position }, token) =>
    answer(token, async (from) => from.definition(uri, position)),
  );
  connection.onReferences(async ({ textDocument: { uri }, position, context }, token) =>
    answer(token, async (from) => from.references(uri, position, context.includeDeclaration)),
  );
  connection.onHover(async ({ textDocument: { uri }, position }, token) =>
    answer(token, async (from) => from.hover(uri, position)),
  );
  connection.onCompletion(async ({ textDocument: { uri }, position }, token) =>
    answer(token, async (from) => from.completion(uri, position)),
  );
  connection.onPrepareRename(async ({ textDocument: { uri }, position }, token) =>
    answer(token, async (from) => from.prepareRename(uri, position)),
  );
  connection.onRenameRequest(async ({ textDocument: { uri }, position, newName }, token) =>
    answer(token, async (from) => from.rename(uri, position, newName)),
  );
  const end = (): void => {
    ended.resolve(undefined);
  };
  reader.onError((error) => {
    if (!headerFault.test(error.message)) return; // A body that is not JSON: the next message follows it.
    const [reason = ""] = error.message.split("\n");
    ended.reject(new Error(`the input is not of the Language Server Protocol: ${reason}`));
  });
  connection.onExit(end);
  input.on("end", end);
  input.on("close", end);
  documents.listen(connection);
  connection.listen();
  try {
    await ended.promise;
  } finally {
    checks.stop();
    folder?.close();
    connection.dispose();
  }
}

/** The beginning of the reader's errors about a header. */
const headerFault = /^(?:Header|Message header|Content-Length)\b/;

/** The folder of the first root of the workspace that has one. */
function dirOf(dir: string, { workspaceFolders, rootUri }: InitializeParamsWithRoot): string {
  if (isAbsolute(dir)) return dir;
  const roots = workspaceFolders?.length ? workspaceFolders.map(({ uri }) => uri) : [rootUri];
  const dirs = roots.map((root) => join(root == null ? process.cwd() : fileOf(root), dir));
  return dirs.find((one) => existsSync(one)) ?? dirs[0] ?? dir;
}

type InitializeParamsWithRoot = Pick<InitializeParams, "workspaceFolders"> & {
  readonly rootUri?: string | null;
};
