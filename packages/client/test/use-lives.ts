import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { openSnapshot, type SnapshotEvent, type SnapshotOptions } from "@xdstp/snapshot";
import type { RawServer } from "@xdstp/testing";
import { onTestFinished } from "vitest";

import type { Snapshot, Watch } from "../src/index.ts";
import { turn, useDeltaScript, type Script, type ScriptOptions } from "./use-script.ts";

/** One life of a program with a snapshot. */
export interface Life extends Script<RawServer<"delta">> {
  /** The events of the snapshot. */
  readonly snapshotEvents: readonly SnapshotEvent[];
  /** Resolves when everything so far is on disk. */
  flush(): Promise<void>;
}

/** A directory that is removed after the test. */
export function useDir(): string {
  const dir = mkdtempSync(join(tmpdir(), "xdstp-client-"));
  onTestFinished(() => {
    rmSync(dir, { recursive: true, force: true });
  });
  return dir;
}

/** Returns a function that starts the program again, on the same directory. */
export function useLives(
  dir: string = useDir(),
): (options?: ScriptOptions, more?: Partial<SnapshotOptions>) => Life {
  return (options = {}, more = {}) => {
    const snapshotEvents: SnapshotEvent[] = [];
    const snapshot = openSnapshot({
      dir,
      onEvent: (event) => {
        snapshotEvents.push(event);
      },
      ...more,
    });
    const script = useDeltaScript({ ...options, snapshot });
    return { ...script, snapshotEvents, flush: () => snapshot.flush() };
  };
}

/** Collects what a watch delivers: the value, and the reason or the code of the error. */
export function listen(watch: Watch<Snapshot<string>>): string[] {
  const said: string[] = [];
  void (async () => {
    for await (const { value = "-", error } of watch)
      said.push(error === undefined ? value : `${value} ${error.context.reason ?? error.code}`);
  })();
  return said;
}

/** A resource as a delta server sends it. */
export interface Sent {
  readonly name: string;
  readonly version: string;
  readonly resource: { readonly typeUrl: string; readonly value: Uint8Array };
}

/** Sends a response. */
export async function give(
  server: RawServer<"delta">,
  typeUrl: string,
  {
    put = {},
    remove = [],
  }: { readonly put?: Readonly<Record<string, string>>; readonly remove?: readonly string[] },
): Promise<void> {
  server.send({
    typeUrl,
    nonce: `n${Math.random()}`,
    resources: Object.entries(put).map(([name, text]): Sent => ({
      name,
      version: `v-${text}`,
      resource: { typeUrl, value: Buffer.from(text) },
    })),
    removedResources: [...remove],
  });
  await turn();
  await turn();
}
