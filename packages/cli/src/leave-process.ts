/** What Node does in a thread of its own: it reads files, and asks the system for the address of a name. */
const threadWork: readonly string[] = ["FSReqPromise", "GetAddrInfoReqWrap"];

/** Whether a file system or DNS has been asked and has not answered yet. */
export function isThreadBusy(): boolean {
  return process.getActiveResourcesInfo().some((resource) => threadWork.includes(resource));
}

/**
 * Ends this process with its exit code, also while a thread waits for a file system or DNS that hangs.
 * `process.exit()` waits for such a thread, up to 30 s for DNS and without end for a file system. A process that is replaced by another program does not, so an empty one takes its place.
 */
export function leaveProcess(): void {
  if (isThreadBusy())
    process.execve?.(
      process.execPath,
      [process.execPath, "--eval", `process.exitCode = ${Number(process.exitCode ?? 0)}`],
      {},
    );
  // Where the system or the version of Node cannot do that, only a signal is left.
  if (isThreadBusy()) process.kill(process.pid, "SIGKILL");
  process.exit();
}
