import { dirname, resolve } from "node:path";
import type { Registry } from "@bufbuild/protobuf";
import {
  type Clock,
  type Interest,
  InterestMap,
  isSameError,
  type Put,
  type Removal,
  type ResourceFeed,
  type ResourceSink,
  systemClock,
  type Timer,
  type TypedInterest,
  XdsError,
} from "@xdstp/core";
import {
  createDebounce,
  createFolderWatch,
  createPatience,
  type FileSystem,
  followLinks,
  machineFiles,
  repeatEvery,
  type WatchDirectory,
} from "@xdstp/folder/files";
import { printLocator } from "@xdstp/uri";

import { type NativeName, readNativeName } from "./native-path.ts";
import {
  membersOf,
  type NativeContent,
  type NativeReading,
  readNative,
  resourceIn,
} from "./read-native.ts";

/** Options of {@link createNativeFileFeed}. Only `directory` and `registry` are required. */
export interface NativeFileFeedOptions {
  /** The directory that all names lead to, or below. A name or a link that leads out of it is rejected (C-NFILE-7). */
  readonly directory: string;
  /** The types of the resources, for instance `envoyRegistry()` of `@xdstp/protos/envoy`. Binary files need none. */
  readonly registry: Registry;
  /** Milliseconds after which a name without a file counts as missing (C-FILE-5). Default 15,000. */
  readonly fetchMs?: number;
  /** Receives each problem of a name once, and undefined when the name has none any more. It must not throw. */
  readonly onProblem?: (name: string, problem: XdsError | undefined) => void;
  /** Default: the system clock. */
  readonly clock?: Clock;
  /** Watches one directory. If it throws an error, files are compared every 2 seconds. Default: `fs.watch`. */
  readonly watch?: WatchDirectory;
  /** The file system, for tests and for files that are not on a disk. Default: that of the machine. */
  readonly files?: FileSystem;
}

/** A feed for names of files. */
export interface NativeFileFeed extends ResourceFeed {
  /** Changes the subscriptions of a type. */
  want(typeUrl: string, added: readonly Interest[], dropped: readonly Interest[]): void;
}

/**
 * Creates a feed that reads `file:///PATH` names (section 26 of the rules): one file with one
 * resource in a `Resource` message, `file:///DIRECTORY/*` for each file directly in a directory,
 * and `file:///PATH#entry=NAME` for an inline entry of a list. Each change of a file is followed.
 *
 * A file that cannot be read, is invalid, of another type, or was deleted leaves the last valid
 * state in force, and the name is reported as unavailable with the reason (C-NFILE-8). A file that
 * leaves the directory of a glob is removed.
 */
export function createNativeFileFeed(options: NativeFileFeedOptions): NativeFileFeed {
  return new Feed(options);
}

type Want = Parameters<NativeFileFeed["want"]>;

/**
 * The phase of a feed.
 *
 * ```
 * new ──run──► running ──abort──► ended
 * ```
 */
type Phase =
  | { readonly kind: "new"; readonly early: Want[] }
  | { readonly kind: "running"; readonly wake: () => void }
  | { readonly kind: "ended" };

/** A subscribed name. */
interface Wanted {
  readonly typeUrl: string;
  readonly interest: Interest;
  /** An error: it can never be read. */
  readonly target: NativeName | XdsError;
  /** The newest content of each file, by the name of the member; a single name has one. */
  readonly read: Map<string, ReadMember>;
  /** The names that the sink has. */
  readonly held: Set<string>;
  reported: XdsError | undefined;
  /** Ends the wait for a file that does not exist. */
  deadline: Timer | undefined;
  isLate: boolean;
  isSettled: boolean;
}

/** The content of one file. */
interface ReadMember {
  readonly content: NativeContent;
  /** The reason why it is not used. undefined: it is. */
  readonly fault: XdsError | undefined;
}

/** A burst of changes ends when nothing has changed for `quietMs`, but at most `maxMs` after its first change; in milliseconds. */
const burst = { quietMs: 50, maxMs: 1_000 };
/** The interval in milliseconds in which files are compared, for changes without a notification. */
const checkMs = 2_000;

class Feed implements NativeFileFeed {
  readonly #options: NativeFileFeedOptions;
  readonly #clock: Clock;
  readonly #wanted = new InterestMap<Wanted>();
  #phase: Phase = { kind: "new", early: [] };

  constructor(options: NativeFileFeedOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  want(typeUrl: string, added: readonly Interest[], dropped: readonly Interest[]): void {
    const phase = this.#phase;
    if (phase.kind === "ended") return;
    if (phase.kind === "new") {
      phase.early.push([typeUrl, added, dropped]);
      return;
    }
    for (const interest of dropped) {
      this.#wanted.get(typeUrl, interest, interest.name)?.deadline?.cancel();
      this.#wanted.delete(typeUrl, interest, interest.name);
    }
    for (const interest of added)
      this.#wanted.set(typeUrl, interest, interest.name, this.#begin(typeUrl, interest));
    phase.wake();
  }

  async run(sink: ResourceSink, signal: AbortSignal): Promise<void> {
    const { directory, registry, watch, files = machineFiles } = this.#options;
    const early = this.#phase.kind === "new" ? this.#phase.early : [];
    const changes = createDebounce({ clock: this.#clock, ...burst });
    // A file system that hangs is noticed by the clock of the machine.
    const patience = createPatience(systemClock);
    const watched = createFolderWatch({
      root: resolve(directory),
      patience,
      onChange: changes.touch,
      files,
      ...(watch && { watch }),
    });
    this.#phase = { kind: "running", wake: changes.flush };
    for (const change of early) this.want(...change);
    const timer = repeatEvery(this.#clock, checkMs, async () => {
      changes.flush();
      return Promise.resolve();
    });
    try {
      while (!signal.aborted) {
        for (const [folder, names] of await followLinks(this.#paths(), files))
          await watched.add(folder, names);
        for (const { target } of this.#wanted)
          if (!(target instanceof XdsError) && target.isGlob) await watched.add(target.path);
        await this.#read(sink, { directory, registry, patience, files });
        watched.sweep();
        await changes.next(signal);
      }
    } finally {
      timer.cancel();
      changes.cancel();
      watched.close();
      this.#phase = { kind: "ended" };
      for (const { deadline } of this.#wanted) deadline?.cancel();
    }
  }

  #begin(typeUrl: string, interest: Interest): Wanted {
    const { directory } = this.#options;
    let target: Wanted["target"];
    try {
      target = readNativeName(interest.name, directory);
    } catch (error) {
      target = XdsError.from(error);
    }
    return {
      typeUrl,
      interest,
      target,
      read: new Map(),
      held: new Set(),
      reported: undefined,
      deadline: undefined,
      isLate: false,
      isSettled: false,
    };
  }

  /** The paths whose links decide what is read. */
  #paths(): readonly string[] {
    const paths = [this.#options.directory];
    for (const { target } of this.#wanted)
      if (!(target instanceof XdsError))
        paths.push(target.isGlob ? dirname(`${target.path}/x`) : target.path);
    return paths;
  }

  /** Reads all subscribed names, and gives the sink what has changed as one transaction. */
  async #read(sink: ResourceSink, reading: NativeReading): Promise<void> {
    const changed = new Changes();
    for (const wanted of [...this.#wanted]) {
      const { target } = wanted;
      if (target instanceof XdsError) changed.report(wanted, target);
      else if (target.isGlob) await this.#readGlob(wanted, target, reading, changed);
      else await this.#readFile(wanted, target, reading, changed);
    }
    if (this.#phase.kind === "running") changed.commit(sink, this.#options.onProblem);
  }

  async #readFile(
    wanted: Wanted,
    target: NativeName,
    reading: NativeReading,
    changed: Changes,
  ): Promise<void> {
    const { name } = wanted.interest;
    const { content, fault } = await readMember(wanted, { name, ...target }, reading, changed);
    if (content.kind !== "missing") {
      wanted.deadline?.cancel();
      wanted.deadline = undefined;
      wanted.isLate = false;
      changed.report(wanted, fault);
      return;
    }
    const error = new XdsError("NOT_FOUND", `${target.path} does not exist`, { resource: name });
    if (wanted.held.size > 0) changed.report(wanted, error);
    else if (wanted.isLate) changed.remove(wanted, name, error);
    else
      wanted.deadline ??= this.#clock.after(this.#options.fetchMs ?? 15_000, () => {
        wanted.isLate = true;
        if (this.#phase.kind === "running") this.#phase.wake();
      });
  }

  async #readGlob(
    wanted: Wanted,
    target: NativeName,
    reading: NativeReading,
    changed: Changes,
  ): Promise<void> {
    const { name } = wanted.interest;
    const files = await membersOf(target.path, name, reading);
    if (files === undefined || files instanceof XdsError) {
      changed.report(
        wanted,
        files ?? new XdsError("NOT_FOUND", `${target.path} does not exist`, { resource: name }),
      );
      return;
    }
    let problem: XdsError | undefined;
    const members = new Set<string>();
    for (const file of files) {
      const path = resolve(target.path, file);
      const member = printLocator({ scheme: "file", id: path.slice(1), directives: [] });
      members.add(member);
      const { fault } = await readMember(
        wanted,
        { name: member, path, entry: undefined },
        reading,
        changed,
      );
      problem ??= fault;
    }
    for (const member of [...wanted.held])
      if (!members.has(member)) {
        changed.remove(wanted, member, undefined);
        wanted.read.delete(member);
      }
    changed.settle(wanted);
    changed.report(wanted, problem);
  }
}

/** Reads one file, and gives it to the sink if it has changed. */
async function readMember(
  wanted: Wanted,
  { name, path, entry }: { readonly name: string } & Pick<NativeName, "path" | "entry">,
  reading: NativeReading,
  changed: Changes,
): Promise<ReadMember> {
  const before = wanted.read.get(name);
  const content = await readNative(path, name, before?.content, reading);
  if (before?.content === content) return before;
  const read = { content, fault: changed.give(wanted, name, content, entry) };
  wanted.read.set(name, read);
  return read;
}

/** The changes of one reading. */
class Changes {
  readonly #put = new Map<string, Put>();
  readonly #remove = new Map<string, Removal>();
  readonly #settled: TypedInterest[] = [];
  readonly #reports: (readonly [Wanted, XdsError | undefined])[] = [];

  /** Puts a resource. Returns the reason why there is none to put. */
  give(
    wanted: Wanted,
    name: string,
    content: NativeContent,
    entry: string | undefined,
  ): XdsError | undefined {
    const { typeUrl } = wanted;
    if (content.kind === "invalid") return content.error;
    if (content.kind === "missing") return undefined;
    const resource = resourceIn(content.file, { typeUrl, name, entry });
    if (resource instanceof XdsError) return resource;
    this.#put.set(`${typeUrl} ${name}`, { typeUrl, resource });
    wanted.held.add(name);
    return undefined;
  }

  remove({ typeUrl, held }: Wanted, name: string, error: XdsError | undefined): void {
    this.#remove.set(`${typeUrl} ${name}`, { typeUrl, name, ...(error && { error }) });
    held.delete(name);
  }

  /** Says once that all members of a glob are known. */
  settle(wanted: Wanted): void {
    if (wanted.isSettled) return;
    wanted.isSettled = true;
    this.#settled.push({ typeUrl: wanted.typeUrl, interest: wanted.interest });
  }

  report(wanted: Wanted, error: XdsError | undefined): void {
    this.#reports.push([wanted, error]);
  }

  commit(sink: ResourceSink, onProblem: NativeFileFeedOptions["onProblem"]): void {
    const put = [...this.#put.values()];
    // A file that two names lead to may be put by one and removed by the other.
    const remove = [...this.#remove].flatMap(([key, removal]) =>
      this.#put.has(key) ? [] : [removal],
    );
    // A resource that comes when a problem ends is not shown as stale.
    this.#say(sink, onProblem, (error) => error === undefined);
    if (put.length + remove.length + this.#settled.length > 0)
      sink.commit({ put, remove, settled: this.#settled });
    this.#say(sink, onProblem, (error) => error !== undefined);
  }

  #say(
    sink: ResourceSink,
    onProblem: NativeFileFeedOptions["onProblem"],
    isDue: (error: XdsError | undefined) => boolean,
  ): void {
    for (const [wanted, error] of this.#reports) {
      if (!isDue(error) || isSameError(wanted.reported, error)) continue;
      wanted.reported = error;
      sink.unavailable({ typeUrl: wanted.typeUrl, interest: wanted.interest }, error);
      onProblem?.(wanted.interest.name, error);
    }
  }
}
