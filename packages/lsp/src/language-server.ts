import { dirname, isAbsolute, join, relative, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Registry } from "@bufbuild/protobuf";
import {
  type BootstrapNames,
  checkBootstrap,
  createBootstrapReader,
  createFolderChecker,
  type FolderProblem,
  type NamedResource,
} from "@xdstp/folder";
import {
  type CompletionItem,
  CompletionItemKind,
  createConnection,
  type Diagnostic,
  DiagnosticSeverity,
  DidChangeWatchedFilesNotification,
  ErrorCodes,
  type Hover,
  type InitializeParams,
  type InitializeResult,
  type Location,
  type Position,
  type Range,
  ResponseError,
  StreamMessageReader,
  StreamMessageWriter,
  TextDocuments,
  TextDocumentSyncKind,
  type WorkspaceEdit,
} from "vscode-languageserver/node";
import { TextDocument } from "vscode-languageserver-textdocument";
import { createDelay } from "./delay.ts";
import {
  type KnownNames,
  knownNames,
  type NameInFile,
  type Occurrence,
  typeText,
} from "./known-names.ts";
import { findRenaming, RenameError } from "./rename.ts";
import { firstLine, scalarAt, type TextScalar, written } from "./text-scalars.ts";

/** Options of {@link startLanguageServer}. */
export interface LanguageServerOptions {
  /** What the editor sends. */
  readonly input: NodeJS.ReadableStream;
  /** Where answers go. */
  readonly output: NodeJS.WritableStream;
  /** The folder of resources. A relative path counts from the workspace of the editor. */
  readonly dir: string;
  /** The messages that files may hold, for instance `envoyRegistry()` of `@xdstp/protos/envoy`. */
  readonly registry: Registry;
  /** How long the editor has to be idle before files are checked, in milliseconds. Default: 150. */
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
  let folder: Folder | undefined;
  let canWatch = false;

  connection.onInitialize((params): InitializeResult => {
    canWatch = params.capabilities.workspace?.didChangeWatchedFiles?.dynamicRegistration === true;
    folder = createFolder(dirOf(options.dir, params), registry, documents);
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

  connection.onDefinition(async ({ textDocument, position }) =>
    folder?.definition(textDocument.uri, position),
  );
  connection.onReferences(async ({ textDocument, position, context }) =>
    folder?.references(textDocument.uri, position, context.includeDeclaration),
  );
  connection.onHover(async ({ textDocument, position }) =>
    folder?.hover(textDocument.uri, position),
  );
  connection.onCompletion(async ({ textDocument, position }) =>
    folder?.completion(textDocument.uri, position),
  );
  connection.onPrepareRename(async ({ textDocument, position }) =>
    folder?.prepareRename(textDocument.uri, position),
  );
  connection.onRenameRequest(async ({ textDocument, position, newName }) =>
    folder?.rename(textDocument.uri, position, newName),
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

/** How errors of the reader begin that are about a header. */
const headerFault = /^(?:Header|Message header|Content-Length)\b/;

function dirOf(dir: string, { workspaceFolders, rootUri }: InitializeParamsWithRoot): string {
  if (isAbsolute(dir)) return dir;
  const root = workspaceFolders?.[0]?.uri ?? rootUri;
  return join(root == null ? process.cwd() : fileURLToPath(root), dir);
}

type InitializeParamsWithRoot = Pick<InitializeParams, "workspaceFolders"> & {
  readonly rootUri?: string | null;
};

/** The folder of resources, and the documents of the editor over it. */
interface Folder {
  /** Diagnostics by URI. */
  check(): Promise<ReadonlyMap<string, readonly Diagnostic[]>>;
  definition(uri: string, position: Position): Promise<Location[]>;
  references(uri: string, position: Position, withDefinition: boolean): Promise<Location[]>;
  hover(uri: string, position: Position): Promise<Hover | undefined>;
  completion(uri: string, position: Position): Promise<CompletionItem[]>;
  prepareRename(
    uri: string,
    position: Position,
  ): Promise<{ range: Range; placeholder: string } | undefined>;
  rename(uri: string, position: Position, newName: string): Promise<WorkspaceEdit>;
  close(): void;
}

function createFolder(
  dir: string,
  registry: Registry,
  documents: TextDocuments<TextDocument>,
): Folder {
  const checker = createFolderChecker({ dir, registry });
  const readBootstrap = createBootstrapReader(registry);
  const readBootstraps = new WeakMap<
    TextDocument,
    { readonly version: number; readonly names: BootstrapNames }
  >();
  let broken: ReadonlyMap<string, readonly Diagnostic[]> = new Map();
  let latest:
    { readonly versions: string; readonly at: number; readonly checked: Checked } | undefined;

  return {
    check,
    close() {
      checker.close();
    },
    async definition(uri, position) {
      const { names, subjects } = await subjectsAt(uri, position);
      const found = subjects.flatMap((name) => names.resourcesOf(name));
      return Promise.all(found.map(async (one) => locationOf(await names.definitionOf(one))));
    },
    async references(uri, position, withDefinition) {
      const { names, subjects } = await subjectsAt(uri, position);
      const found: Occurrence[] = [];
      for (const name of subjects) {
        const files = new Set(names.referrersOf(name).map(({ file }) => file));
        for (const file of files) found.push(...(await placesIn(names, file, name)));
        if (withDefinition)
          for (const one of names.resourcesOf(name)) found.push(await names.definitionOf(one));
      }
      return found.map(locationOf);
    },
    async hover(uri, position) {
      const { names, subjects, scalar, document } = await subjectsAt(uri, position);
      if (document === undefined || scalar === undefined || subjects.length === 0) return undefined;
      return {
        contents: {
          kind: "markdown",
          value: subjects.map((name) => hoverText(names, name, dir)).join("\n\n"),
        },
        range: rangeOf(document, scalar),
      };
    },
    async completion(uri, position) {
      const { names, document } = await namesFor(uri);
      if (document === undefined) return [];
      const offset = document.offsetAt(position);
      const { typeUrls, scalar } = names.expectedAt(fileOf(uri), document.getText(), offset);
      const range =
        scalar === undefined ? { start: position, end: position } : rangeOf(document, scalar);
      const known = names.all.filter(({ typeUrl }) => typeUrls.includes(typeUrl));
      const items = known.flatMap(({ name, aliases, typeUrl, file }) =>
        [name, ...aliases].map((label): CompletionItem => ({
          label,
          kind: CompletionItemKind.Reference,
          detail: `${typeText(typeUrl)} in ${shown(file, dir)}`,
          filterText: scalar?.isQuoted === true ? JSON.stringify(label) : label,
          textEdit: { range, newText: written(label, { isQuoted: scalar?.isQuoted ?? false }) },
        })),
      );
      return [...new Map(items.map((item) => [item.label, item])).values()];
    },
    async prepareRename(uri, position) {
      const { subjects, scalar, document } = await subjectsAt(uri, position);
      const [subject] = subjects;
      if (document === undefined || subject === undefined) return undefined;
      const range =
        scalar === undefined ? { start: position, end: position } : rangeOf(document, scalar);
      return { range, placeholder: subject.name };
    },
    async rename(uri, position, newName) {
      const { names, subjects } = await subjectsAt(uri, position);
      const [subject, ...others] = subjects;
      if (subject === undefined || others.length > 0)
        throw new ResponseError(
          ErrorCodes.InvalidRequest,
          "put the cursor on a name of a resource, or on the first line of a file that holds one",
        );
      try {
        const renaming = await findRenaming(subject, newName, { dir, names, namesIn, textOf });
        return editOf(renaming, newName);
      } catch (error) {
        if (error instanceof RenameError)
          throw new ResponseError(ErrorCodes.InvalidRequest, error.message);
        throw error;
      }
    },
  };

  async function check(): Promise<ReadonlyMap<string, readonly Diagnostic[]>> {
    const { problems, warnings } = await checkNow();
    const found = Map.groupBy(
      [...diagnosticsOf(problems, "error"), ...diagnosticsOf(warnings, "warning")],
      ({ uri }) => uri,
    );
    const all = new Map([...found].map(([uri, list]) => [uri, list.map((one) => one.diagnostic)]));
    const isBroken = documents
      .all()
      .some(({ uri }) => all.get(uri)?.some(({ code }) => code === "syntax") === true);
    // While a text cannot be parsed, what refers to its resources would have warnings that come and go.
    const open = new Set(documents.keys());
    const stable = isBroken
      ? new Map([...broken, ...[...all].filter(([uri]) => open.has(uri))])
      : all;
    if (!isBroken) broken = all;
    const bootstraps = await Promise.all(documents.all().filter(isBootstrap).map(checkedBootstrap));
    return new Map([...stable, ...bootstraps]);
  }

  /** Reads what has changed and checks all. */
  async function checkNow(): Checked {
    const checked = checker.check(unsavedTexts());
    latest = { versions: versions(), at: performance.now(), checked };
    return checked;
  }

  /** The latest check, where no text has changed since: an editor asks many things at one place. */
  async function checkIfChanged(): Checked {
    const isFresh = latest?.versions === versions() && performance.now() - latest.at < freshMs;
    return isFresh && latest !== undefined ? latest.checked : checkNow();
  }

  function versions(): string {
    return documents
      .all()
      .map(({ uri, version }) => `${uri} ${version}`)
      .join("\n");
  }

  async function checkedBootstrap(
    document: TextDocument,
  ): Promise<readonly [string, readonly Diagnostic[]]> {
    const file = fileOf(document.uri);
    const { problems, warnings } = await checkBootstrap({
      file,
      registry,
      text: document.getText(),
    });
    const found = [...diagnosticsOf(problems, "error"), ...diagnosticsOf(warnings, "warning")];
    return [document.uri, found.map(({ diagnostic }) => diagnostic)];
  }

  /** A file outside of the folder that begins as a configuration of Envoy does. */
  function isBootstrap(document: TextDocument): boolean {
    return (
      !isInFolder(document.uri) &&
      /\.(?:ya?ml|json)$/i.test(document.uri) &&
      /^[\s{]*"?(?:static_resources|dynamic_resources|staticResources|dynamicResources)"?\s*:/m.test(
        document.getText(),
      )
    );
  }

  function isInFolder(uri: string): boolean {
    return fileOf(uri).startsWith(dir + sep);
  }

  function unsavedTexts(): ReadonlyMap<string, string> {
    const inFolder = documents.all().filter(({ uri }) => isInFolder(uri));
    return new Map(inFolder.map((document) => [fileOf(document.uri), document.getText()]));
  }

  function textOf(file: string): string | undefined {
    return documents.get(uriOf(file))?.getText();
  }

  /** Editors escape more characters of a path than Node does. */
  function uriOf(file: string): string {
    return documents.keys().find((uri) => fileOf(uri) === file) ?? pathToFileURL(file).href;
  }

  /** The names that a document can use. A bootstrap to which no server gives resources has only its own. */
  async function namesFor(
    uri: string,
  ): Promise<{ readonly names: KnownNames; readonly document: TextDocument | undefined }> {
    const document = documents.get(uri);
    const bootstraps = documents.all().filter(isBootstrap);
    const own = bootstraps.find((one) => one === document);
    if (own === undefined && !isInFolder(uri)) return { names: known([], []), document: undefined };
    if (own !== undefined && !bootstrapOf(own).isDynamic)
      return { names: known([], bootstrapOf(own).names), document };
    const { names } = await checkIfChanged();
    const dynamic = bootstraps.map(bootstrapOf).filter(({ isDynamic }) => isDynamic);
    return {
      names: known(
        names,
        dynamic.flatMap((one) => one.names),
      ),
      document,
    };
  }

  function known(
    folder: readonly NamedResource[],
    bootstraps: readonly NamedResource[],
  ): KnownNames {
    return knownNames({ folder, bootstraps, namesIn, textOf });
  }

  function bootstrapOf(document: TextDocument): BootstrapNames {
    const kept = readBootstraps.get(document);
    if (kept?.version === document.version) return kept.names;
    const names = readBootstrap(fileOf(document.uri), document.getText());
    readBootstraps.set(document, { version: document.version, names });
    return names;
  }

  function namesIn(file: string, text: string): readonly NamedResource[] {
    return file.startsWith(dir + sep)
      ? checker.namesIn(file, text)
      : readBootstrap(file, text).names;
  }

  /** The names that a place is about: those to which the value refers, or that of a resource of the file. */
  async function subjectsAt(uri: string, position: Position): Promise<Subjects> {
    const { names, document } = await namesFor(uri);
    if (document === undefined) return { names, document, scalar: undefined, subjects: [] };
    const [file, text] = [fileOf(uri), document.getText()];
    const offset = document.offsetAt(position);
    const scalar = scalarAt(text, offset);
    const referred = names.referredAt(file, text, offset);
    const subjects = isInFolder(uri)
      ? inFolder()
      : scalar === undefined
        ? []
        : await inBootstrap(scalar);
    return { names, document, scalar, subjects };

    function inFolder(): readonly NameInFile[] {
      const own = names.all.filter((one) => one.file === file);
      const isFirstLine = position.line === firstLine(text) && own.length === 1;
      const named = own.filter(({ name, aliases }) =>
        scalar === undefined ? isFirstLine : [name, ...aliases].includes(scalar.value),
      );
      const isOwn = named.length > 0 && scalar?.value === named[0]?.name;
      const found = referred.length > 0 && !isOwn ? referred : named;
      return found.length > 0 ? found : referred;
    }

    /** A static resource where its name is; equal texts elsewhere may be references. */
    async function inBootstrap({ value, start }: TextScalar): Promise<readonly NameInFile[]> {
      const own = names.all.filter((one) => one.file === file && one.name === value);
      const places = await Promise.all(own.map(async (one) => names.definitionOf(one)));
      const named = own.filter((_, index) => places[index]?.scalar?.start === start);
      return named.length > 0 ? named : referred;
    }
  }

  /** Where a file refers to a name; the resource itself where it does so without writing the name. */
  async function placesIn(
    names: KnownNames,
    file: string,
    name: NameInFile,
  ): Promise<readonly Occurrence[]> {
    const found = await names.occurrencesIn(file, name);
    if (found.length > 0) return found;
    const referring = names.referrersOf(name).filter((one) => one.file === file);
    return Promise.all(referring.map(async (one) => names.definitionOf(one)));
  }

  function locationOf({ file, text, scalar }: Occurrence): Location {
    const uri = uriOf(file);
    const start = { line: 0, character: 0 };
    if (scalar === undefined) return { uri, range: { start, end: start } };
    return { uri, range: rangeOf(TextDocument.create(uri, "", 0, text), scalar) };
  }

  function diagnosticsOf(
    problems: readonly FolderProblem[],
    severity: "error" | "warning",
  ): readonly { readonly uri: string; readonly diagnostic: Diagnostic }[] {
    return problems.map(({ file, line = 1, column = 1, code, message, hint }) => {
      const uri = uriOf(file);
      const start = { line: line - 1, character: column - 1 };
      const text = textOf(file);
      return {
        uri,
        diagnostic: {
          range: { start, end: text === undefined ? start : endOfValue(text, start) },
          severity: DiagnosticSeverity[severity === "error" ? "Error" : "Warning"],
          source: "xdstp",
          code,
          message: hint === undefined ? message : `${message} (${hint})`,
        },
      };
    });
  }

  function editOf(
    { edits, moves }: Awaited<ReturnType<typeof findRenaming>>,
    newName: string,
  ): WorkspaceEdit {
    const byFile = Map.groupBy(edits, ({ file }) => file);
    return {
      documentChanges: [
        ...[...byFile].map(([file, inFile]) => ({
          textDocument: { uri: uriOf(file), version: documents.get(uriOf(file))?.version ?? null },
          edits: inFile.flatMap((one) =>
            one.scalar === undefined
              ? []
              : [{ range: locationOf(one).range, newText: written(newName, one.scalar) }],
          ),
        })),
        ...moves.map(({ from, to }) => ({
          kind: "rename" as const,
          oldUri: uriOf(from),
          newUri: pathToFileURL(to).href,
        })),
      ],
    };
  }
}

type Checked = ReturnType<ReturnType<typeof createFolderChecker>["check"]>;

/** Files that are not open may have changed without a notification, since not every editor watches them. */
const freshMs = 2_000;

/** What a place in a document is about. */
interface Subjects {
  readonly names: KnownNames;
  readonly document: TextDocument | undefined;
  readonly scalar: TextScalar | undefined;
  readonly subjects: readonly NameInFile[];
}

function hoverText(names: KnownNames, name: NameInFile, dir: string): string {
  const resources = names.resourcesOf(name);
  const count = names.referrersOf(name).length;
  const places = resources.map(({ file }) => `in ${shown(file, dir)}`);
  const referrers = count === 1 ? "1 resource refers to it" : `${count} resources refer to it`;
  const where = places.length === 0 ? "not defined here" : places.join(", ");
  return `${typeText(name.typeUrl)} \`${name.name}\`: ${where}; ${referrers}`;
}

/** A file as people see it: by its path from the directory that has the folder. */
function shown(file: string, dir: string): string {
  return relative(dirname(dir), file);
}

function fileOf(uri: string): string {
  return uri.startsWith("file:") ? fileURLToPath(uri) : uri;
}

function rangeOf(document: TextDocument, { start, end }: TextScalar): Range {
  return { start: document.positionAt(start), end: document.positionAt(end) };
}

/** The end of the key or value that begins at a place. */
function endOfValue(text: string, start: Position): Position {
  const rest = text.split("\n", start.line + 1)[start.line]?.slice(start.character) ?? "";
  const length = /^(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^\s,:[\]{}]+(?:[.:/][^\s,[\]{}]+)*)/.exec(
    rest,
  )?.[0].length;
  return { line: start.line, character: start.character + (length ?? rest.trimEnd().length) };
}
