import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { isAddress, replaceLinks } from "./markdown-links.ts";

/** A Markdown file as the site needs it: its links lead to pages of the site, or to the repository. */
export interface SitePage {
  /** Path from the root of the checkout. */
  readonly path: string;
  /** The heading above it in the navigation; undefined for a page that the site names itself. */
  readonly group: string | undefined;
}

/** Returns the pages that are documents of the site. READMEs of packages are not among them: these are the pages of their modules. */
export function documentsOf(files: readonly string[]): readonly SitePage[] {
  return files.flatMap((path) => {
    const group = groupOf(path);
    return group === undefined ? [] : [{ path, group }];
  });
}

function groupOf(path: string): string | undefined {
  if (path === "README.md") return undefined;
  if (!path.includes("/")) return "Project";
  if (path.startsWith("docs/rules/")) return "Rules";
  if (path.startsWith("docs/reference/")) return "Reference";
  if (path.startsWith("docs/checks/")) return "Checks";
  if (path.startsWith("docs/decisions/")) return "Decisions";
  if (path.startsWith("docs/")) return "Guides";
  return path.startsWith("examples/") ? "Examples" : undefined;
}

/** Writes a page below `folder`, under its path, with its first heading as title. */
export function writePage(
  root: string,
  folder: string,
  page: SitePage,
  pages: ReadonlySet<string>,
  repository: string,
): void {
  const markdown = readFileSync(join(root, page.path), "utf8");
  const text = replaceLinks(markdown, (target) =>
    siteTarget(root, page.path, target, pages, repository),
  );
  const title = /^# +(.+)$/m.exec(markdown)?.[1]?.replaceAll("`", "") ?? page.path;
  const head =
    page.group === undefined
      ? ""
      : `---\ntitle: ${JSON.stringify(title)}\ngroup: ${page.group}\n---\n\n`;
  const file = join(folder, page.path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, head + text);
}

/** Returns where a link of the page `from` leads in the site: a page as it is, a folder to its README, anything else to the repository. */
export function siteTarget(
  root: string,
  from: string,
  target: string,
  pages: ReadonlySet<string>,
  repository: string,
): string {
  if (isAddress(target) || target.startsWith("#")) return target;
  const [path = "", anchor] = target.split("#", 2);
  const found = posix.normalize(posix.join(posix.dirname(from), path)).replace(/\/$/, "");
  const rest = anchor === undefined ? "" : `#${anchor}`;
  if (pages.has(found)) return target;
  const readme = posix.join(found, "README.md");
  if (pages.has(readme)) return posix.relative(posix.dirname(from), readme) + rest;
  const file = join(root, found);
  const kind = existsSync(file) && statSync(file).isDirectory() ? "tree" : "blob";
  return `${repository}/${kind}/main/${found}${rest}`;
}
