import type { FolderProblem } from "./folder-problem.ts";

/** What happened to a folder feed; see {@link FolderFeedOptions.onEvent}. */
export type FolderEvent =
  /** The cache is exactly the folder now, but for what is broken. */
  | {
      /** The folder was read, and its state is served. */
      readonly kind: "loaded";
      /** Files that were read; hidden and temporary ones do not count. */
      readonly files: number;
      /** Resources that are served. */
      readonly resources: number;
      /** Of these, the resources in an older version than the folder has, because the newer one is broken or rejected. Also those that are kept because their file is broken. Only with `partial`. */
      readonly older: number;
      /** The revision of the cache. Unchanged where the batch changed nothing that is served. */
      readonly revision: number;
      /** Resources that this batch added or changed. */
      readonly put: number;
      /** Resources that this batch removed. */
      readonly removed: number;
      /** With `partial`: what is broken. Of these files, what was served before stays, unless a good resource has its name now. Otherwise empty. */
      readonly problems: readonly FolderProblem[];
      /** Problems without harm that may be mistakes, for instance a file with an extension that is not read. */
      readonly warnings: readonly FolderProblem[];
    }
  /** The batch is not applied: something in it is broken. */
  | {
      /** The folder was read and is broken; nothing of this reading is served. */
      readonly kind: "rejected";
      /** At least one; in the order of the file names. */
      readonly problems: readonly FolderProblem[];
      /** True: the state before is still served. False: nothing was ever loaded, and the cache is not ready (S-STREAM-9). */
      readonly serving: boolean;
    }
  /** The folder looks as if it were lost, so the state before is still served. */
  | {
      /** The last good state is kept, since what was read may be an accident. */
      readonly kind: "kept";
      /**
       * `emptied`: the folder, or a volume mounted in it, holds nothing any more, whatever the number of resources was.
       * `unmounted`: a volume is not mounted any more, and the directory that it was mounted over has resources of its own.
       */
      readonly reason: "root-vanished" | "unreadable" | "emptied" | "unmounted" | "mass-delete";
      /** The folder, or the volume in it that is empty or not mounted; as the folder was given. */
      readonly directory: string;
      /** One line that names the folder, what was seen and the way out. */
      readonly message: string;
      /** Resources that are served. */
      readonly held: number;
      /** The number of resources that the folder lacks now. */
      readonly lost: number;
    }
  /** The folder itself cannot be read, and nothing was ever loaded: the cache is not ready (S-STREAM-9). It is tried again every second. */
  | {
      /** The folder or a file of it cannot be read. */
      readonly kind: "unreadable";
      /** The file or directory that cannot be read, and why. */
      readonly problem: FolderProblem;
    }
  /** The system gave no notification for some directories, so the folder is read again every 2 seconds. */
  | {
      /** The folder cannot be watched, so it is read again every 2 s. */
      readonly kind: "polling";
      /** One line with the reason and the way out. */
      readonly message: string;
    }
  /**
   * A resource refers to an xdstp name of an authority that is not answered for here (S-AUTH-10). It is served all the same: clients may have another server for it.
   * Each is reported once while it lasts; of more than 20 at once the others are counted in the last one.
   */
  | {
      /** A resource refers to a name of an authority that the folder does not have. */
      readonly kind: "foreign-reference";
      /** The file that has the reference, and what is to be done. */
      readonly problem: FolderProblem;
      /** The type URL of the resource that is referred to. */
      readonly typeUrl: string;
      /** The name that is referred to. */
      readonly name: string;
      /** How many more there are that are not told one by one. */
      readonly more: number;
    };
