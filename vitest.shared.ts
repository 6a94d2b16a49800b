import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { defineConfig } from "vitest/config";

import { sizedTests } from "./tools/lib/sized-tests.ts";

/** Random tests run a hundredth of their full size, unless the variable says otherwise. From a tenth on, one of them may take minutes. */
const isLargeRun = Number(process.env.XDSTP_SCALE ?? "0.01") >= 0.1;

/** What a test may take, and what it may wait for: a machine that is busy with other things makes everything late, and nothing wrong. */
const limitMs = isLargeRun ? 1_200_000 : 120_000;

/** In a large run, and where every package is packed, only the tests run that then do more than before: all others would say the same again. */
const size = isLargeRun
  ? "XDSTP_SCALE"
  : process.env.XDSTP_PACK === "all"
    ? "XDSTP_PACK"
    : undefined;

const [tests, withMocks] = ["**/*.test.ts", "**/*.mocks.test.ts"] as const;

/** Resolve workspace packages from source, so that no build is needed before a test. Each run leaves a report, which `pnpm rules` reads. */
export default defineConfig({
  // Vitest keeps transformed modules per root: with one root, all packages share them. Each package runs the tests of its own folder.
  root: fileURLToPath(new URL(".", import.meta.url)),
  cacheDir: join(process.cwd(), "node_modules/.vite"),
  resolve: { conditions: ["@xdstp/source"] },
  ssr: { resolve: { conditions: ["@xdstp/source"] } },
  test: {
    restoreMocks: true,
    // The programs that tests start (`xdstp`, examples, `tsc`) spend half of their start on compiling the same sources. Node keeps the result by content.
    env: {
      NODE_COMPILE_CACHE: fileURLToPath(new URL("node_modules/.cache/node", import.meta.url)),
    },
    setupFiles: [fileURLToPath(new URL("tools/lib/random-seed.ts", import.meta.url))],
    // Loading modules anew for each file took half the time of all tests; only a file that replaces modules needs it.
    projects: [
      {
        extends: true,
        test: {
          name: "tests",
          dir: process.cwd(),
          include: size === undefined ? [tests] : [...sizedTests(process.cwd(), size)],
          exclude: [withMocks, "**/node_modules/**", "**/dist/**"],
          isolate: false,
        },
      },
      {
        extends: true,
        test: { name: "mocks", dir: process.cwd(), include: size === undefined ? [withMocks] : [] },
      },
    ],
    passWithNoTests: size !== undefined,
    testTimeout: limitMs,
    hookTimeout: limitMs,
    teardownTimeout: limitMs,
    expect: { poll: { timeout: limitMs / 2 } },
    reporters: ["dot", "json"],
    outputFile: { json: join(process.cwd(), "reports/vitest.json") },
  },
});
