import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

/** Returns a line for each link of a site that leads to a page or an anchor that does not exist. Addresses of other sites are not tried. */
export function deadLinks(site: string): readonly string[] {
  const pages = readdirSync(site, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".html"))
    .sort()
    .map((path) => join(site, path));
  const anchors = new Map(pages.map((path) => [path, idsIn(readFileSync(path, "utf8"))]));
  return pages.flatMap((page) =>
    [...new Set(linksIn(readFileSync(page, "utf8")))]
      .filter((link) => !leadsSomewhere(page, link, anchors))
      .map((link) => `${relative(site, page)}: ${link} leads nowhere`),
  );
}

function leadsSomewhere(
  page: string,
  link: string,
  anchors: ReadonlyMap<string, ReadonlySet<string>>,
): boolean {
  const [path = "", anchor = ""] = link.split("#", 2).map(decodeURIComponent);
  const target = path === "" ? page : join(dirname(page), path);
  const ids = anchors.get(target);
  if (ids === undefined) return existsSync(target) && !target.endsWith(".md");
  return anchor === "" || ids.has(anchor);
}

function linksIn(html: string): readonly string[] {
  return [...html.matchAll(/<a\b[^>]*?\shref="([^"]*)"/g)]
    .map(([, link = ""]) => link.replaceAll("&amp;", "&"))
    .filter((link) => !/^[a-z]+:/i.test(link));
}

function idsIn(html: string): ReadonlySet<string> {
  return new Set([...html.matchAll(/\sid="([^"]*)"/g)].map(([, id = ""]) => id));
}
