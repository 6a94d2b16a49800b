import type { FileStats, FileSystem, OpenFile } from "@xdstp/transport-file/client";
import type { WritableFiles } from "@xdstp/transport-file/server";
import { dirname, resolve } from "node:path/posix";

/** A file, a directory or a symbolic link. It may have several paths, or none any more. */
interface Inode {
  readonly ino: number;
  readonly born: number;
  changed: number;
  content:
    | { readonly kind: "file"; bytes: Uint8Array }
    | { readonly kind: "directory"; readonly entries: Map<string, Inode> }
    | { readonly kind: "link"; readonly target: string };
}

type Listener = (name: string) => void;

/** The number of links in a path after which it is taken for a loop. */
const MOST_LINKS = 40;
/** The greatest number of bytes that one call reads, so that a file may change while it is read. */
const CHUNK = 200;

/**
 * A file system in memory, as POSIX describes it: a rename replaces in one step, an open file stays
 * what it is, and a write in place is seen by those who read.
 */
export class MemoryFiles {
  readonly #root: Inode;
  readonly #listeners = new Map<Inode, Set<Listener>>();
  #inodes = 0;
  #changes = 0;

  readonly #onChange: () => void;

  /** @param onChange - Called after each change */
  constructor(onChange: () => void) {
    this.#onChange = onChange;
    this.#root = this.#create({ kind: "directory", entries: new Map() });
  }

  mkdir(path: string): void {
    if (path === "/" || this.#find(path) !== undefined) return;
    this.mkdir(dirname(path));
    this.#put(path, this.#create({ kind: "directory", entries: new Map() }));
  }

  /** Writes a file in its place, or a part of it. */
  write(path: string, bytes: Uint8Array): void {
    const known = this.#find(path);
    const real = this.#resolve(path, 0);
    if (known?.content.kind !== "file") {
      this.#put(real, this.#create({ kind: "file", bytes }));
      return;
    }
    known.content.bytes = bytes;
    this.#touch(known);
    this.#notify(this.#inode(dirname(real)), nameOf(real));
  }

  link(path: string, target: string): void {
    this.#put(path, this.#create({ kind: "link", target }));
  }

  rename(from: string, to: string): void {
    const { entries } = this.#directory(dirname(from));
    const moved = entries.get(nameOf(from));
    if (moved === undefined) throw errorOf("ENOENT", from);
    const parent = this.#inode(dirname(from));
    entries.delete(nameOf(from));
    this.#touch(moved);
    this.#put(to, moved);
    this.#notify(parent, nameOf(from));
  }

  /** Removes a file or a directory with all that is in it, if it exists. */
  remove(path: string): void {
    const parent = this.#find(dirname(path));
    if (parent?.content.kind !== "directory") return;
    if (parent.content.entries.delete(nameOf(path))) this.#notify(parent, nameOf(path));
  }

  /** Returns true for a path that is a link itself. */
  isLink(path: string): boolean {
    return this.#unfollowed(path)?.content.kind === "link";
  }

  names(path: string): readonly string[] {
    return [...this.#directory(path).entries.keys()];
  }

  text(path: string): string | undefined {
    const found = this.#find(path);
    return found?.content.kind === "file"
      ? new TextDecoder().decode(found.content.bytes)
      : undefined;
  }

  /** Calls back with the name of each entry of a directory that changes. Throws if it does not exist. */
  watch(path: string, listener: Listener): () => void {
    const inode = this.#inode(path);
    const listeners = this.#listeners.get(inode) ?? new Set();
    this.#listeners.set(inode, listeners.add(listener));
    return () => {
      listeners.delete(listener);
    };
  }

  stat(path: string): FileStats {
    const { ino, born, changed, content } = this.#inode(path);
    const size = content.kind === "file" ? content.bytes.length : 0;
    const time = BigInt(changed);
    return {
      dev: 1n,
      ino: BigInt(ino),
      size: BigInt(size),
      mtimeNs: time,
      ctimeNs: time,
      birthtimeNs: BigInt(born),
      isFile: () => content.kind === "file",
    };
  }

  readlink(path: string): string {
    const found = this.#unfollowed(path);
    if (found?.content.kind !== "link") throw errorOf("EINVAL", path);
    return found.content.target;
  }

  realpath(path: string): string {
    const real = this.#resolve(path, 0);
    if (this.#entry(real) === undefined) throw errorOf("ENOENT", path);
    return real;
  }

  readdir(path: string): Awaited<ReturnType<FileSystem["readdir"]>> {
    return Array.from(this.#directory(path).entries, ([name, { content }]) => ({
      name,
      isDirectory: () => content.kind === "directory",
    }));
  }

  /** Opens a file. `pause` comes before each reading. */
  open(path: string, pause: () => Promise<void>, opened: { count: number }): OpenFile {
    const { content } = this.#inode(path);
    if (content.kind !== "file") throw errorOf("EISDIR", path);
    let at = 0;
    opened.count++;
    return {
      read: async (buffer) => {
        await pause();
        const part = content.bytes.subarray(at, at + Math.min(CHUNK, buffer.length));
        buffer.set(part);
        at += part.length;
        return part.length;
      },
      close: async () => {
        opened.count--;
        return Promise.resolve();
      },
    };
  }

  /** The operations of a process, each of which takes some time. `opened` counts the files that it has open. */
  of(pause: () => Promise<void>, opened = { count: 0 }): WritableFiles {
    const after = async <T>(run: () => T): Promise<T> => {
      await pause();
      return run();
    };
    return {
      stat: async (path) => after(() => this.stat(path)),
      readlink: async (path) => after(() => this.readlink(path)),
      realpath: async (path) => after(() => this.realpath(path)),
      readdir: async (path) => after(() => this.readdir(path)),
      open: async (path) => after(() => this.open(path, pause, opened)),
      mkdir: async (path) =>
        after(() => {
          this.mkdir(path);
        }),
      write: async (path, content) => {
        const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
        await after(() => {
          this.write(path, bytes.subarray(0, bytes.length / 2));
        });
        await after(() => {
          this.write(path, bytes);
        });
      },
      rename: async (from, to) =>
        after(() => {
          this.rename(from, to);
        }),
      rm: async (path) =>
        after(() => {
          this.remove(path);
        }),
      syncDirectory: async () => after(() => undefined),
    };
  }

  #create(content: Inode["content"]): Inode {
    const born = this.#time();
    return { ino: ++this.#inodes, born, changed: born, content };
  }

  /** Counts the changes, so that no two of them have the same time. */
  #time(): number {
    return ++this.#changes;
  }

  #touch(inode: Inode): void {
    inode.changed = this.#time();
  }

  #put(path: string, inode: Inode): void {
    const parent = this.#inode(dirname(path));
    if (parent.content.kind !== "directory") throw errorOf("ENOTDIR", path);
    parent.content.entries.set(nameOf(path), inode);
    this.#touch(parent);
    this.#notify(parent, nameOf(path));
  }

  #notify(directory: Inode, name: string): void {
    this.#onChange();
    for (const listener of [...(this.#listeners.get(directory) ?? [])]) listener(name);
  }

  /** The path without links in it. Its last entry may not exist. */
  #resolve(path: string, links: number): string {
    if (path === "/") return path;
    if (links > MOST_LINKS) throw errorOf("ELOOP", path);
    const parent = this.#resolve(dirname(path), links);
    const here = resolve(parent, nameOf(path));
    const found = this.#entry(here);
    return found?.content.kind === "link"
      ? this.#resolve(resolve(parent, found.content.target), links + 1)
      : here;
  }

  /** The entry at a path without links but at its end. */
  #entry(path: string): Inode | undefined {
    if (path === "/") return this.#root;
    const parent = this.#entry(dirname(path));
    if (parent === undefined) return undefined;
    return parent.content.kind === "directory"
      ? parent.content.entries.get(nameOf(path))
      : undefined;
  }

  /** Returns the entry at a path. A link at the end of the path is not followed. */
  #unfollowed(path: string): Inode | undefined {
    return this.#entry(resolve(this.#resolve(dirname(path), 0), nameOf(path)));
  }

  #find(path: string): Inode | undefined {
    return this.#entry(this.#resolve(path, 0));
  }

  #inode(path: string): Inode {
    const found = this.#find(path);
    if (found === undefined) throw errorOf("ENOENT", path);
    return found;
  }

  #directory(path: string): Extract<Inode["content"], { readonly kind: "directory" }> {
    const { content } = this.#inode(path);
    if (content.kind !== "directory") throw errorOf("ENOTDIR", path);
    return content;
  }
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

function errorOf(code: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${path}`), { code });
}
