import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { spawnSync } from "node:child_process";

/** Fenced code, code in a line, the target of a link, the target of a reference. Code is matched first, so that nothing in it counts as a link. */
const parts =
  /^ *(?<fence>`{3,})[^\n]*\n[\s\S]*?^ *\k<fence>`*[ \t]*$|(?<tick>`+)(?!`)(?:(?!\n\n)[\s\S])*?(?<!`)\k<tick>(?!`)|(?<=\]\()(?<link>[^()\s]+)(?=\))|(?<=^\[[^\]\n]+\]: +)(?<reference>\S+)/gm;
const fenced = /^ *(?<fence>`{3,})[^\n]*\n[\s\S]*?^ *\k<fence>`*[ \t]*$/gm;

/** Returns the text with each target of a link replaced; code stays as it is. */
export function replaceLinks(markdown: string, replace: (target: string) => string): string {
  return markdown.replace(parts, (found: string, ...rest: readonly unknown[]) => {
    const groups = rest.at(-1) as { readonly link?: string; readonly reference?: string };
    const target = groups.link ?? groups.reference;
    return target === undefined ? found : replace(target);
  });
}

/** Returns the anchors of a text: one for each heading, written as GitHub writes it, and those of `<a id>`. */
export function anchorsOf(markdown: string): ReadonlySet<string> {
  const text = markdown.replace(fenced, "");
  const anchors = new Set([...text.matchAll(/<a (?:id|name)="([^"]+)"/g)].map(([, id = ""]) => id));
  for (const [, heading = ""] of text.matchAll(/^#{1,6}[ \t]+(.+?)[ \t]*#*$/gm)) {
    const slug = slugOf(heading);
    let anchor = slug;
    for (let count = 1; anchors.has(anchor); count += 1) anchor = `${slug}-${count}`;
    anchors.add(anchor);
  }
  return anchors;
}

/** Returns a line for each link within a checkout that leads to a file, a folder or a heading that does not exist. Addresses of other sites are not tried. */
export function deadMarkdownLinks(root: string, files: readonly string[]): readonly string[] {
  return files.flatMap((path) => {
    const dead = new Set<string>();
    const markdown = readFileSync(join(root, path), "utf8");
    replaceLinks(markdown, (target) => {
      if (!isAddress(target) && !leadsSomewhere(join(root, path), target)) dead.add(target);
      return target;
    });
    return [...dead].map((target) => `${path}: ${target} leads nowhere`);
  });
}

/** True for a target with a scheme, such as `https://host.example/` and `mailto:`. */
export function isAddress(target: string): boolean {
  return /^[a-z][a-z+.-]*:/i.test(target);
}

function leadsSomewhere(file: string, target: string): boolean {
  const [path = "", anchor = ""] = target.split("#", 2).map(decodeURIComponent);
  const found = path === "" ? file : join(dirname(file), path);
  if (!existsSync(found)) return false;
  const page = statSync(found).isDirectory() ? join(found, "README.md") : found;
  if (anchor === "" || !page.endsWith(".md")) return true;
  return existsSync(page) && anchorsOf(readFileSync(page, "utf8")).has(anchor);
}

function slugOf(heading: string): string {
  return heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}\s_-]/gu, "")
    .replace(/\s/g, "-");
}

/** Returns the Markdown files of a checkout, as paths from its root, without changesets and ignored files. */
export function markdownFiles(root: string): readonly string[] {
  const args = ["ls-files", "--cached", "--others", "--exclude-standard", "*.md"];
  const { stdout, status, stderr } = spawnSync("git", args, { cwd: root, encoding: "utf8" });
  if (status !== 0) throw new Error(`git ${args.join(" ")} failed: ${stderr}`);
  return stdout
    .split("\n")
    .filter((path) => path !== "" && !path.startsWith(".changeset/"))
    .filter((path) => !path.endsWith(".api.md") && existsSync(join(root, path)))
    .sort();
}
