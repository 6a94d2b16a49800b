import { readFileSync } from "node:fs";
import { brotliCompressSync, gzipSync } from "node:zlib";
import fc from "fast-check";
import { rolldown } from "rolldown";
import { describe, expect, it } from "vitest";
import { anyText } from "../test/arbitraries.ts";
import { property } from "../test/scale.ts";
import * as uri from "./index.ts";

const root = new URL("..", import.meta.url);

async function bundle(): Promise<{ readonly code: string; readonly imports: readonly string[] }> {
  const build = await rolldown({
    input: new URL("src/index.ts", root).pathname,
    platform: "neutral",
  });
  try {
    const { output } = await build.generate({ format: "esm", minify: true });
    const [{ code, imports, dynamicImports }] = output;
    return { code, imports: [...imports, ...dynamicImports] };
  } finally {
    await build.close();
  }
}

describe("the package", () => {
  it("is at most 6 KiB minified and compressed, by gzip as by brotli, and imports nothing", async () => {
    const { code, imports } = await bundle();
    expect(code).toContain("authority-marker");
    expect(imports).toEqual([]);
    expect(gzipSync(code, { level: 9 }).length).toBeLessThanOrEqual(6 * 1024);
    expect(brotliCompressSync(code).length).toBeLessThanOrEqual(6 * 1024);
  });

  it("has no dependencies, and makes a Node built-in a type error", () => {
    const manifest = JSON.parse(readFileSync(new URL("package.json", root), "utf8")) as {
      dependencies?: object;
    };
    const config = JSON.parse(readFileSync(new URL("tsconfig.build.json", root), "utf8")) as {
      compilerOptions: { types: readonly string[] };
    };
    expect(manifest.dependencies ?? {}).toEqual({});
    expect(config.compilerOptions.types).toEqual([]);
  });

  it("never throws, whatever the text", () => {
    const readers = [
      uri.parseName,
      uri.parseLocator,
      uri.nameKey,
      uri.isGlob,
      uri.globOf,
      uri.typeOf,
      uri.authorityOf,
      uri.typeFromTypeUrl,
      uri.memberTypeOf,
      uri.locatorFromMessage,
      uri.defaultListenerTemplate,
    ];
    fc.assert(
      fc.property(anyText, anyText, (text, other) => {
        for (const read of readers) read(text);
        uri.sameName(text, other);
        uri.globMatches(text, other);
        uri.expandTemplate(text, other);
        uri.isTemplateOf(text, other);
      }),
      property,
    );
  });
});
