import type { FolderProblem } from "./folder-problem.ts";

/** An event of a folder feed; see {@link FolderFeedOptions.onEvent}. */
export type FolderEvent =
  /** The cache has the resources of the folder, except invalid ones. */
  | {
      /** The folder was read, and its state is served. */
      readonly kind: "loaded";
      /** The number of files that were read, without hidden and temporary ones. */
      readonly files: number;
      /** The number of resources that are served. */
      readonly resources: number;
      /** The number of these resources whose version is older than that in the folder, because the newer one is invalid or rejected. Resources that are kept because their file is invalid count too. 0 without `partial`. */
      readonly older: number;
      /** The revision of the cache. It is unchanged if the batch changed no resource. */
      readonly revision: number;
      /** The number of resources that this batch added or changed. */
      readonly put: number;
      /** The number of resources that this batch removed. */
      readonly removed: number;
      /** With `partial`, the invalid resources and files. The resources that were loaded from these files before stay, unless a valid resource has their name now. Empty without `partial`. */
      readonly problems: readonly FolderProblem[];
      /** Likely mistakes that do no harm, for instance a file with an extension that is not read. */
      readonly warnings: readonly FolderProblem[];
    }
  /** The batch is not applied, because something in it is invalid. */
  | {
      /** The folder was read and is invalid. Nothing of this reading is served. */
      readonly kind: "rejected";
      /** The problems in the order of the file names; at least one. */
      readonly problems: readonly FolderProblem[];
      /** true: the state before is still served. false: nothing was ever loaded, and the cache is not ready (S-STREAM-9). */
      readonly serving: boolean;
    }
  /** The folder looks as if it were lost, so the state before is still served. */
  | {
      /** The last valid state is kept, since the loss may be an accident. */
      readonly kind: "kept";
      /**
       * The kind of loss.
       * `emptied`: the folder, or a volume mounted in it, is empty, whatever the number of its resources was.
       * `unmounted`: a volume is no longer mounted, and the directory under it has resources of its own.
       * `mass-delete`: more than half of over 100 resources are missing.
       * `root-vanished`: the folder does not exist any more.
       * `unreadable`: the folder cannot be read.
       */
      readonly reason: "root-vanished" | "unreadable" | "emptied" | "unmounted" | "mass-delete";
      /** The folder, or the volume in it that is empty or not mounted. The path begins as the folder was given. */
      readonly directory: string;
      /** One line with the folder, the loss, and what to do. */
      readonly message: string;
      /** The number of resources that are served. */
      readonly held: number;
      /** The number of these resources that the folder does not have any more. */
      readonly lost: number;
    }
  /** The folder itself cannot be read, and nothing was ever loaded, so the cache is not ready (S-STREAM-9). It is tried again every second. */
  | {
      /** The folder cannot be read. */
      readonly kind: "unreadable";
      /** The reason why it cannot be read. */
      readonly problem: FolderProblem;
    }
  /** The system cannot watch some directories, so the folder is read again every 2 seconds. */
  | {
      /** The folder cannot be watched, so it is read again every 2 s. */
      readonly kind: "polling";
      /** One line with the reason and what to do. */
      readonly message: string;
    }
  /**
   * A resource refers to an xdstp name of an authority that is not served here (S-AUTH-10). The resource is served, since clients may have another server for the authority.
   * Each reference is reported once while it exists. If there are more than 20 new ones at once, 20 are reported, and the last event has the number of the others.
   */
  | {
      /** A resource refers to a name of an authority that the folder does not have. */
      readonly kind: "foreign-reference";
      /** The file with the reference, and what to do. */
      readonly problem: FolderProblem;
      /** The type URL of the resource that is referred to. */
      readonly typeUrl: string;
      /** The name that is referred to. */
      readonly name: string;
      /** The number of further references that are not reported one by one. */
      readonly more: number;
    };
