import {
  createFakeClock,
  createSeededRandom,
  type FakeClock,
  type SeededRandom,
} from "@xdstp/testing";
import { envoyTypes } from "@xdstp/resource-types";
import type { WritableFiles } from "@xdstp/transport-file/server";
import { createFileExport, type FileExport } from "@xdstp/transport-file/server";

import type { Scenario } from "../../run-scenario.ts";
import type { Report } from "../../violation.ts";
import { Replica } from "../replica.ts";
import { Store } from "../store.ts";
import type { ViewInvariants } from "../watch-view.ts";
import { createWireWorld, type Rest, type WireParts } from "../wire-world.ts";
import { describeFileDeed, drawFilesRound, type FileDeed } from "./file-deeds.ts";
import type { FilesDefect } from "./file-defects.ts";
import {
  EXPORT_DIR,
  EXPORT_FILE,
  fileNames,
  nativePath,
  NATIVE_DIR,
  nativeText,
  type Place,
  places,
  putsOf,
  registry,
  responseText,
  textsIn,
  VOLUME_DIR,
  VOLUME_FILE,
} from "./file-places.ts";
import { createFileReader, type FileReader, type WatchFiles } from "./file-reader.ts";
import { MemoryFiles } from "./memory-files.ts";
import { FileView, Published } from "./published.ts";

export interface FilesWorldOptions {
  readonly seed: number;
  /** Default: none. */
  readonly defect?: () => FilesDefect;
  /** Sees each change of what a reader shows. */
  readonly onLine?: (line: string) => void;
}

/** The names of the invariants. */
export const filesInvariants: ViewInvariants & { readonly whole: string; readonly closed: string } =
  {
    neverBack: "a reader never shows an older state of a file [C-FILE-2] [C-NFILE-5]",
    lastGoodState:
      "a reader shows states of whole files only, and keeps the last one [C-FILE-3] [C-FILE-5] [C-NFILE-8]",
    removalIsSeen: "a removal is seen [C-FILE-4] [C-NFILE-5]",
    nothingIsLost: "when the faults end every watch shows what its file has [C-FILE-2] [C-NFILE-5]",
    whole: "a file that is exported is whole at each moment [B-FILE-6]",
    closed: "a reader leaves no file open [C-FILE-2]",
  };

/** An export and its reader, a volume of Kubernetes and its reader, and a directory of files with one resource each. */
export function filesScenario(options: FilesWorldOptions): Scenario<FileDeed> {
  const random = createSeededRandom(options.seed);
  return {
    createWorld: () => {
      const clock = createFakeClock({ start: 1_000_000 });
      return createWireWorld(clock, (report) => new FilesWorld(options, clock, report));
    },
    createRounds: () => {
      const draws = random.fork(3);
      return () => drawFilesRound(draws);
    },
    rest: { kind: "rest" },
    describe: describeFileDeed,
  };
}

interface Reading {
  readonly reader: FileReader;
  readonly views: Map<string, FileView>;
  readonly opened: { count: number };
}

class FilesWorld implements WireParts<FileDeed> {
  readonly #options: FilesWorldOptions;
  readonly #defect: FilesDefect;
  readonly #clock: FakeClock;
  readonly #random: SeededRandom;
  readonly #report: Report;
  readonly #files: MemoryFiles;
  readonly #stores = new Map(places.map((place) => [place, new Store()]));
  readonly #published = new Map<string, Published>();
  readonly #exported: Replica;
  readonly #readings: ReadonlyMap<Place, Reading>;
  readonly #writer: WritableFiles;
  readonly #until = new Map<string, number>();
  /** The writes to a place, one after the other. */
  readonly #queues = new Map<Place, Promise<void>>();
  #export: { readonly process: FileExport; isDead: boolean } | undefined;
  #volumes = 0;

  constructor(options: FilesWorldOptions, clock: FakeClock, report: Report) {
    const random = createSeededRandom(options.seed);
    this.#options = options;
    this.#defect = options.defect?.() ?? {};
    this.#clock = clock;
    this.#random = random.fork(2);
    this.#report = report;
    this.#files = new MemoryFiles(() => {
      this.#publish();
    });
    for (const dir of [EXPORT_DIR, VOLUME_DIR, NATIVE_DIR]) this.#files.mkdir(dir);
    this.#files.link(VOLUME_FILE, "..data/cds.json");
    this.#writer = this.#files.of(() => this.#pause());
    this.#exported = new Replica({
      name: "export",
      clock,
      store: this.#storeOf("export"),
      types: envoyTypes,
      putsOf,
    });
    this.#exported.start();
    this.#startExport();
    this.#readings = new Map(
      places.map((place, index) => {
        const opened = { count: 0 };
        const files = this.#files.of(() => this.#pause(), opened);
        const reader = createFileReader({
          place,
          clock,
          random: random.fork(10 + index),
          files: this.#defect.files?.(files) ?? files,
          watch: this.#defect.watch ?? this.#watchDirectory,
        });
        return [place, { reader, views: new Map<string, FileView>(), opened }];
      }),
    );
  }

  do(deed: Exclude<FileDeed, Rest>): void {
    switch (deed.kind) {
      case "put":
      case "remove":
        this.#change(deed);
        break;
      case "watch":
        this.#watch(deed.place, deed.name);
        break;
      case "unwatch": {
        const { views, reader } = this.#readingOf(deed.place);
        if (views.delete(deed.name)) reader.unwatch(deed.name);
        break;
      }
      case "delete":
        this.#damage(deed.place, async (path) => this.#writer.rm(path), deed.name);
        break;
      case "break":
        this.#damage(
          deed.place,
          async (path) => this.#writer.write(path, '{ "resources": [', 0o666),
          deed.name,
        );
        break;
      case "crash":
        this.#startExport();
        break;
      default:
        this.#until.set(deed.kind, this.#clock.now() + deed.ms);
    }
  }

  calm(): void {
    this.#until.clear();
    this.#write("volume", fileNames[0] ?? "", false);
    for (const name of fileNames) this.#write("native", name, false);
  }

  look(): void {
    for (const [place, { reader, views }] of this.#readings)
      for (const [name, view] of views) {
        const shown = reader.shown(name);
        view.shows(shown);
        this.#options.onLine?.(`${place} ${name} ${JSON.stringify(shown)}`);
      }
  }

  isSettled(report: boolean): boolean {
    const isOpen = [...this.#readings].find(
      ([, { views, opened }]) => views.size === 0 && opened.count > 0,
    );
    if (isOpen !== undefined && report)
      this.#report(
        filesInvariants.closed,
        `the reader of ${isOpen[0]} has files open, and no watch`,
      );
    return (
      isOpen === undefined &&
      [...this.#readings].every(([place, { views }]) =>
        [...views].every(([name, view]) => view.endsAs(this.#storeOf(place).at(name), report)),
      )
    );
  }

  close(): void {
    for (const { reader } of this.#readings.values()) reader.close();
    this.#exported.stop();
    void this.#export?.process.close();
  }

  #storeOf(place: Place): Store {
    return this.#stores.get(place) ?? new Store();
  }

  #readingOf(place: Place): Reading {
    const reading = this.#readings.get(place);
    if (reading === undefined) throw new Error(`${place} has no reader`);
    return reading;
  }

  #publishedOf(place: Place, name: string): Published {
    const key = `${place} ${name}`;
    const known = this.#published.get(key) ?? new Published();
    this.#published.set(key, known);
    return known;
  }

  #watch(place: Place, name: string): void {
    const { reader, views } = this.#readingOf(place);
    if (views.has(name)) return;
    reader.watch(name);
    const published = this.#publishedOf(place, name);
    const label = `the reader of ${place}: ${name}`;
    views.set(
      name,
      new FileView(
        { label, invariants: filesInvariants, published },
        this.#report,
        reader.shown(name),
      ),
    );
  }

  #change({
    kind,
    place,
    name,
    inPlace,
  }: Extract<FileDeed, { readonly kind: "put" | "remove" }>): void {
    const store = this.#storeOf(place);
    if (kind === "put") store.put(name);
    else store.remove(name);
    if (place === "export") this.#exported.readStore([name]);
    else this.#write(place, name, inPlace);
  }

  /** Writes the present state of a name, after what is being written. */
  #write(place: "volume" | "native", name: string, inPlace: boolean): void {
    this.#enqueue(place, async () =>
      place === "volume" ? this.#writeVolume() : this.#writeNative(name, inPlace),
    );
  }

  #enqueue(place: Place, write: () => Promise<void>): void {
    const before = this.#queues.get(place) ?? Promise.resolve();
    this.#queues.set(place, before.then(write));
  }

  /** As Kubernetes does it: a new directory, and a link to it that is moved to its place. */
  async #writeVolume(): Promise<void> {
    const [directory, link, next] = [
      `..version_${++this.#volumes}`,
      `${VOLUME_DIR}/..data`,
      `${VOLUME_DIR}/..data_tmp`,
    ];
    const store = this.#storeOf("volume");
    const texts = new Map(
      fileNames.flatMap((name) => {
        const { text } = store.at(name);
        return text === undefined ? [] : [[name, text] as const];
      }),
    );
    const old = this.#files.names(VOLUME_DIR).filter((name) => name.startsWith("..version_"));
    await this.#writer.mkdir(`${VOLUME_DIR}/${directory}`);
    await this.#writer.write(`${VOLUME_DIR}/${directory}/cds.json`, responseText(texts), 0o666);
    this.#files.link(next, directory);
    await this.#writer.rename(next, link);
    if (!this.#files.isLink(VOLUME_FILE)) {
      await this.#writer.rm(VOLUME_FILE);
      this.#files.link(VOLUME_FILE, "..data/cds.json");
    }
    for (const name of old) await this.#writer.rm(`${VOLUME_DIR}/${name}`);
  }

  async #writeNative(name: string, inPlace: boolean): Promise<void> {
    const { text } = this.#storeOf("native").at(name);
    const path = nativePath(name);
    if (text === undefined) {
      await this.#writer.rm(path);
      return;
    }
    const temporary = `${NATIVE_DIR}/.${name}.tmp`;
    await this.#writer.write(inPlace ? path : temporary, nativeText(name, text), 0o666);
    if (!inPlace) await this.#writer.rename(temporary, path);
  }

  #damage(place: "volume" | "native", damage: (path: string) => Promise<void>, name: string): void {
    const path = place === "volume" ? VOLUME_FILE : nativePath(name);
    // There may be no file yet.
    this.#enqueue(place, async () => damage(path).catch(() => undefined));
  }

  /** Notes what the files have now. */
  #publish(): void {
    const exported = this.#files.text(EXPORT_FILE);
    if (exported !== undefined) {
      const texts = textsIn(exported);
      if (texts === undefined)
        this.#report(
          filesInvariants.whole,
          `${EXPORT_FILE} has ${exported.length} bytes of a file`,
        );
      else for (const name of fileNames) this.#publishedOf("export", name).note(texts.get(name));
    }
    const volume = textsIn(this.#files.text(VOLUME_FILE) ?? "");
    if (volume !== undefined)
      for (const name of fileNames) this.#publishedOf("volume", name).note(volume.get(name));
    for (const name of fileNames) {
      const file = this.#files.text(nativePath(name));
      const texts = file === undefined ? new Map<string, string>() : textsIn(file);
      if (texts !== undefined) this.#publishedOf("native", name).note(texts.get(name));
    }
  }

  /** Starts a process of the export; the one before crashes, whatever it does. */
  #startExport(): void {
    if (this.#export !== undefined) this.#export.isDead = true;
    const state = { isDead: false };
    const pause = async (): Promise<void> => {
      await this.#pause();
      if (state.isDead) await new Promise(() => undefined);
    };
    const files = this.#files.of(pause);
    const source = this.#exported.cache;
    if (source === undefined) return;
    const process = createFileExport({
      source,
      dir: EXPORT_DIR,
      registry,
      clock: this.#clock,
      files: this.#defect.writer?.(files) ?? files,
    });
    this.#export = Object.assign(state, { process });
  }

  readonly #watchDirectory: WatchFiles = (directory, listener) => {
    if (this.#is("unwatchable")) throw new Error("ENOSPC: no watches are left");
    const end = this.#files.watch(directory, (name) => {
      if (this.#is("deaf")) return;
      const ms = this.#is("late") ? this.#random.below(3_000) : this.#random.below(3);
      this.#clock.after(ms, () => {
        listener("change", name);
      });
    });
    return { on: () => undefined, close: end };
  };

  #is(kind: string): boolean {
    return this.#clock.now() < (this.#until.get(kind) ?? -Infinity);
  }

  #pause(): Promise<void> {
    const ms = this.#is("slow") ? this.#random.below(1_500) : this.#random.below(4);
    return new Promise((resolve) => {
      this.#clock.after(ms, resolve);
    });
  }
}
