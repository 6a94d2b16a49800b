const names = new Set(["4913", "lost+found"]);
const endings = ["~", ".tmp", ".temp", ".swp", ".swo", ".swx", ".bak", ".orig", ".part"];

/**
 * Whether a file or folder of this name is never read: hidden ones (also `..data` of Kubernetes, `.#x` of Emacs), and what editors leave for a moment:
 * `x~`, `#x#`, `x.swp`, `x.swo`, `x.swx`, `x.tmp`, `x.temp`, `x.bak`, `x.orig`, `x.part`, `___jb_tmp___`, `___jb_old___`, `4913`; and `lost+found`.
 */
export function isIgnored(name: string): boolean {
  if (name.startsWith(".") || names.has(name)) return true;
  if (name.startsWith("#") && name.endsWith("#")) return true;
  return endings.some((ending) => name.endsWith(ending)) || /___jb_(tmp|old)___$/.test(name);
}
