import { dirname, relative, sep } from "node:path";
import { pathToFileURL } from "node:url";
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
  type CompletionList,
  type Diagnostic,
  DiagnosticSeverity,
  ErrorCodes,
  type Hover,
  type Location,
  type Position,
  type Range,
  ResponseError,
  type TextDocuments,
  type WorkspaceEdit,
} from "vscode-languageserver/node";
import { TextDocument } from "vscode-languageserver-textdocument";
import { fileOf } from "./file-of-uri.ts";
import {
  isTooLong,
  type KnownNames,
  knownNames,
  type NameInFile,
  type Occurrence,
  typeText,
} from "./known-names.ts";
import { findRenaming, RenameError } from "./rename.ts";
import { firstLine, scalarAt, type TextScalar, written } from "./text-scalars.ts";

/** The folder of resources, and the open documents of the editor over it. */
export interface EditedFolder {
  /** Diagnostics by URI. */
  check(): Promise<ReadonlyMap<string, readonly Diagnostic[]>>;
  definition(uri: string, position: Position): Promise<Location[]>;
  references(uri: string, position: Position, withDefinition: boolean): Promise<Location[]>;
  hover(uri: string, position: Position): Promise<Hover | undefined>;
  completion(uri: string, position: Position): Promise<CompletionItem[] | CompletionList>;
  prepareRename(
    uri: string,
    position: Position,
  ): Promise<{ range: Range; placeholder: string } | undefined>;
  rename(uri: string, position: Position, newName: string): Promise<WorkspaceEdit>;
  /** Resolves when no check is under way. */
  idle(): Promise<void>;
  close(): void;
}

/** Makes an {@link EditedFolder}. */
export function createEditedFolder(
  dir: string,
  registry: Registry,
  documents: TextDocuments<TextDocument>,
): EditedFolder {
  const checker = createFolderChecker({ dir, registry });
  const readBootstrap = createBootstrapReader(registry);
  const readBootstraps = new WeakMap<
    TextDocument,
    { readonly version: number; readonly names: BootstrapNames }
  >();
  /** Kept, since indices of 100,000 names take longer than an answer. */
  let lastKnown:
    | {
        readonly folder: readonly NamedResource[];
        readonly bootstraps: readonly NamedResource[];
        readonly names: KnownNames;
      }
    | undefined;
  let broken: ReadonlyMap<string, readonly Diagnostic[]> = new Map();
  let latest:
    { readonly versions: string; readonly at: number; readonly checked: Checked } | undefined;

  return {
    check,
    async idle() {
      let seen: Checked | undefined;
      while (latest !== undefined && latest.checked !== seen) {
        seen = latest.checked;
        await seen;
      }
    },
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
      const typed = scalar === undefined ? "" : document.getText().slice(scalar.start, offset);
      const isTyped = (label: string): boolean =>
        known.length <= maxItems || label.includes(typed.replace(/^["']/, ""));
      const items = known.flatMap(({ name, aliases, typeUrl, file }) =>
        [name, ...aliases].filter(isTyped).map((label): CompletionItem => ({
          label,
          kind: CompletionItemKind.Reference,
          detail: `${typeText(typeUrl)} in ${shown(file, dir)}`,
          filterText: scalar?.isQuoted === true ? JSON.stringify(label) : label,
          textEdit: { range, newText: written(label, { isQuoted: scalar?.isQuoted ?? false }) },
        })),
      );
      const found = [...new Map(items.map((item) => [item.label, item])).values()];
      return known.length <= maxItems
        ? found
        : { isIncomplete: true, items: found.slice(0, maxItems) };
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
    if (document !== undefined && isTooLong(document.getText()))
      return { names: known([], []), document: undefined };
    const bootstraps = documents
      .all()
      .filter((one) => isBootstrap(one) && !isTooLong(one.getText()));
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
    const isSame =
      lastKnown?.folder === folder &&
      lastKnown.bootstraps.length === bootstraps.length &&
      lastKnown.bootstraps.every((one, index) => one === bootstraps[index]);
    if (lastKnown !== undefined && isSame) return lastKnown.names;
    const names = knownNames({ folder, bootstraps, namesIn, textOf });
    lastKnown = { folder, bootstraps, names };
    return names;
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

  /** The place at which a file refers to a name; the resource itself if it does so without writing the name. */
  async function placesIn(
    names: KnownNames,
    file: string,
    name: NameInFile,
  ): Promise<readonly Occurrence[]> {
    const found = await names.occurrencesIn(file, name);
    if (found !== undefined && found.length > 0) return found;
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
      const document = documents.get(uri);
      return {
        uri,
        diagnostic: {
          range: { start, end: document === undefined ? start : endOfValue(document, start) },
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

/** The number of names that are suggested. With more, the editor requests the names again with each letter. */
const maxItems = 1_000;

/** Files that are not open may have changed without a notification, since not every editor watches them. */
const freshMs = 2_000;

/** The subject of a place in a document. */
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

function rangeOf(document: TextDocument, { start, end }: TextScalar): Range {
  return { start: document.positionAt(start), end: document.positionAt(end) };
}

/** The end of the key or value that begins at a place. */
function endOfValue(document: TextDocument, start: Position): Position {
  const rest = document.getText({ start, end: { line: start.line + 1, character: 0 } }).trimEnd();
  const length = /^(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^\s,:[\]{}]+(?:[.:/][^\s,[\]{}]+)*)/.exec(
    rest,
  )?.[0].length;
  return { line: start.line, character: start.character + (length ?? rest.length) };
}
