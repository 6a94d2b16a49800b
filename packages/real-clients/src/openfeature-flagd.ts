// A program of OpenFeature in Node, with the provider of flagd that evaluates in its process. The argument is the port. For each key on standard input it prints the value and the reason.
import { createInterface } from "node:readline";
import { FlagdProvider } from "@openfeature/flagd-provider";
import { OpenFeature } from "@openfeature/server-sdk";

const provider = new FlagdProvider({
  resolverType: "in-process",
  host: "127.0.0.1",
  port: Number(process.argv[2]),
  deadlineMs: 20_000,
  retryBackoffMs: 100,
  retryBackoffMaxMs: 500,
});
await OpenFeature.setProviderAndWait(provider);
const client = OpenFeature.getClient();
console.log("ready");
for await (const key of createInterface({ input: process.stdin })) {
  const context = { targetingKey: "user-1", plan: "pro" };
  const { value, reason } = await client.getStringDetails(key, "default", context);
  console.log(JSON.stringify({ value, reason }));
}
