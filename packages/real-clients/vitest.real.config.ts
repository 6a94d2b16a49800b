import { defineConfig } from "vitest/config";
import { createSuiteReporter } from "./src/suite-reporter.ts";

/** The suites with real programs: one file after the other, and what each did in `reports/suites`. */
export default defineConfig({
  resolve: { conditions: ["@xdstp/source"] },
  ssr: { resolve: { conditions: ["@xdstp/source"] } },
  test: {
    include: ["suites/**/*.real.ts"],
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 60_000,
    // A failed call is told in full, not as `Array(1)`.
    chaiConfig: { truncateThreshold: 0 },
    reporters: ["verbose", "json", createSuiteReporter("reports/suites")],
    outputFile: { json: "reports/real.json" },
  },
});
