import { resolve } from "node:path";

import {
  createNativeFileFeed,
  type NativeFileFeed,
  type NativeFileFeedOptions,
} from "./native-file-feed.ts";

/** A source of names of files, for the option `sources` of `createFederation` of `@xdstp/federation`. */
export interface NativeFileSource {
  /** Names that begin with `file:///`. */
  readonly authorities: readonly ["file://"];
  /** One server: the directory. */
  readonly servers: readonly [
    {
      readonly id: string;
      readonly name: string;
      readonly open: () => { readonly feed: NativeFileFeed; readonly close: () => void };
    },
  ];
}

/**
 * Creates the source of `file:///` names for a federation. Without one, a federation reads no file;
 * with it, entries of lists that come from servers may lead to files below the directory too
 * (C-NFILE-7).
 */
export function createNativeFileSource(options: NativeFileFeedOptions): NativeFileSource {
  const name = `file://${resolve(options.directory)}`;
  return {
    authorities: ["file://"],
    servers: [
      {
        id: name,
        name,
        open: () => ({ feed: createNativeFileFeed(options), close: () => undefined }),
      },
    ],
  };
}
