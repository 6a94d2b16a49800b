/** The `cause` of the FAILED_PRECONDITION that is thrown where another process uses the directory of a snapshot. That process may be ending: it can be worth another try. */
export class SnapshotInUse extends Error {
  /** Always `SnapshotInUse`. */
  override readonly name: string = "SnapshotInUse";
  /** The directory, as it was given. */
  readonly dir: string;
  /** Id of the other process; undefined: the lock could not be read. */
  readonly pid: number | undefined;

  constructor(dir: string, pid: number | undefined) {
    super(`the snapshot ${dir} is in use by process ${pid ?? "unknown"}`);
    this.dir = dir;
    this.pid = pid;
  }
}
