/** Ends of names that editors and programs give to files which are not complete. */
const unfinished = ["~", ".tmp", ".swp", ".part", ".bak"];

/** Returns true for a file of a directory that is a member of its glob: neither hidden nor temporary (C-NFILE-5). */
export function isMember(file: string): boolean {
  return !/^[.#]/.test(file) && !unfinished.some((end) => file.toLowerCase().endsWith(end));
}
