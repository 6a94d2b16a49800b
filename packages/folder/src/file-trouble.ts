import { reasonOf } from "./fault.ts";
import type { FolderProblem } from "./folder-problem.ts";

/** What keeps a file or folder from being read, with the way out where it is known. */
export function fileTrouble(error: unknown): Pick<FolderProblem, "message" | "hint"> {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const [message, hint] = troubles[code] ?? [];
  return message === undefined
    ? { message: reasonOf(error) }
    : { message: `${message} (${code})`, ...(hint !== undefined && { hint }) };
}

/** Whether it is for want of permission. */
export function isForbidden(error: unknown): boolean {
  return (
    error instanceof Error && "code" in error && (error.code === "EACCES" || error.code === "EPERM")
  );
}

const noRight = ["may not be read by this user", "give it the right to"] as const;
const tooMany = [
  "cannot be read, because too many files are open",
  "raise the limit of open files: ulimit -n",
] as const;

const troubles: Readonly<Record<string, readonly [message: string, hint: string]>> = {
  EACCES: noRight,
  EPERM: noRight,
  ELOOP: ["is a symbolic link that leads back to itself", "fix or remove the link"],
  EAGAIN: [
    "never ends, so it is not a file of configuration",
    "remove it, or begin its name with a dot",
  ],
  EMFILE: tooMany,
  ENFILE: tooMany,
};
